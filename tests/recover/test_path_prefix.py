"""Stack slots, path registers and sums: three forms of one prefix."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.graphs import costs_for, graphs, seeds
from tests.profile.making import function, unit_of
from trodden.graph.cfg import Graph
from trodden.plan.interpret import Walk, interpret_paths, random_walk
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import WORD
from trodden.plan.routes import PathEnd
from trodden.program.facts import FunctionFacts
from trodden.recover.path_prefix import (
    PrefixDecoder,
    canonical_register,
    register_at_call,
    register_from_slot,
    slot_from_register,
)
from trodden.recover.unit_counts import UnitCounts
from trodden.recover.unit_counts_builder import UnitCountsBuilder


def facts(cloned: bool = True) -> FunctionFacts:
    """Block ``b`` is in the code twice: as block 1, and as block 4 for one value of the register."""
    made = function(
        "f", "a>b a>c b>d c>d d>exit", planner=lambda graph: path_plan(graph, [1.0] * len(graph.edges))
    )
    clones = ((1, 7),) if cloned else ()
    return replace(made, registers={1: (True, 2), 2: (False, -3), 4: (False, 7)}, clones=clones)


@pytest.mark.parametrize(
    ("code_block", "slot", "register"),
    [
        (1, 5, 7),
        (1, WORD - 1, 1),
        (1, None, None),
        (2, 99, WORD - 3),
        (2, None, WORD - 3),
        (3, 99, None),
        (4, None, 7),
    ],
    ids=["in a slot", "wraps", "slot not found", "constant", "constant, no slot", "not needed", "clone"],
)
def test_the_register_of_a_call(code_block: int, slot: int | None, register: int | None) -> None:
    assert register_at_call(facts(), code_block, slot) == register


@pytest.mark.parametrize(
    ("cloned", "block", "register", "slot"),
    [
        (False, 1, 7, 5),
        (False, 1, None, None),
        (False, 2, WORD - 3, None),
        (False, 3, 12, 12),
        (True, 1, 7, 7),
    ],
    ids=["less the addend", "unknown", "constant", "no call needs it", "block with clones"],
)
def test_what_is_stored_for_a_register(
    cloned: bool, block: int, register: int | None, slot: int | None
) -> None:
    owner = facts(cloned)
    assert slot_from_register(owner, block, register) == slot
    assert register_from_slot(owner, block, slot) == register
    assert canonical_register(owner, block, register) == register


def test_a_constant_register_has_one_form() -> None:
    assert canonical_register(facts(), 2, None) == canonical_register(facts(), 2, 55) == WORD - 3


def test_a_path_cut_short_in_a_clone_is_one_of_its_block() -> None:
    owner = facts()
    builder = UnitCountsBuilder(unit_of(owner))
    builder.add_cut_short(0, 1, register_at_call(owner, 1, 5), 1)
    builder.add_cut_short(0, 1, register_at_call(owner, 4, None), 2)
    builder.add_cut_short(0, 1, 9, 3)
    assert builder.result().prefixes == {(0, 1, 7): 3, (0, 1, 9): 3}


def test_a_slot_that_an_earlier_version_stored_is_no_other_prefix() -> None:
    """A single prefix leads to block a, and ``registers`` has no entry for it: what is stored is not needed.

    Block d has two prefixes, which its register distinguishes.
    """
    unit = unit_of(facts())
    earlier = UnitCounts(unit.id, [0] * unit.slots, prefixes={(0, 0, 77): 2, (0, 3, 0): 1, (0, 3, 1): 4})
    now = UnitCounts(unit.id, [0] * unit.slots, prefixes={(0, 0, None): 3, (0, 3, 1): 5})
    builder = UnitCountsBuilder(unit)
    builder.add(earlier)
    builder.add(now)
    builder.add_cut_short(0, 0, 78, 1)
    assert builder.result().prefixes == {(0, 0, None): 6, (0, 3, 0): 1, (0, 3, 1): 9}


def _cut(graph: Graph, walk: Walk, removed: frozenset[int]) -> tuple[int, ...]:
    """The edges that a walk has taken since the last path ended, self loops left out."""
    last = max((at for at, edge in enumerate(walk, 1) if edge in removed), default=0)
    return tuple(edge for edge in walk[last:] if graph.edges[edge].src != graph.edges[edge].dst)


@pytest.mark.parametrize("context", [False, True])
@given(graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_a_register_is_decoded_into_the_edges_that_were_taken(context: bool, graph: Graph, seed: int) -> None:
    plan = path_plan(graph, costs_for(graph, seed), context=context, may_be_cut_short=range(graph.exit))
    assert plan.paths is not None
    numbering = Numbering(graph, plan.paths)
    decoder = PrefixDecoder(graph, plan, numbering)
    rng = random.Random(seed)
    for length in range(8):
        walk = random_walk(graph, rng, length)
        for (block, register), _ in interpret_paths(graph, plan, [walk]).prefixes.items():
            total = decoder.sum_of(block, register)
            assert total is not None
            route = decoder.route(block, total)
            assert route.edges[route.context :] == _cut(graph, walk, numbering.dag.removed)
            assert route.ends is PathEnd.UNWOUND or not numbering.successors(block)
            assert decoder.path_id(block, total) == numbering.number_of(route)
            prefix = decoder.prefix_of(block, total)
            assert prefix is not None
            assert prefix[1] in (None, register)
            assert decoder.sum_of(*prefix) == total


def test_no_prefix_has_any_other_sum() -> None:
    graph = facts().graph
    plan = path_plan(graph, [1.0] * len(graph.edges), may_be_cut_short=range(graph.exit))
    assert plan.paths is not None
    decoder = PrefixDecoder(graph, plan, Numbering(graph, plan.paths))
    assert decoder.prefix_of(0, 5) is None
    assert decoder.sum_of(3, None) is None
    with pytest.raises(ValueError, match="no prefix of block"):
        decoder.route(3, 17)
