"""Plans for overlapping paths are read as they were written, and what does not fit together is refused."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import graphs, seeds
from tests.plan.overlapping.programs import random_procedures
from tests.plan.overlapping.test_walks import trial
from trodden.graph.cfg import Graph, build
from trodden.plan.overlap_probes import (
    AddOverlap,
    BumpOverlap,
    ChainPath,
    ChainPathAt,
    Channel,
    ClearOverlap,
    CountPredicate,
    ForgetPaths,
    OverlapProbe,
    PairOverlap,
    PairOverlapAt,
    PublishCall,
    PublishCallAt,
    PublishReturn,
    PublishReturnAt,
    StartOverlap,
    StartOverlapAt,
    TakeCall,
    TakeReturn,
)
from trodden.plan.overlapping.pairs import with_chains
from trodden.plan.overlapping.plan import overlapping_plan
from trodden.plan.overlapping.tuples import most_paths
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Plan
from trodden.program.checked import ColumnError
from trodden.program.overlap_codec import (
    MORE,
    OverlapProbeReader,
    overlap_probe_to_rows,
)
from trodden.program.plan_codec import plan_from_columns, plan_to_columns


def stored(plan: Plan) -> Any:
    return json.loads(json.dumps(plan_to_columns(plan)))


@settings(max_examples=200)
@given(graphs(), seeds())
def test_plans_of_loops_are_read_as_they_were_written(graph: Graph, seed: int) -> None:
    plan = trial(graph, seed, resume_edges=[]).plan
    assert plan_from_columns(stored(plan), graph) == plan


@given(graphs(), st.integers(2, 5))
def test_plans_of_tuples_are_read_as_they_were_written(graph: Graph, length: int) -> None:
    plan = path_plan(graph, [1.0] * len(graph.edges))
    if plan.numbers > most_paths(length):
        return
    plan = with_chains(graph, plan, length)
    assert plan_from_columns(stored(plan), graph) == plan


LOOP = build("loop", ["A", "B", "C", "D", "EXIT"], [(0, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 4)])
OVERLAPPING = overlapping_plan(LOOP, [1.0] * 7, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("overlaps"), "out of range"),
        (lambda d: d.pop("paths"), "without context"),
        (lambda d: d["paths"].update(flags=3), "without context"),
        (lambda d: d["paths"].update(flags=6), "no time"),
        (lambda d: d["overlaps"].update(degrees=[[1], [0]]), "degree 0"),
        (lambda d: d["overlaps"].update(degrees=[[4], [1]]), "out of range"),
        (lambda d: d["overlaps"].update(degrees=[[1, 1], [1, 1]]), "in order"),
        (lambda d: d["overlaps"].update(number=0), "out of range"),
        (lambda d: d.update(tuples=[1, 0]), "out of range"),
        (lambda d: d["on_entry"][1].__setitem__(0, MORE), "no such probe"),
        (lambda d: d["on_entry"][1].__setitem__(0, MORE - 99), "out of range"),
        (lambda d: d["on_entry"][0].__setitem__(0, 1), "belongs to overlaps"),
        (lambda d: d["on_entry"][0].__setitem__(0, 3), "out of range"),
        (lambda d: d["on_entry"][1].__setitem__(0, MORE - 4), "number of operands"),
        (lambda d: d["on_entry"][1].__setitem__(0, MORE - 17), "tuples"),
    ],
)
def test_what_does_not_fit_is_refused(change: Any, message: str) -> None:
    document = copy.deepcopy(stored(OVERLAPPING))
    change(document)
    with pytest.raises(ColumnError, match=message):
        plan_from_columns(document, LOOP)


EACH = [
    StartOverlap(-3, -1, 2),
    StartOverlapAt(2**64 - 1, 0, 1),
    CountPredicate(Channel.ENTERED),
    AddOverlap(Channel.LOOP, -5),
    AddOverlap(Channel.RETURNED, 5, 3),
    BumpOverlap(Channel.LOOP, 2),
    ClearOverlap(Channel.RETURNED),
    PublishCall(7, -9),
    PublishCallAt(7, 9),
    TakeCall(None),
    TakeCall(-4),
    PublishReturn(-1),
    PublishReturnAt(9),
    TakeReturn(3, None),
    TakeReturn(3, -4),
    PairOverlap(Channel.ENTERED, -1),
    PairOverlapAt(Channel.RETURNED, 9),
    ChainPath(-1, 2),
    ChainPathAt(9, 2),
    ForgetPaths(),
]


@pytest.mark.parametrize("probe", EACH, ids=str)
def test_every_probe_is_read_as_it_was_written(probe: OverlapProbe) -> None:
    (operand, kind), *more = overlap_probe_to_rows(probe)
    assert all(each == MORE for _, each in more)
    reader = OverlapProbeReader(10, frozenset(Channel), 2)
    assert reader.read(kind, [operand, *(each for each, _ in more)]) == probe


def test_tuples_have_the_length_of_the_plan() -> None:
    reader = OverlapProbeReader(9, frozenset(), 3)
    for probe in (ChainPath(-1, 3), ForgetPaths()):
        (operand, kind), *more = overlap_probe_to_rows(probe)
        assert reader.read(kind, [operand, *(each for each, _ in more)]) == probe
    with pytest.raises(ColumnError, match="tuples"):
        reader.read(MORE - 15, [-1, 2])


def test_a_plan_without_either_has_neither() -> None:
    assert (
        stored(replace(OVERLAPPING, overlaps=None, on_edges={}, on_entry=()))
        .keys()
        .isdisjoint({"overlaps", "tuples"})
    )


@settings(max_examples=100)
@given(seeds(), st.booleans())
def test_plans_over_calls_are_read_as_they_were_written(seed: int, pairs: bool) -> None:
    for procedure in random_procedures(seed, pairs):
        assert plan_from_columns(stored(procedure.plan), procedure.graph) == procedure.plan
