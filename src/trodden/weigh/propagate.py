"""From branch probabilities to frequencies on any graph, irreducible ones included (WL94 §4).

The paper solves the flow equations by elimination along the loops of a reducible graph.  Here vertices are
eliminated one by one, whatever the loops: what comes to a vertex goes on to its successors at once, and
what would come back to it is folded into that (the paper's cyclic probability).  No difference is ever
taken, so nothing is lost where a loop is hardly ever left (the elimination of Grassmann, Taksar and
Heyman).  The vertex with the fewest ways through it goes first, which keeps graphs of programs as sparse as
they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush


def propagate(
    vertices: int, ends: Sequence[tuple[int, int]], odds: Sequence[float], root: int, amount: float = 1.0
) -> list[float]:
    """How often each edge is taken if ``root`` is passed ``amount`` times.

    ``ends[e]`` is where edge ``e`` comes from and leads to, ``odds[e]`` the probability that its source is
    left along it; those of a source sum up to one.  The graph is closed: an edge leads from its exit back
    to its root.  :class:`ValueError` if something can be reached from which there is no way on to the root.
    """
    out: list[dict[int, float]] = [{} for _ in range(vertices)]
    into: list[set[int]] = [set() for _ in range(vertices)]
    for (src, dst), share in zip(ends, odds, strict=True):
        if share > 0:
            out[src][dst] = out[src].get(dst, 0.0) + share
            into[dst].add(src)
    steps = _eliminate(out, into, root)
    passed = [0.0] * vertices
    passed[root] = amount
    for vertex, leaving, arriving in reversed(steps):
        passed[vertex] = sum(passed[src] * share for src, share in arriving) / leaving
    return [passed[src] * share for (src, _), share in zip(ends, odds, strict=True)]


def _eliminate(
    out: list[dict[int, float]], into: list[set[int]], root: int
) -> list[tuple[int, float, list[tuple[int, float]]]]:
    """Take every vertex but the root out; each with the odds of moving on from it and of coming to it."""
    queue = [(len(out[v]) * len(into[v]), v) for v in range(len(out)) if v != root and into[v]]
    heapify(queue)
    steps = []
    while queue:
        price, vertex = heappop(queue)
        now = len(out[vertex]) * len(into[vertex])
        if now > price:
            heappush(queue, (now, vertex))
            continue
        out[vertex].pop(vertex, None)
        into[vertex].discard(vertex)
        leaving = sum(out[vertex].values())
        if not leaving:
            raise ValueError("there is no way on")
        arriving = [(src, out[src].pop(vertex)) for src in sorted(into[vertex])]
        for target in out[vertex]:
            into[target].discard(vertex)
        for src, share in arriving:
            onward = out[src]
            for target, part in out[vertex].items():
                onward[target] = onward.get(target, 0.0) + share * part / leaving
                into[target].add(src)
        steps.append((vertex, leaving, arriving))
    return steps
