"""The version of trodden, in the one module that everything may import."""

SCHEMA = 1
"""The version of the JSON documents: a key that exists keeps its meaning as long as this stays the same."""
__version__ = "0.1.0"
