"""The code that computes a figure is part of what the figure depends on."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

from bench.support.hashing import hashed

_FOLLOWED = ("bench.figures.", "bench.oracles.")
"""The packages that compute something: what builds and runs programs has fingerprints of its own."""


@cache
def code_of(*modules: str) -> str:
    """A hash of some modules by name, and of the figures and oracles that they import."""
    found: dict[str, str] = {}
    pending = list(modules)
    while pending:
        name = pending.pop()
        if name not in found:
            found[name] = Path(sys.modules[name].__file__ or "").read_text()
            pending += [each for each in _imports(found[name]) if each.startswith(_FOLLOWED)]
    return hashed(*(found[name] for name in sorted(found)))


def _imports(text: str) -> list[str]:
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    return [node.module for node in nodes if node.module is not None]
