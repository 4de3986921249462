"""How many executed blocks one count stands for.

The number of blocks that a procedure executed is a sum over its edges, and each edge follows from the
counters by the flow law (BL94 §3.2).  So it is a sum over the counters, each times a weight that depends on
the plan only.  The weights follow from *potentials*: numbers for the vertices with which every edge without a
counter has weight zero, since any multiple of the equation of a vertex may be added.
"""

from __future__ import annotations

from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.graph.spanning import live_edges
from trodden.plan.probes import EdgeMeasure, Plan, RedundantMeasure
from trodden.recover.forest import depth_first_forest


@dataclass(frozen=True)
class BlockCoefficients:
    """The number of blocks that a count in a slot stands for, and an early end in a vertex (``ends``)."""

    slots: list[int]
    ends: list[int]


def block_coefficients(graph: Graph, plan: Plan) -> BlockCoefficients | None:
    """The weights of a plan; ``None`` for plans that do not count the edges."""
    counted = [each for each in plan.measures if isinstance(each, EdgeMeasure)]
    if plan.paths is not None or len(counted) + _redundant_measures(plan) != len(plan.measures):
        return None
    known = {measure.edge for measure in counted}
    unknown = [index for index in live_edges(graph) if index not in known]
    ends = [(graph.edges[index].src, graph.edges[index].dst) for index in unknown]
    incident: list[list[int]] = [[] for _ in graph.labels]
    for number, (tail, head) in enumerate(ends):
        incident[tail].append(number)
        incident[head].append(number)
    order, above, spare = depth_first_forest(ends, incident, len(graph.labels))
    if spare:
        return None
    potential = [0] * len(graph.labels)
    for node in order:
        if above[node] < 0:
            continue
        tail, head = ends[above[node]]
        step = int(head != graph.exit)
        potential[node] = potential[tail] + step if node == head else potential[head] - step
    last = potential[graph.exit]
    slots = [0] * len(plan.measures)
    for slot, measure in enumerate(plan.measures):
        if isinstance(measure, EdgeMeasure):
            src, dst, _ = graph.edges[measure.edge]
            slots[slot] = int(dst != graph.exit) + potential[src] - potential[dst]
    return BlockCoefficients(slots, [each - last for each in potential])


def _redundant_measures(plan: Plan) -> int:
    return sum(isinstance(measure, RedundantMeasure) for measure in plan.measures)
