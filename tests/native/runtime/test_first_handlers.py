"""Signal handlers in the trace of a thread that has executed nothing else before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must
from trodden.api.traces import load_trace
from trodden.recover.trace.events import Kind


@pytest.mark.parametrize("encoding", ["paths", "witnesses", "bits"])
def test_they_are_read_to_their_end(encoding: str, tmp_path: Path) -> None:
    options = ("--trodden-profile=trace", f"--trodden-trace={encoding}", "--trodden-counters=checked", "-O0")
    must("cc", *options, PROGRAMS / "first_handlers.c", "-o", "first", cwd=tmp_path)
    must("run", "-q", "-o", "first.trod", "./first", cwd=tmp_path)
    (thread,) = load_trace(tmp_path / "first.trod").threads
    events = list(thread.events())
    blocks = [event.block for event in events if event.kind == Kind.BLOCK]
    handler = blocks[: blocks.index(0, 1)]
    assert len(handler) == 2
    assert blocks[:4] == handler * 2
    assert sum(event.kind == Kind.LEAVE for event in events) == 3
    assert not list(thread.damages(events))
    edges = must("profile-of", "first.trod", "--profile", "edges", "-o", "edges.trod", cwd=tmp_path)
    assert edges == ""
