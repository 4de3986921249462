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


def nesting_intervals(parent: Sequence[int]) -> tuple[list[int], list[int]]:
    """Number loops so that those inside a loop, and itself, have the numbers ``first[loop] .. last[loop]``.

    A loop comes after its parent.
    """
    first = [0] * len(parent)
    size = [1] * len(parent)
    for loop in range(len(parent) - 1, -1, -1):
        if parent[loop] >= 0:
            size[parent[loop]] += size[loop]
    outermost = 0
    free = [0] * len(parent)
    for loop, around in enumerate(parent):
        first[loop] = outermost if around < 0 else free[around]
        if around < 0:
            outermost += size[loop]
        else:
            free[around] += size[loop]
        free[loop] = first[loop] + 1
    return first, [start + count - 1 for start, count in zip(first, size, strict=True)]
