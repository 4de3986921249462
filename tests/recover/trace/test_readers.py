"""What readers regenerate is what has happened, in Python and in C, for every encoding."""

from __future__ import annotations

import random
import resource
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.graphs import seeds
from tests.plan.trace.programs import ENCODINGS, random_program
from tests.recover.trace.programs import both_readers, regenerated, steps
from trodden.graph.cfg import build
from trodden.plan.trace.activation import Procedure
from trodden.plan.trace.bits import bit_plan
from trodden.plan.trace.execution import Ending, Program
from trodden.plan.trace.interpret import run
from trodden.plan.trace.witnesses import witness_plan
from trodden.recover.trace.events import Kind

RECORDED = [name for name in ENCODINGS if name not in ("blocks", "targets")]
"""The encodings that programs record: the straw men are there to compare sizes with."""


@pytest.mark.parametrize("encoding", RECORDED)
@settings(max_examples=50)
@given(seed=seeds())
def test_what_ran_is_regenerated(encoding: str, seed: int) -> None:
    check_regenerated(random_program(seed, ENCODINGS[encoding]), seed, 60)


@pytest.mark.parametrize("encoding", RECORDED)
@settings(max_examples=50)
@given(seed=seeds())
def test_many_branches_between_calls(encoding: str, seed: int) -> None:
    """So many that bits have to be written in between."""
    check_regenerated(random_program(seed, ENCODINGS[encoding], 2, 300, 0.01), seed, 400)


def test_more_branches_in_a_row_than_bits_can_wait() -> None:
    edges = [(block, block + step) for block in range(0, 400, 2) for step in (1, 2)]
    edges += [(block, block + 1) for block in range(1, 400, 2)] + [(400, 401)]
    graph = build("row", [*(f"b{block}" for block in range(401)), "EXIT"], edges)
    plan = bit_plan(graph, [1.0] * len(graph.edges), {})
    check_regenerated(Program([Procedure(graph, plan)], (0,)), 1, 1000)


def check_regenerated(program: Program, seed: int, steps_in_all: int) -> None:
    for thread in run(program, seed, threads=2, steps=steps_in_all):
        for reader in both_readers(program):
            events = regenerated(program, thread, reader)
            assert not [event for event in events if event.kind == Kind.DAMAGED]
            found = steps(events)
            if thread.ending is Ending.KILLED:
                assert found == thread.steps[: len(found)]
            else:
                assert found == thread.steps
            assert reader.position == len(found)


@pytest.mark.parametrize("encoding", RECORDED)
@settings(max_examples=50)
@given(seed=seeds())
def test_both_readers_say_the_same_of_damaged_records(encoding: str, seed: int) -> None:
    program = random_program(seed, ENCODINGS[encoding])
    rng = random.Random(seed)
    thread = run(program, seed, steps=60)[0]
    data = bytearray(thread.data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data) + 1)
        damage = bytes(rng.randrange(256) for _ in range(rng.randint(0, 5)))
        data[place : place + rng.randint(0, 5)] = damage
    python, compiled = both_readers(program, sanitized=True)
    assert list(python.feed(bytes(data))) == list(compiled.feed(bytes(data)))
    assert python.frames == compiled.frames
    assert python.lost == compiled.lost
    assert python.position == compiled.position


@pytest.mark.parametrize("record", [bytes((229, 2, 1, 1)), b"\x05"], ids=["returns again", "goes on"])
def test_a_call_that_never_returns_does_not_return_twice(record: bytes) -> None:
    graph = build("f", ["a", "b", "EXIT"], [(0, 1), (1, 2)])
    plan = witness_plan(graph, [1.0] * len(graph.edges), {1: None}, resumes=[1])
    events = []
    for reader in both_readers(Program([Procedure(graph, plan)], (0,)), sanitized=True):
        events.append(list(reader.feed(bytes((228, 1, 1, 1)) + record)))
        assert reader.lost
    assert events[0] == events[1]
    assert events[0][-1].kind == Kind.DAMAGED


def test_handlers_that_have_executed_more_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a handler executes without writing anything is found when the next one is called."""
    monkeypatch.setattr("trodden.recover.trace.compiled._ROOM", 16)
    size = 100
    graph = build("f", [*(f"b{block}" for block in range(size)), "EXIT"], [(n, n + 1) for n in range(size)])
    plan = witness_plan(graph, [1.0] * len(graph.edges), {})
    _, compiled = both_readers(Program([Procedure(graph, plan)], (0,)))
    assert list(compiled.enter_handler(10))
    list(compiled.feed(bytes((228, 1, 1, 1))))
    compiled.leave_handler()
    events = [event for batch in islice(compiled.entered_handler(12), 100) for event in batch.events()]
    assert sum(event.kind == Kind.BLOCK for event in events) == size
    assert events[-1].kind == Kind.SIGNAL


def test_a_function_that_does_not_exist_costs_no_memory() -> None:
    graph = build("f", ["a", "EXIT"], [(0, 1)])
    program = Program([Procedure(graph, witness_plan(graph, [1.0], {}))], (0,))
    _, compiled = both_readers(program)
    before = _resident()
    (event,) = compiled.feed(bytes((228, 255, 255, 254)))
    assert event.kind == Kind.DAMAGED
    assert _resident() - before < 32 << 20


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
