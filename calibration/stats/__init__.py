"""Statistics on plain numbers and arrays; knows neither people nor judges."""
