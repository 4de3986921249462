"""The result of a run: one data model, one file, and the formats other tools read."""
