"""How many blocks one count stands for.

The blocks that a procedure ran are a sum over its edges, and each edge follows from the counters by the flow
law (BL94 §3.2).  So their number is a sum over the counters, each times a weight that depends on the plan
alone.  The weights come from *potentials*: numbers for the vertices that make every edge without a counter
weigh nothing, for what the law says of a vertex may be added as often as one likes.
"""

from __future__ import annotations

from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.graph.spanning import live_edges
from trodden.plan.probes import EdgeMeasure, Plan, SecondOpinion
from trodden.recover.forest import depth_first_forest


@dataclass(frozen=True)
class Weights:
    """``slots[s]`` is how many blocks a count in a slot stands for, ``ends[v]`` an early end in ``v``."""

    slots: list[int]
    ends: list[int]


def block_weights(graph: Graph, plan: Plan) -> Weights | None:
    """The weights of a plan; ``None`` for plans that do not count the edges."""
    told = [each for each in plan.measures if isinstance(each, EdgeMeasure)]
    if plan.paths is not None or len(told) + _opinions(plan) != len(plan.measures):
        return None
    known = {measure.edge for measure in told}
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
    return Weights(slots, [each - last for each in potential])


def _opinions(plan: Plan) -> int:
    return sum(isinstance(measure, SecondOpinion) for measure in plan.measures)
