"""The loops of a graph and how they nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Loop:
    """One natural loop.  ``parent`` is the index of the next larger loop or -1; ``depth`` starts at 1."""

    header: int
    back_edges: tuple[int, ...]
    exits: tuple[int, ...]
    parent: int
    depth: int


@dataclass(frozen=True)
class LoopForest:
    """All loops of a graph, in the order in which a depth-first search visits their headers.

    ``innermost[v]`` is the index of the innermost loop that contains ``v``, -1 if there is none, and
    ``of_header`` finds a loop by its header.  In a ``reducible`` graph a loop comes after its parent.
    """

    loops: tuple[Loop, ...]
    innermost: tuple[int, ...]
    reducible: bool
    of_header: Mapping[int, int]
    _inside: Sequence[Sequence[int]] = field(repr=False)
    _nested: Sequence[Sequence[int]] = field(repr=False)

    def members(self, loop: int) -> frozenset[int]:
        """The vertices of a loop, those of the loops inside it included."""
        found: list[int] = []
        work = [loop]
        while work:
            inner = work.pop()
            found += self._inside[inner]
            work += self._nested[inner]
        return frozenset(found)

    def depth(self, vertex: int) -> int:
        """The loop depth of a vertex."""
        inner = self.innermost[vertex]
        return self.loops[inner].depth if inner >= 0 else 0
