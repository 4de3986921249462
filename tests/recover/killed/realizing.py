"""Whether executions exist that leave given counters behind and take given edges: by trying all of them."""

from __future__ import annotations

from collections.abc import Sequence

from tests.recover.killed.executing import Execution
from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.probes import Plan

State = tuple[int, ...]
"""Counters, then edges."""


def _within(one: Sequence[int], other: Sequence[int]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def single_states(graph: Graph, plan: Plan, counters: Sequence[int], edges: Sequence[int]) -> set[State]:
    """What one execution, stopped between any two probes, can leave that is no more than the given numbers.

    There is no bound on its length but that, so that none is left out.
    """
    found: set[State] = set()
    work: list[tuple[int, ...]] = [()]
    for walk in work:
        probes, more, fits = 0, True, True
        while more and fits:
            process = Execution(graph, plan)
            more = process.run(walk, probes)
            counted = process.counters[: len(counters)]
            fits = _within(counted, counters)
            if fits and _within(process.edges, edges):
                found.add((*counted, *process.edges))
            probes += 1
        last = graph.edges[walk[-1]].dst if walk else graph.root
        for edge in graph.out_edges[last] if fits else ():
            if graph.edges[edge].kind is EdgeKind.FLOW and walk.count(edge) < edges[edge]:
                work.append((*walk, edge))
    return found


def can_have_happened(graph: Graph, plan: Plan, counters: Sequence[int], edges: Sequence[int]) -> bool:
    """Whether executions can leave exactly these counters and take exactly these edges.

    ``counters`` may be the first ones of the plan only; then the others do not matter.  The closing edge is
    taken once for each execution, which tells their number.
    """
    states = sorted(single_states(graph, plan, counters, edges))
    sums: set[State] = {(*counters, *edges)}
    for _ in range(edges[graph.closing]):
        sums = {
            tuple(a - b for a, b in zip(whole, part, strict=True))
            for whole in sums
            for part in states
            if _within(part, whole)
        }
    return any(not any(rest) for rest in sums)
