"""Pages of the app that show judges and results."""
