"""Moving probes off edges that would have to be split (BL94 §6.3, Figure 19).

A probe on an edge into a block with several predecessors needs a block of its own.  Where the source of the
edge has one predecessor and one successor, the probe can as well be placed on the edge into the source.
"""

from __future__ import annotations

from collections.abc import Container

from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.probes import AddTripCount, Plan, Probe


def hoist(graph: Graph, plan: Plan, pinned: Container[int] = frozenset()) -> Plan:
    """Move each ``Count`` from the only out-edge of a block to its only in-edge, through chains of blocks.

    The counters keep their meaning as long as whatever enters such a block leaves it again.  Blocks
    where that is not certain, for instance because they contain a call that may not return, are
    ``pinned``: no probe is moved across them.  ``AddTripCount`` stays on the exit edge of its loop.
    """
    goal: dict[int, int] = {}
    moved: dict[int, list[Probe]] = {}
    for start, probes in plan.on_edges.items():
        top = _top(graph, start, pinned, goal)
        for probe in probes:
            moved.setdefault(start if isinstance(probe, AddTripCount) else top, []).append(probe)
    on_edges = {edge: tuple(moved[edge]) for edge in sorted(moved)}
    return Plan(plan.scheme, plan.measures, on_edges, plan.on_blocks, plan.free)


def _top(graph: Graph, start: int, pinned: Container[int], goal: dict[int, int]) -> int:
    """The highest edge of the chain that ends in ``start``; cached for all edges of the chain."""
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
    """The only in-edge of the source of an edge, if the edge is its only out-edge."""
    block = graph.edges[edge].src
    entering = graph.in_edges[block]
    leaving = [index for index in graph.out_edges[block] if graph.edges[index].kind is EdgeKind.FLOW]
    if block in pinned or len(entering) != 1 or len(leaving) != 1:
        return None
    return entering[0] if graph.edges[entering[0]].kind is EdgeKind.FLOW else None
