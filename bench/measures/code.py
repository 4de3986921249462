"""The code that computes a figure is part of what it follows from."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.measures.model import hashed


def code_of(*modules: str) -> str:
    """A hash of some modules of the bench, by their names."""
    return hashed(*(Path(sys.modules[name].__file__ or "").read_text() for name in modules))
