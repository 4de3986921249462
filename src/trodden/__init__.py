"""trodden: exactly which blocks, edges and paths a program has walked, and how often."""

__version__ = "0.1.0"
