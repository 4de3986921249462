"""Edge profiles from edge counters: Eprof(Ecnt) of BL94 §3.2."""

from __future__ import annotations

from collections.abc import Sequence

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.spanning import live_edges, maximum_spanning_tree
from trodden.plan.probes import AddTripCount, Count, CountableLoop, EdgeMeasure, Plan, Probe, RedundantMeasure


def every_edge(graph: Graph) -> Plan:
    """A counter on each edge that can be taken: what all other placements have to agree with."""
    counted = [index for index in live_edges(graph) if graph.edges[index].kind is EdgeKind.FLOW]
    return count_edges("every-edge", counted)


def eprof(graph: Graph, costs: Sequence[float], countable_loops: Sequence[CountableLoop] = ()) -> Plan:
    """The cheapest set of edge counters from which every edge count follows.

    ``costs[e]`` is what a counter on ``e`` costs: its expected frequency times the cost of carrying it;
    infinite for an edge that should not carry one.  The counters are placed on the chords of a maximum
    spanning tree that is seeded with EXIT -> root, |E| - (|V| - 1) of them (endless edges, which are never
    taken, and unreachable ones not counted).  For a loop in ``countable_loops`` the front end can compute the
    count of the back edge at the loop's exits, at the cost it names (BL94 §6.3); such a loop must not be left
    early, since its trip count would be lost.
    """
    known = {loop.back_edge: loop for loop in countable_loops if loop.exits}
    asked = list(costs)
    for loop in known.values():
        asked[loop.back_edge] = loop.cost
    chords = chords_of(graph, asked)
    probes: dict[int, list[Probe]] = {}
    for slot, edge in enumerate(chords):
        if edge in known:
            for leaving in known[edge].exits:
                probes.setdefault(leaving, []).append(AddTripCount(slot, edge))
        else:
            probes.setdefault(edge, []).append(Count(slot))
    measures = tuple(EdgeMeasure(edge) for edge in chords)
    return Plan("eprof", measures, {edge: tuple(probes[edge]) for edge in sorted(probes)})


def checked(graph: Graph, costs: Sequence[float], countable_loops: Sequence[CountableLoop] = ()) -> Plan:
    """The plan of :func:`eprof` and a counter on every edge, both counted in the same run."""
    lean = eprof(graph, costs, countable_loops)
    probes: dict[int, list[Probe]] = {edge: list(found) for edge, found in lean.on_edges.items()}
    measures = list(lean.measures)
    for edge in live_edges(graph):
        if graph.edges[edge].kind is EdgeKind.FLOW:
            probes.setdefault(edge, []).append(Count(len(measures)))
            measures.append(RedundantMeasure(edge))
    return Plan("checked", tuple(measures), {edge: tuple(probes[edge]) for edge in sorted(probes)})


def chords_of(graph: Graph, costs: Sequence[float]) -> list[int]:
    """The live edges outside the maximum spanning tree, by index."""
    tree = maximum_spanning_tree(graph, costs, [graph.closing])
    return [index for index in live_edges(graph) if index not in tree]


def count_edges(scheme: str, edges: Sequence[int], free: frozenset[int] = frozenset()) -> Plan:
    """A plan with one counter on each of ``edges``."""
    return Plan(
        scheme,
        tuple(EdgeMeasure(edge) for edge in edges),
        {edge: (Count(slot),) for slot, edge in enumerate(edges)},
        free=free,
    )
