"""Pages of the app for the people who label."""
