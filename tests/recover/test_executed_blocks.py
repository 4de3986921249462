"""The number of blocks that ran is a weighted sum of the counters."""

from __future__ import annotations

from hypothesis import given, settings

from tests.graphs import costs_for, graphs, seeds, walks_for
from trodden.graph.cfg import Graph
from trodden.plan.counters.schemes import checked, eprof, every_block, every_edge
from trodden.plan.interpret import interpret, tally
from trodden.plan.paths.plan import path_plan
from trodden.recover.executed_blocks import block_coefficients


@given(graphs(), seeds())
@settings(max_examples=300, deadline=None)
def test_weights_tell_how_many_blocks_ran(graph: Graph, seed: int) -> None:
    walks = walks_for(graph, seed)
    truth = tally(graph, walks)
    costs = costs_for(graph, seed)
    for plan in (eprof(graph, costs), every_edge(graph), checked(graph, costs)):
        weights = block_coefficients(graph, plan)
        assert weights is not None
        counters = interpret(graph, plan, walks)
        total = sum(count * weight for count, weight in zip(counters, weights.slots, strict=True))
        total += sum(times * weights.ends[block] for block, times in truth.early.items())
        assert total == sum(truth.blocks[: graph.exit])


@given(graphs(), seeds())
@settings(max_examples=20, deadline=None)
def test_plans_of_blocks_and_paths_have_none(graph: Graph, seed: int) -> None:
    assert block_coefficients(graph, every_block(graph)) is None
    assert block_coefficients(graph, path_plan(graph, costs_for(graph, seed))) is None
