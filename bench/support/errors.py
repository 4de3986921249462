"""The error of everything that can go wrong in a measurement."""

from __future__ import annotations


class BenchError(Exception):
    """Names what is missing or wrong in its first line, and what to do about it."""
