"""From branch probabilities to frequencies on any graph, irreducible ones included (WL94 §4).

The paper solves the flow equations by elimination along the loops of a reducible graph.  Here vertices are
taken out one by one: what comes to a vertex goes on to its successors at once, and what would come back to it
(the paper's cyclic probability) is noted as rounds that it makes.  Then they are put back in reverse order,
and what runs along each way that stood for several is shared out among these.  So what comes to a vertex
leaves it again whatever the rounds are, and rounds may be bounded without breaking the flow law.

No difference is ever taken, so nothing is lost where a loop is hardly ever left (the elimination of
Grassmann, Taksar and Heyman).  The vertex with the fewest ways through it goes first, which keeps graphs of
programs as sparse as they are; whoever wants the entry of a loop to be the last of it says so by ``stages``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

HIGHEST_WEIGHT = 1e280
"""Far above any real frequency, far enough below the largest float that sums and products stay finite."""

LEAST_SHARE = 1e-300
"""No way is given less than this: one that vanished could be the only one that leads on."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A vertex that was taken out.

    ``rounds`` is how often it comes back to itself for each time it is come to.  For each vertex before it
    and each target behind it stands how much the way between these two was worth without it, as a multiple
    of what it was worth by way of it.
    """

    vertex: int
    rounds: float
    targets: list[int]
    before: list[tuple[int, list[float]]]


def propagate(
    vertices: int,
    ends: Sequence[tuple[int, int]],
    odds: Sequence[float],
    root: int,
    amount: float = 1.0,
    stages: Iterable[Sequence[int]] | None = None,
    most_turns: float = math.inf,
) -> list[float]:
    """How often each edge is taken if ``root`` is passed ``amount`` times.

    ``ends[e]`` is where edge ``e`` comes from and leads to, ``odds[e]`` the share of it in what leaves its
    source.  The graph is closed: an edge leads from its exit back to its root.  ``stages`` are all vertices
    but the root in the groups in which they are to be taken out.  A vertex that comes back to itself before
    it comes to one not taken out yet does so at most ``most_turns`` times: its other ways are then raised, in
    proportion.  :class:`ValueError` if something can be reached from which there is no way on to the root.
    """
    out: list[dict[int, float]] = [{} for _ in range(vertices)]
    into: list[set[int]] = [set() for _ in range(vertices)]
    for (src, dst), share in zip(ends, odds, strict=True):
        if share > 0:
            out[src][dst] = out[src].get(dst, 0.0) + share
            into[dst].add(src)
    parallel = [out[src].get(dst, 1.0) for src, dst in ends]
    if stages is None:
        stages = [[vertex for vertex in range(vertices) if vertex != root]]
    steps = [
        _take_out(vertex, out, into, most_turns) for stage in stages for vertex in _fewest(stage, out, into)
    ]
    flow: list[dict[int, float]] = [{} for _ in range(vertices)]
    flow[root] = {root: amount}
    for step in reversed(steps):
        _put_back(step, flow)
    return [
        flow[src].get(dst, 0.0) * (share / whole) if share > 0 else 0.0
        for (src, dst), share, whole in zip(ends, odds, parallel, strict=True)
    ]


def _fewest(stage: Sequence[int], out: Sequence[dict[int, float]], into: Sequence[set[int]]) -> Iterator[int]:
    """The vertices of a stage that are come to or led on from, always the one with the fewest ways next."""
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


def _take_out(vertex: int, out: list[dict[int, float]], into: list[set[int]], most_turns: float) -> _Step:
    """Lead every way to a vertex on to what it leads to."""
    onward, sources = out[vertex], into[vertex]
    again = onward.pop(vertex, 0.0)
    sources.discard(vertex)
    leaving = sum(onward.values())
    if not leaving and sources:
        raise ValueError("there is no way on")
    rounds = min(again / leaving, most_turns - 1) if leaving else 0.0
    for target in onward:
        into[target].discard(vertex)
    before = []
    for src in sources:
        ways = out[src]
        share = ways.pop(vertex) / leaving
        without = []
        for target, part in onward.items():
            by_way = max(share * part, LEAST_SHARE)
            known = ways.get(target)
            if known is None:
                ways[target] = by_way
                into[target].add(src)
                without.append(0.0)
            else:
                ways[target] = known + by_way
                without.append(known / by_way)
        before.append((src, without))
    return _Step(vertex, rounds, list(onward), before)


def _put_back(step: _Step, flow: list[dict[int, float]]) -> None:
    """Share out what runs past a vertex among the ways through it and the others."""
    vertex, targets = step.vertex, step.targets
    passing = [0.0] * len(targets)
    for src, without in step.before:
        ways = flow[src]
        coming = 0.0
        for place, multiple in enumerate(without):
            target = targets[place]
            if multiple:
                both = ways[target]
                by_way = both / (1 + multiple)
                ways[target] = both * (multiple / (1 + multiple))
            else:
                by_way = ways.pop(target)
            passing[place] += by_way
            coming += by_way
        ways[vertex] = coming
    flow[vertex] = dict(zip(targets, passing, strict=True))
    if step.rounds:
        flow[vertex][vertex] = min(sum(passing) * step.rounds, HIGHEST_WEIGHT)
