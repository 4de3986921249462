"""A trace beside a counter on every edge, both made in the same run, so that each can check the other."""

from __future__ import annotations

from dataclasses import replace

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.spanning import live_edges
from trodden.plan.probes import Count, Measure, Plan, Probe, RedundantMeasure


def checked_trace(plan: Plan, graph: Graph) -> Plan:
    """The plan with a counter on each edge that can be taken."""
    probes: dict[int, tuple[Probe, ...]] = {edge: tuple(found) for edge, found in plan.on_edges.items()}
    measures: list[Measure] = list(plan.measures)
    for edge in live_edges(graph):
        if graph.edges[edge].kind is EdgeKind.FLOW:
            probes[edge] = (*probes.get(edge, ()), Count(len(measures)))
            measures.append(RedundantMeasure(edge))
    on_edges = {edge: probes[edge] for edge in sorted(probes)}
    return replace(plan, scheme=f"checked-{plan.scheme}", measures=tuple(measures), on_edges=on_edges)
