"""The calls of a trace in the format of Chrome's and Perfetto's trace viewers.

Times are those of the chunks of a trace; what happened within one is spread evenly over it, so only the order
is exact there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from trodden.profile.model import Profile
from trodden.profile.trace.model import TraceChunk
from trodden.profile.trace.threads import ThreadTrace
from trodden.recover.trace.events import Event, Kind

_KINDS = (
    *(Kind.ENTER, Kind.LEAVE, Kind.UNWOUND, Kind.SUSPENDED, Kind.ACTIVE, Kind.SIGNAL, Kind.HANDLED),
    *(Kind.FORKED, Kind.STOPPED, Kind.LOST, Kind.DAMAGED),
)
_BEGIN = frozenset({Kind.ENTER, Kind.ACTIVE})
_END = frozenset({Kind.LEAVE, Kind.UNWOUND, Kind.SUSPENDED})


def to_perfetto(profile: Profile) -> Iterator[bytes]:
    """The document in parts: it may be larger than memory."""
    yield b'{"displayTimeUnit": "ns", "traceEvents": [\n'
    separator = b""
    for thread in profile.trace.threads:
        name = {"name": f"thread {thread.number}"}
        for row in ({"ph": "M", "name": "thread_name", "args": name, **_of(thread)}, *_rows(thread)):
            yield separator + json.dumps(row).encode("ascii")
            separator = b",\n"
    yield b"\n]}\n"


def _of(thread: ThreadTrace) -> dict[str, int]:
    return {"pid": thread.process.pid, "tid": thread.number}


def _rows(thread: ThreadTrace) -> Iterator[dict[str, Any]]:
    chosen = thread.only(lambda number: bytes(thread.program.facts(number).graph.exit), _KINDS)
    open_calls = 0
    time = 0.0
    for chunk, events in zip(chosen.main, chosen.by_chunk(), strict=True):
        kept = [event for event in events if event.kind in _KINDS]
        for time, event in _timed(chunk, kept):
            row = {"ts": time / 1000, **_of(thread)}
            if event.kind in _BEGIN:
                open_calls += 1
                yield {"ph": "B", "name": thread.program.facts(event.function).name, **row}
            elif event.kind in _END:
                if open_calls:
                    open_calls -= 1
                    yield {"ph": "E", **row}
            else:
                yield {"ph": "i", "s": "t", "name": Kind(event.kind).name.lower(), **row}
    for _ in range(open_calls):
        yield {"ph": "E", "ts": time / 1000, **_of(thread)}


def _timed(chunk: TraceChunk, events: list[Event]) -> Iterator[tuple[float, Event]]:
    length = max(chunk.ended - chunk.began, 0)
    for index, event in enumerate(events):
        yield chunk.began + length * index / len(events), event
