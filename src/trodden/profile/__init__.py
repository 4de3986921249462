"""The result of a run: its data model, the ``.trod`` file, and what can be asked of it."""
