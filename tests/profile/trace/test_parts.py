"""Every part of a trace can be read without the others."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must
from trodden.api.traces import load_trace
from trodden.recover.trace.events import Event, Kind

_ROUNDS = 40_000
_KINDS = 1 << Kind.DAMAGED | 1 << Kind.RESUMED | 1 << Kind.UNWOUND
"""Few, but each with the number of blocks before it."""


@pytest.mark.parametrize("encoding", ["paths", "witnesses", "bits"])
@pytest.mark.parametrize("optimise", ["-O0", "-O2"])
def test_a_part_read_alone_is_what_it_is_in_the_whole(tmp_path: Path, encoding: str, optimise: str) -> None:
    """Only how control comes to where the part begins is missing: frames are active and not entered."""
    must(
        "cc",
        "--trodden-profile=trace",
        f"--trodden-trace={encoding}",
        optimise,
        PROGRAMS / "long_trace.c",
        "-o",
        "p",
        cwd=tmp_path,
    )
    must("run", "-q", "-o", "p.trod", "./p", str(_ROUNDS), cwd=tmp_path)
    (thread,) = load_trace(str(tmp_path / "p.trod")).threads
    assert len(thread.main) > 20
    whole = [_undamaged(events) for events in thread.by_chunk(kinds=_KINDS)]
    starts = thread.starts()
    assert sum(map(len, whole)) > 100
    for index, events in enumerate(whole):
        (alone,) = map(_undamaged, thread.by_chunk(index, index + 1, _KINDS))
        assert alone == events
        assert all(starts[index] <= event.position <= starts[index + 1] for event in events)


def _undamaged(events: Iterable[Event]) -> list[Event]:
    found = list(events)
    assert not any(event.kind == Kind.DAMAGED for event in found)
    return found
