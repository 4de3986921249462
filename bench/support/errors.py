"""What a measurement says when it cannot go on."""

from __future__ import annotations


class BenchError(Exception):
    """One line that names what is missing or wrong, and what to do about it."""
