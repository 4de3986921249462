"""Loop paths: what a path does in a loop (TZG04 §2.1, §2.2).

The paper writes an interesting path as i!j, two sequences of blocks of a loop, whichever paths of BL96
contain them.  Whether a path came into the loop from outside, and whether it ends on the back edge or leaves
the loop from its last block, makes no difference.

A loop path starts at the header unless its path started behind it: then it is the rest of an iteration, and i
may be such a rest.  It ends where the path ends or leaves the loop, so that j may end on the back edge of an
inner loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trodden.plan.overlapping.region import Owner, Ways
from trodden.plan.routes import Route


class LoopPath(NamedTuple):
    """The block where a loop path starts and the edges that it takes in the loop."""

    start: int
    edges: tuple[int, ...]


def up_to_degree(
    ways: Ways, owner: Owner, edges: Sequence[int], behind_call: bool | None = None
) -> tuple[int, ...]:
    """The first edges of a path: those before its (k + 1)th predicate, or before it leaves or ends.

    With the degree -1 there are none.  If the path begins ``behind_call`` this says whether the call counts
    as a predicate; other calls end what is behind it, but not that one.
    """
    passed = 0
    for position, edge in enumerate(edges):
        block = ways.dag.graph.edges[edge].src
        begins = behind_call is not None and position == 0
        passed += behind_call if behind_call is not None and begins else ways.predicate(block)
        if owner.degree is not None and passed > owner.degree:
            return tuple(edges[:position])
        if edge not in ways.onward(block) or not (begins or owner.stays(edge)):
            return tuple(edges[:position])
    return tuple(edges)


def before_back_edge(owner: Owner, path: Route) -> LoopPath:
    """The loop path i of a path that ended on a back edge to the header of a loop."""
    start = path.blocks.index(owner.vertex) if owner.vertex in path.blocks else 0
    return LoopPath(path.blocks[start], path.edges[start:-1])


def behind_back_edge(ways: Ways, owner: Owner, path: Route) -> LoopPath:
    """The loop path j of a path that started at the header of a loop."""
    return LoopPath(owner.vertex, up_to_degree(ways, owner, path.edges))
