"""What was counted in a function and in a unit: sums, slices, and back."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.graphs import seeds
from tests.profile.making import function, unit_of
from trodden.plan.counters.edges import eprof
from trodden.plan.paths.plan import path_plan
from trodden.program.facts import UnitFacts
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.sparse_counters import SparseCounters, total
from trodden.recover.unit_counts import UnitCounts
from trodden.recover.unit_counts_builder import UnitCountsBuilder

SHAPE = "a>b a>c b>d c>d d>a d>exit"
LINE = "a>exit"


def unit() -> UnitFacts:
    """Edges, paths in a dense table, a function without counters, and paths in a sparse table."""
    return unit_of(
        function("edges", SHAPE, planner=lambda graph: eprof(graph, [1.0] * len(graph.edges))),
        function("dense", SHAPE, planner=lambda graph: path_plan(graph, [1.0] * len(graph.edges))),
        function("sparse", SHAPE, planner=lambda graph: path_plan(graph, [1.0] * len(graph.edges), dense=0)),
        function("none", LINE, planner=lambda graph: replace(eprof(graph, [1.0, 1.0]), measures=())),
    )


UNIT = unit()


def random_counts(seed: int) -> UnitCounts:
    """Anything that can be counted in the unit."""
    rng = random.Random(seed)
    builder = UnitCountsBuilder(UNIT)
    builder.add_counters([rng.choice([0, 0, 1, 5]) for _ in range(UNIT.slots)])
    for _ in range(rng.randint(0, 4)):
        builder.add_cut_short(rng.randrange(3), rng.randrange(4), rng.randrange(3), rng.randint(-2, 2))
        builder.add_resumed(rng.randrange(4), 0, rng.randint(0, 2))
        builder.add_path(2, rng.randrange(3), rng.randint(0, 4), rng.randint(0, 90))
    return builder.result()


@given(seeds())
@settings(max_examples=200, deadline=None)
def test_a_unit_is_its_functions(seed: int) -> None:
    counted = random_counts(seed)
    parts = list(counted.functions(UNIT))
    assert [number for number, _ in parts] == [0, 1, 2, 3]
    assert UnitCounts.of_functions(UNIT, parts) == counted
    assert {number for number, part in parts if part} <= counted.touched(UNIT)
    some = list(counted.functions(UNIT, counted.touched(UNIT)))
    assert UnitCounts.of_functions(UNIT, some) == counted


@given(seeds(), seeds())
@settings(max_examples=200, deadline=None)
def test_functions_add_up_as_their_unit_does(one: int, other: int) -> None:
    first, second = random_counts(one), random_counts(other)
    builder = UnitCountsBuilder(UNIT)
    builder.add(first)
    builder.add(second)
    both = builder.result()
    parts = zip(first.functions(UNIT), second.functions(UNIT), strict=True)
    for (number, mine), (_, theirs) in parts:
        builder = UnitCountsBuilder(UNIT)
        builder.add_function(number, mine)
        builder.add_function(number, theirs)
        summed = dict(both.functions(UNIT))[number]
        assert mine + theirs == theirs + mine == summed
        assert dict(builder.result().functions(UNIT))[number] == summed
    assert both.entries() <= first.entries() + second.entries()


@given(seeds())
@settings(max_examples=50, deadline=None)
def test_nothing_more_changes_nothing(seed: int) -> None:
    for number, counted in random_counts(seed).functions(UNIT):
        none = FunctionCounts.zero(UNIT.functions[number].plan.slots)
        assert counted + none == none + counted == counted
        assert not none
    assert UnitCounts.zero(UNIT).touched(UNIT) == set()


@pytest.mark.parametrize(
    ("counted", "anything"),
    [
        (FunctionCounts([0, 0]), False),
        (FunctionCounts(SparseCounters(1 << 40, {})), False),
        (FunctionCounts([0], {1: 0}, {(1, None): 0}, {3: (0, 0)}), False),
        (FunctionCounts([0, 2]), True),
        (FunctionCounts([0], {1: -1}), True),
        (FunctionCounts([0], {}, {(1, 4): 1}), True),
        (FunctionCounts([0], {}, {}, {3: (0, 9)}), True),
    ],
)
def test_whether_anything_was_counted(counted: FunctionCounts, anything: bool) -> None:
    assert bool(counted) is anything


def test_ends_and_resumptions() -> None:
    counted = FunctionCounts([], {3: 2, 1: -4, 2: 0})
    assert list(counted.early_ends.items()) == [(1, -4), (3, 2)]
    assert counted.resumed == {3: -2, 1: 4, 2: 0}


def test_amounts_keep_their_sign_and_zeros_vanish() -> None:
    one = FunctionCounts([1, 0], {0: 2}, {(1, 7): -1}, {4: (1, 10)})
    other = FunctionCounts([0, 3], {0: -2, 1: -1}, {(1, 7): -1}, {4: (2, 0), 5: (0, 6)})
    assert one + other == FunctionCounts([1, 3], {1: -1}, {(1, 7): -2}, {4: (3, 10), 5: (0, 6)})


def test_vectors_of_other_lengths_do_not_add_up() -> None:
    with pytest.raises(ValueError, match="length"):
        total([1], [1, 2])


def test_frames_end_in_blocks_or_cut_paths_short() -> None:
    builder = UnitCountsBuilder(UNIT)
    builder.add_cut_short(0, 2, 5, 1)
    builder.add_cut_short(1, 2, 5, 1)
    builder.add_resumed(1, 0, 2)
    builder.add_to_counter(0, 4)
    found = builder.result()
    assert (found.active, found.prefixes) == ({(0, 2): 1, (1, 0): -2}, {(1, 2, 5): 1})
    assert list(found.counters[:2]) == [4, 0]
