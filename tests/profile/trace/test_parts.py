"""Every part of a trace can be read without the others."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must
from trodden.api.traces import load_trace
from trodden.program.trace_chunk import Flag
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


_DEEP = """
#include <stdlib.h>

__attribute__((noinline)) static int down(int left, volatile int *sum) {
    if (!left)
        return *sum;
    int found = down(left - 1, sum);
    if (found % 7 == 3)
        *sum += left;
    return found + 1;
}

int main(int argc, char **argv) {
    volatile int sum = argc;
    int turns = atoi(argv[1]), depth = atoi(argv[2]);
    for (int i = 0; i < turns; i++)
        down(depth, &sum);
    return 0;
}
"""


def test_where_many_frames_are_active_a_part_is_read_as_in_the_whole(tmp_path: Path) -> None:
    """A chunk has the innermost frames only: those below are found in the last one that had all of them."""
    (tmp_path / "deep.c").write_text(_DEEP)
    must("cc", "--trodden-profile=trace", "-O1", "deep.c", "-o", "deep", cwd=tmp_path)
    must("run", "-q", "-o", "p.trod", "./deep", "150", "10000", cwd=tmp_path)
    (thread,) = load_trace(str(tmp_path / "p.trod")).threads
    complete = [not chunk.flags & Flag.FRAMES_CUT for chunk in thread.main]
    assert any(complete[1:])
    assert not complete[-1]
    whole = list(thread.events())
    assert thread.starts()[-1] == sum(1 + event.value for event in _blocks(whole))
    backwards = list(thread.backwards())
    assert backwards[::-1] == whole
    blocks = _blocks(whole)
    for index, (start, end) in enumerate(pairwise(thread.starts())):
        (alone,) = map(_undamaged, thread.by_chunk(index, index + 1))
        assert _blocks(alone) == [event for event in blocks if start <= event.position < end]


def _blocks(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if event.kind == Kind.BLOCK]
