"""The trace in a profile: what it consists of, and reading it."""
