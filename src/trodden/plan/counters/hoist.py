"""Moving probes up where no jump is needed for them (BL94 §6.3, Figure 19).

A probe on an edge into a block with several incoming edges has to be jumped around by the others.  Where
the edge comes from a block with one way in and one way out, the probe can as well stand on the way in.
"""

from __future__ import annotations

from collections.abc import Container

from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.probes import AddTrips, Plan, Probe


def hoist(graph: Graph, plan: Plan, pinned: Container[int] = frozenset()) -> Plan:
    """Move each ``Count`` on the only way out of a block to the only way into it, and on through chains.

    The counters keep their meaning as long as whatever enters such a block leaves it again.  Blocks
    where that is not certain, for instance because they call something that may not return, are
    ``pinned``: no probe is moved across them.  ``AddTrips`` stays where it is; it belongs to leaving a loop.
    """
    goal: dict[int, int] = {}
    moved: dict[int, list[Probe]] = {}
    for start, probes in plan.on_edges.items():
        top = _top(graph, start, pinned, goal)
        for probe in probes:
            moved.setdefault(start if isinstance(probe, AddTrips) else top, []).append(probe)
    on_edges = {edge: tuple(moved[edge]) for edge in sorted(moved)}
    return Plan(plan.scheme, plan.measures, on_edges, plan.on_blocks, plan.free)


def _top(graph: Graph, start: int, pinned: Container[int], goal: dict[int, int]) -> int:
    """The highest edge that is taken exactly as often as ``start``; remembered for all edges on the way."""
    chain = [start]
    while chain[-1] not in goal:
        higher = _step(graph, chain[-1], pinned)
        if higher is None or higher == start:
            break
        chain.append(higher)
    top = goal.get(chain[-1], chain[-1])
    for edge in chain:
        goal[edge] = top
    return top


def _step(graph: Graph, edge: int, pinned: Container[int]) -> int | None:
    """The only way into the source of an edge, if the edge is the only way out of it."""
    block = graph.edges[edge].src
    ways_in = graph.in_edges[block]
    ways_out = [index for index in graph.out_edges[block] if graph.edges[index].kind is EdgeKind.FLOW]
    if block in pinned or len(ways_in) != 1 or len(ways_out) != 1:
        return None
    return ways_in[0] if graph.edges[ways_in[0]].kind is EdgeKind.FLOW else None
