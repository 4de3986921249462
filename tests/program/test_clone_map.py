"""Blocks of the code, some of which are clones, and the blocks of the graph that they belong to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from trodden.graph.cfg import build
from trodden.plan.counters.edges import eprof
from trodden.plan.paths.path_register import track
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import WORD
from trodden.program.checked import ColumnError
from trodden.program.clone_map import code_of, origin_of
from trodden.program.facts import BlockFacts, FunctionFacts
from trodden.program.function_codec import function_from_columns, function_to_columns

FLOW = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 5)]
GRAPH = build("f", ["b0", "b1", "b2", "b3", "b4", "EXIT"], FLOW)
PLAN = path_plan(GRAPH, [1.0] * len(GRAPH.edges), may_be_cut_short={4})


def clones() -> tuple[tuple[int, int], ...]:
    """The header of the loop after its back edge, and its last block after one of its predecessors."""
    register = track(GRAPH, PLAN)
    back, last = register.along[5], register.along[3]
    assert back is not None
    assert last is not None
    return (1, back.add), (4, last.add if last.base is None else back.add)


def function() -> FunctionFacts:
    return FunctionFacts(
        name="f",
        linkage_name="f",
        file=0,
        line=1,
        graph=GRAPH,
        blocks=tuple(BlockFacts(size=3) for _ in range(GRAPH.exit)),
        plan=PLAN,
        first_slot=0,
        registers={4: (True, 2), 6: (False, -3)},
        clones=clones(),
    )


def test_a_clone_is_a_block_of_the_code_and_belongs_to_one_of_the_graph() -> None:
    facts = function()
    code = code_of(facts)
    assert code.facts.graph.exit == GRAPH.exit + 2
    assert [origin_of(facts, block) for block in (-1, 0, 4, 5, 6)] == [-1, 0, 4, 1, 4]
    assert len(code.facts.blocks) == 7
    assert code_of(replace(facts, clones=())).facts.graph is GRAPH


def test_the_loop_header_keeps_the_edge_from_outside() -> None:
    assert code_of(function()).joined >= {1}


def test_clones_are_written_and_read() -> None:
    facts = function()
    again = function_from_columns(function_to_columns(facts, {}), 1, facts.plan.slots)
    assert (again.clones, again.registers) == (facts.clones, facts.registers)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda data: data.update(copies=[[0], [3]]), "first block"),
        (lambda data: data.update(copies=[[1, 1], [3, 3]]), "two clones"),
        (lambda data: data.update(copies=[[5], [3]]), "range"),
        (lambda data: data.update(copies=[[1], [WORD]]), "range"),
        (lambda data: data.update(copies=[[1, 2], [3]]), "length"),
        (lambda data: data.update(registers=[[2 * 7], [0]]), "range"),
    ],
)
def test_invalid_clones_are_refused(change: Callable[[dict[str, Any]], None], what: str) -> None:
    facts = function()
    data = function_to_columns(facts, {})
    change(data)
    with pytest.raises(ColumnError, match=what):
        function_from_columns(data, 1, facts.plan.slots)


def test_a_plan_without_paths_has_no_clones() -> None:
    plan = eprof(GRAPH, [1.0] * len(GRAPH.edges))
    data = function_to_columns(replace(function(), plan=plan, registers={}), {})
    with pytest.raises(ColumnError, match="does not exist"):
        function_from_columns(data, 1, plan.slots)


def test_clones_of_a_block_with_many_successors_are_bounded() -> None:
    arms = 300
    flow = [(0, 1), *((1, 2 + arm) for arm in range(arms)), *((2 + arm, 2 + arms) for arm in range(arms))]
    graph = build("wide", [*(f"b{block}" for block in range(2 + arms)), "EXIT"], flow)
    plan = path_plan(graph, [1.0] * len(graph.edges))
    blocks = tuple(BlockFacts(size=3) for _ in range(graph.exit))
    many = tuple((1, value) for value in range(4_000))
    wide = replace(function(), graph=graph, plan=plan, blocks=blocks, registers={}, clones=many)
    data = function_to_columns(wide, {})
    with pytest.raises(ColumnError, match="more clones"):
        function_from_columns(data, 1, plan.slots)
