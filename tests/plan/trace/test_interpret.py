"""Random programs: what is regenerated from the records is what really ran, for every encoding."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings

from tests.graphs import seeds
from tests.plan.trace.programs import ENCODINGS, random_program
from tests.plan.trace.reading import Reader
from trodden.plan.trace.execution import Ending
from trodden.plan.trace.interpret import run


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=100)
@given(seed=seeds())
def test_what_ran_is_regenerated(encoding: str, seed: int) -> None:
    program = random_program(seed, ENCODINGS[encoding])
    for thread in run(program, seed, threads=2, steps=60):
        found = Reader(program, thread).read()
        if thread.ending is Ending.KILLED:
            both = min(len(found), len(thread.steps))
            assert found[:both] == thread.steps[:both]
        else:
            assert found == thread.steps


def test_executions_are_of_all_sorts() -> None:
    """Deep and long ones, with every kind of record and of end."""
    kinds: Counter[type] = Counter()
    endings: Counter[Ending] = Counter()
    depth = 0
    for seed in range(300):
        for thread in run(random_program(seed), seed, steps=100):
            kinds.update(type(record) for record in thread.records)
            endings[thread.ending] += 1
            depth = max(depth, *(step.depth for step in thread.steps))
    assert depth > 5
    assert {kind.__name__ for kind in kinds} == {
        "Symbol", "Trips", "Enter", "Resume", "Land", "Left", "Sync", "Event",
    }  # fmt: skip
    assert all(endings[ending] > 10 for ending in Ending)


def test_the_same_seed_gives_the_same_execution() -> None:
    first, second = (run(random_program(7), 7, threads=3) for _ in range(2))
    assert [(thread.steps, thread.data) for thread in first] == [(t.steps, t.data) for t in second]
