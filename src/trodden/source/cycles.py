"""How many iterations of cycles some flow amounts to."""

from __future__ import annotations

from collections.abc import Sequence, Set

from trodden.profile.model import Count

Flow = dict[tuple[int, int, int], Count]
"""The flow on edges: source, target and a number by which parallel ones differ."""


def subtract_cycles(flow: Flow, inside: Set[int]) -> Count:
    """How many iterations of cycles among some vertices there are; they are subtracted from the flow.

    Cycles are subtracted until none is left.

    A walk follows from each vertex the last of its edges that still have flow.  Where it meets itself it has
    closed a cycle, whose smallest flow is subtracted from all its edges; where it cannot continue, no cycle
    leads through that vertex and the edge to it is dropped.
    """
    remaining: dict[int, list[tuple[int, int, int]]] = {}
    for edge in sorted(flow, reverse=True):
        if flow[edge] and edge[0] in inside and edge[1] in inside:
            remaining.setdefault(edge[0], []).append(edge)
    iterations: Count = 0
    for start in sorted(remaining):
        walk: list[tuple[int, int, int]] = []
        position = {start: 0}
        here = start
        while walk or remaining[start]:
            if not remaining.get(here):
                del position[here]
                remaining[walk.pop()[0]].pop()
            else:
                latest = remaining[here][-1]
                here = latest[1]
                walk.append(latest)
                if here not in position:
                    position[here] = len(walk)
                    continue
                begin = position[here]
                iterations += _subtract_least(flow, walk[begin:])
                keep = next(i for i in range(begin, len(walk)) if not flow[walk[i]])
                for edge in walk[keep:]:
                    if not flow[edge]:
                        remaining[edge[0]].pop()
                    if edge != latest:
                        del position[edge[1]]
                del walk[keep:]
            here = walk[-1][1] if walk else start
    return iterations


def _subtract_least(flow: Flow, cycle: Sequence[tuple[int, int, int]]) -> Count:
    least = min(flow[edge] for edge in cycle)
    for edge in cycle:
        flow[edge] -= least
    return least
