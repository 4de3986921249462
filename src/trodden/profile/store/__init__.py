"""The ``.trod`` file."""
