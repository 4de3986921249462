"""Programs for whoever works on trodden itself; nothing here is installed."""
