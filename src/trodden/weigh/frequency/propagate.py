"""From branch probabilities to frequencies on any graph, irreducible ones included (WL94 §4).

The paper solves the flow equations by elimination along the loops of a reducible graph.  Here vertices are
eliminated one by one: the predecessors of a vertex are connected to its successors, and its self loop (the
paper's cyclic probability) is recorded as a number of repetitions.  Then they are restored in reverse order,
and the flow of each edge that represented several is distributed among these.  So what enters a vertex
leaves it self_loop whatever the repetitions are, and these may be bounded without breaking the flow law.

There are no subtractions, so no precision is lost where a loop is hardly ever left (the elimination of
Grassmann, Taksar and Heyman).  The vertex with the fewest pairs of predecessor and successor is eliminated
first, which keeps the graphs of programs sparse; ``stages`` imposes an order, for instance that the header of
a loop is its last vertex.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

HIGHEST_WEIGHT = 1e280
"""Far above any real frequency, far enough below the largest float that sums and products stay finite."""

LEAST_SHARE = 1e-300
"""No edge gets less than this: one that vanished could be the only one that leads to EXIT."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A vertex that was eliminated.

    ``rounds`` is how often its self loop is taken each time it is entered.  ``before`` has for each
    predecessor and each successor the share of the edge between these two without it, as a multiple of the
    share through it.
    """

    vertex: int
    rounds: float
    targets: list[int]
    before: list[tuple[int, list[float]]]


def propagate(
    vertices: int,
    ends: Sequence[tuple[int, int]],
    probabilities: Sequence[float],
    root: int,
    amount: float = 1.0,
    stages: Iterable[Sequence[int]] | None = None,
    max_iterations: float = math.inf,
) -> list[float]:
    """How often each edge is taken if ``root`` is executed ``amount`` times.

    ``ends[e]`` are source and target of edge ``e``, ``probabilities[e]`` its share in what leaves its source.
    The graph is closed: an edge leads from its exit back to its root.  ``stages`` are all vertices but the
    root in the groups in which they are to be eliminated.  When a vertex is eliminated, its self loop is
    taken at most ``max_iterations`` times each time it is entered: its other edges are raised in proportion.
    :class:`ValueError` if the root cannot be reached from some reachable vertex.
    """
    out: list[dict[int, float]] = [{} for _ in range(vertices)]
    into: list[set[int]] = [set() for _ in range(vertices)]
    for (src, dst), share in zip(ends, probabilities, strict=True):
        if share > 0:
            out[src][dst] = out[src].get(dst, 0.0) + share
            into[dst].add(src)
    parallel = [out[src].get(dst, 1.0) for src, dst in ends]
    if stages is None:
        stages = [[vertex for vertex in range(vertices) if vertex != root]]
    steps = [
        _eliminate(vertex, out, into, max_iterations)
        for stage in stages
        for vertex in _fewest(stage, out, into)
    ]
    flow: list[dict[int, float]] = [{} for _ in range(vertices)]
    flow[root] = {root: amount}
    for step in reversed(steps):
        _restore(step, flow)
    return [
        flow[src].get(dst, 0.0) * (share / whole) if share > 0 else 0.0
        for (src, dst), share, whole in zip(ends, probabilities, parallel, strict=True)
    ]


def _fewest(stage: Sequence[int], out: Sequence[dict[int, float]], into: Sequence[set[int]]) -> Iterator[int]:
    """The connected vertices of a stage, those with the fewest predecessor-successor pairs first."""
    queue = [
        (len(out[vertex]) * len(into[vertex]), vertex) for vertex in stage if out[vertex] or into[vertex]
    ]
    heapify(queue)
    while queue:
        price, vertex = heappop(queue)
        now = len(out[vertex]) * len(into[vertex])
        if now > price:
            heappush(queue, (now, vertex))
        else:
            yield vertex


def _eliminate(
    vertex: int, out: list[dict[int, float]], into: list[set[int]], max_iterations: float
) -> _Step:
    """Connect the predecessors of a vertex to its successors."""
    onward, sources = out[vertex], into[vertex]
    self_loop = onward.pop(vertex, 0.0)
    sources.discard(vertex)
    leaving = sum(onward.values())
    if not leaving and sources:
        raise ValueError("EXIT cannot be reached")
    rounds = min(self_loop / leaving, max_iterations - 1) if leaving else 0.0
    for target in onward:
        into[target].discard(vertex)
    before = []
    for src in sources:
        leaving_edges = out[src]
        share = leaving_edges.pop(vertex) / leaving
        without = []
        for target, part in onward.items():
            through = max(share * part, LEAST_SHARE)
            known = leaving_edges.get(target)
            if known is None:
                leaving_edges[target] = through
                into[target].add(src)
                without.append(0.0)
            else:
                leaving_edges[target] = known + through
                without.append(known / through)
        before.append((src, without))
    return _Step(vertex, rounds, list(onward), before)


def _restore(step: _Step, flow: list[dict[int, float]]) -> None:
    """Distribute the flow of each bypassing edge between the direct edge and the vertex."""
    vertex, targets = step.vertex, step.targets
    passing = [0.0] * len(targets)
    for src, without in step.before:
        leaving_edges = flow[src]
        coming = 0.0
        for position, multiple in enumerate(without):
            target = targets[position]
            if multiple:
                both = leaving_edges[target]
                through = both / (1 + multiple)
                leaving_edges[target] = both * (multiple / (1 + multiple))
            else:
                through = leaving_edges.pop(target)
            passing[position] += through
            coming += through
        leaving_edges[vertex] = coming
    flow[vertex] = dict(zip(targets, passing, strict=True))
    if step.rounds:
        flow[vertex][vertex] = min(sum(passing) * step.rounds, HIGHEST_WEIGHT)
