"""Traces of a thread that signals interrupt at any instruction."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.native.handwritten import RuntimeLinker, start
from tests.native.trace_records import Record, records, trace_of
from trodden.collect.trace.chunk import Chunk

_WORK, _HANDLE = ("enter", 0), ("enter", 1)


def _trips(found: list[Record]) -> list[int]:
    return [record[1] for record in found if record[0] == "trips"]


@pytest.mark.parametrize(
    "mode", ["-", "a", "j", "ja"], ids=["returns", "alternate", "jumps", "alternate-jumps"]
)
@pytest.mark.parametrize("which", ["linker", "static_linker"])
def test_nothing_is_lost_or_doubled(
    which: str, mode: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    linker: RuntimeLinker = request.getfixturevalue(which)
    signals = 150
    run = start(linker.build("trace_signals", "trace_signals.c"), mode, str(signals), cwd=tmp_path)
    assert (run.status, run.errors) == (3, "")
    chunks = trace_of(run.raw).threads()[0]
    own = [chunk for chunk in chunks if not chunk.level]
    handlers = [chunk for chunk in chunks if chunk.level]
    found = [record for chunk in own for record in records(chunk.records())]
    steps = {after - before for before, after in pairwise(_trips(found))}
    # Where a handler jumps out, the number may be recorded again; otherwise it is never.
    assert steps <= ({0, 1} if "j" in mode else {1})
    assert found[0] == _WORK
    assert sum(record[0] == "sync" for record in found) == (signals // 3 if "j" in mode else 0)
    inside = [record for chunk in handlers for record in records(chunk.records())]
    assert [record for record in inside if record[0] == "enter"] == [_HANDLE] * signals
    assert _trips(inside)[::2] == list(range(signals))
    assert len(handlers) == signals
    for chunk in own:
        _check_positions(chunk, [each for each in handlers if each.parent == chunk.sequence])


def _check_positions(interrupted: Chunk, handlers: list[Chunk]) -> None:
    """What the thread had recorded when a handler began is what the handler has seen."""
    data = interrupted.records()
    done, last = 0, None
    for handler in handlers:
        for record in records(data[done : handler.offset]):
            last = record[1] if record[0] == "trips" else last
        done = handler.offset
        _, number = _trips(list(records(handler.records())))
        assert last is None or last in (number - 1, number)
