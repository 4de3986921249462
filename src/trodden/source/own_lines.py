"""The lines of a function itself, without code that was inlined into it."""

from __future__ import annotations

from collections.abc import Iterable

from trodden.profile.model import FunctionProfile
from trodden.program.facts import LineRef


def own_lines(function: FunctionProfile) -> frozenset[int]:
    """The lines of its file that hold code of it, and the one that it begins on; empty if none is known."""
    return _own(function, (ref for block in function.facts.blocks for ref in block.lines))


def own_span(function: FunctionProfile) -> range:
    """The lines from where a function begins to the last that is its own; empty if they are not known.

    A call that was inlined belongs to the function, the code that replaced it does not.
    """
    lines = own_lines(function) | _own(function, function.facts.inlined)
    return range(min(lines), max(lines) + 1) if lines else range(0)


def _own(function: FunctionProfile, refs: Iterable[LineRef]) -> frozenset[int]:
    own = (ref.line for ref in refs if not ref.instance and function.files[ref.file].path == function.file)
    return frozenset(line for line in (*own, function.line) if line > 0)
