"""What witnesses cost beside the cheapest ones, on functions that are solved by hand."""

from __future__ import annotations

from bench.figures.witness_costs import MOST_EDGES, witness_costs
from tests.profile.making import function
from trodden.graph.cfg import Graph
from trodden.plan.probes import Plan
from trodden.plan.trace.witnesses import witness_plan
from trodden.weigh.frequency.nesting import nesting_weights

# BL94 Figure 16: a call in A.
FIGURE_16 = "P>A P>B A>J B>b1 B>b2 b1>J b2>J J>K J>exit K>exit"


def traced(graph: Graph) -> Plan:
    calls = {vertex: None for vertex, label in enumerate(graph.labels) if label == "A"}
    return witness_plan(graph, nesting_weights(graph), calls)


def test_the_heuristic_is_compared_with_the_optimum() -> None:
    figure = function("figure", FIGURE_16, planner=traced)
    straight = function("straight", "A>b b>exit", planner=traced)
    found = witness_costs([figure, straight, function("counted", "a>b b>exit")])
    assert (found["traced"], found["solved"], found["optimal"]) == (2, 2, 2)
    assert found["heuristic"] == found["optimum"] < found["tree first"]


def test_large_functions_are_left_out() -> None:
    shape = " ".join(f"h>c{case} c{case}>t" for case in range(MOST_EDGES // 2)) + " t>exit"
    found = witness_costs([function("large", shape, planner=traced)])
    assert (found["traced"], found["solved"], found["optimum"]) == (1, 0, 0)
