"""Every plan obeys the separator rule, and the checker sees where one does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.graphs import costs_for, graphs, labels, seeds
from tests.plan.trace.procedures import random_calls
from tests.plan.trace.programs import ENCODINGS
from trodden.graph.cfg import Graph, build
from trodden.plan.trace.paths import region_plan
from trodden.plan.trace.separators import uncounted_cycles, unseparated


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=80)
@given(graph=graphs(), seed=seeds())
def test_plans_are_separated(encoding: str, graph: Graph, seed: int) -> None:
    plan = ENCODINGS[encoding](graph, costs_for(graph, seed), random_calls(graph, seed))
    assert unseparated(graph, plan) == []
    if encoding != "targets":  # which assumes, like the paper, that EXIT can be reached from everywhere
        assert uncounted_cycles(graph, plan) == []


def test_what_is_missing_is_found() -> None:
    graph = build("chain", labels(3), [(0, 1), (1, 2), (2, 1), (2, 3)])
    plan = region_plan(graph, [1.0] * 5, {0: None, 1: None})
    bare = replace(plan, on_blocks={}, on_edges={})
    assert unseparated(graph, bare) == [1, graph.exit]
    assert unseparated(graph, replace(bare, on_blocks=plan.on_blocks)) == [graph.exit]
    assert unseparated(graph, replace(bare, on_edges=plan.on_edges)) == [1]
    assert [sorted(members) for members in uncounted_cycles(graph, bare)] == [[1, 2]]
    assert plan.trace is not None
    assert unseparated(graph, replace(bare, trace=replace(plan.trace, entered=False))) == [1]
    assert unseparated(graph, replace(bare, trace=replace(plan.trace, resumes=(0, 1)))) == []


def test_a_self_loop_turns_too() -> None:
    graph = build("loop", labels(1), [(0, 0), (0, 1)])
    plan = region_plan(graph, [1.0] * 3, {})
    assert uncounted_cycles(graph, plan) == []
    assert uncounted_cycles(graph, replace(plan, on_edges={})) == [[0]]
    counted = region_plan(graph, [1.0] * 3, {}, counted=[0])
    assert uncounted_cycles(graph, replace(counted, on_edges={})) == []
