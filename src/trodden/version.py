"""The version of trodden, in the one module that everything may import."""

__version__ = "0.1.0"
