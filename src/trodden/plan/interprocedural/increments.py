"""Where to add to the sums of an activation (MR98 §5.5.1, after BL96 §3.3).

The paper hints that the additions to t1 and t2 can be moved to edges that are seldom taken, as those of BL96
can.  It is event counting again (:mod:`trodden.plan.paths.chords`), with pairs for numbers: the arcs of a
maximum spanning tree add nothing, and what each other arc adds follows from the potentials of its ends.

The number is needed, and the sums start again, at entries, exits, kept calls and the ends of paths.  There
constants are added anyway, so the arcs of these places cost nothing.  Behind a kept call the sums start with
what the potential asks for; so its CALL arc joins nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trodden.graph.unionfind import UnionFind
from trodden.plan.interprocedural.linear import ZERO, Linear
from trodden.plan.interprocedural.points import Arc, Kind, Points

_FREE = -1.0
_NO_PLACE = math.inf
"""There is no edge between two points of a block: a SUMMARY arc is in the tree whatever else is."""


@dataclass(frozen=True)
class Increments:
    """What each arc adds, and the ``potential`` of each node: ρ summed up to there, less the sums there."""

    arcs: list[Linear]
    potential: list[Linear]

    def behind(self, node: int) -> Linear:
        """What the sums are at a node where the number is known to be ``base``."""
        return ZERO.minus(self.potential[node])


def choose_increments(points: Points, rho: Sequence[Linear], weights: Sequence[float]) -> Increments:
    """Increments that are zero on the most frequent edges, given the weights of the procedure's edges."""
    joined = [number for number, arc in enumerate(points.arcs) if arc.kind is not Kind.CALL]
    cost = {number: _cost(points, points.arcs[number], weights) for number in joined}
    joined.sort(key=lambda number: -cost[number])
    trees = UnionFind(len(points.outs))
    ends = (points.entry, points.inside, points.exit, points.end)
    for node in ends[1:]:
        trees.union(points.entry, node)
    incident: list[list[int]] = [[] for _ in points.outs]
    for number in joined:
        src, dst, *_ = points.arcs[number]
        if trees.union(src, dst):
            incident[src].append(number)
            incident[dst].append(number)
    potential = _potentials(points, rho, incident, ends)
    return Increments(
        [
            ZERO if arc.kind is Kind.CALL else potential[arc.src].plus(rho[number]).minus(potential[arc.dst])
            for number, arc in enumerate(points.arcs)
        ],
        potential,
    )


def _cost(points: Points, arc: Arc, weights: Sequence[float]) -> float:
    if arc.kind is Kind.SUMMARY:
        return _NO_PLACE
    if arc.kind in (Kind.REAL, Kind.PAD) and arc.dst != points.exit:
        return weights[arc.of]
    return _FREE


def _potentials(
    points: Points, rho: Sequence[Linear], incident: Sequence[Sequence[int]], ends: Sequence[int]
) -> list[Linear]:
    """Sums along the trees; those that no entry is part of begin with 0 somewhere."""
    potential = [ZERO] * len(points.outs)
    visited = [False] * len(points.outs)
    for node in ends:
        visited[node] = True
    starts = [list(ends), *([node] for node in points.order)]
    for first in starts:
        work = [node for node in first if first[1:] or not visited[node]]
        for node in work:
            visited[node] = True
        while work:
            node = work.pop()
            for number in incident[node]:
                arc = points.arcs[number]
                other = arc.dst if arc.src == node else arc.src
                if not visited[other]:
                    visited[other] = True
                    step = rho[number]
                    potential[other] = potential[node].plus(step if arc.src == node else ZERO.minus(step))
                    work.append(other)
    return potential
