"""The trace of a profile as Python programs use it."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from trodden.profile.trace.chunk_places import chunk_at, chunk_at_share, chunk_at_time
from trodden.profile.trace.grammar_in_c import MOST_BLOCKS, CompiledGrammar, EventGrammar
from trodden.profile.trace.model import TracedProcess, Traces
from trodden.profile.trace.program import TracedProgram
from trodden.profile.trace.threads import ThreadTrace
from trodden.program.facts import UnitFacts
from trodden.recover.trace.events import Event

_finders: list[Callable[[], Path | None]] = []


def use_library(finder: Callable[[], Path | None]) -> None:
    """From now on read traces with the C library that ``finder`` finds, if it finds one."""
    _finders[:] = [finder]


class Position(NamedTuple):
    """A place in the trace of a thread.

    ``kind`` is ``"block"`` (``value`` is the number of a block, from 0), ``"share"`` (of the blocks, from 0
    to 1; of the records, if the trace is large and its blocks were not counted) or ``"time"`` (nanoseconds
    since the thread's first chunk began).
    """

    kind: str
    value: float


class ThreadEvent(NamedTuple):
    """An event, and the thread that it belongs to."""

    thread: ThreadTrace
    event: Event


class ProgramTrace:
    """The traces of all threads of all processes."""

    def __init__(self, units: Sequence[UnitFacts], traces: Traces) -> None:
        self.units = units
        self.traces = traces

    @cached_property
    def threads(self) -> tuple[ThreadTrace, ...]:
        """The threads, those of a process together, by their numbers."""
        library = _finders[0]() if _finders else None
        found = []
        for process in self.traces.processes:
            program = self.program(process)
            for number in sorted({chunk.thread for chunk in process.chunks}):
                found.append(ThreadTrace(self.traces, process, number, program, library))
        return tuple(found)

    def program(self, process: TracedProcess) -> TracedProgram:
        """The program of a process."""
        return TracedProgram(self.units, self.traces, process)

    def __iter__(self) -> Iterator[ThreadEvent]:
        """The events of all threads: see :meth:`merged`."""
        return self.merged()

    def merged(self, threads: Sequence[ThreadTrace] | None = None) -> Iterator[ThreadEvent]:
        """The events of all threads, or of some, chunk by chunk in the order in which these began."""
        chosen = self.threads if threads is None else threads
        turns = [
            [(chunk.began, order, index) for index, chunk in enumerate(thread.main)]
            for order, thread in enumerate(chosen)
        ]
        readings = [thread.by_chunk() for thread in chosen]
        for _, order, _ in heapq.merge(*turns):
            thread = chosen[order]
            for event in next(readings[order]):
                yield ThreadEvent(thread, event)

    def events(
        self,
        thread: ThreadTrace,
        start: Position | None = None,
        stop: Position | None = None,
        backwards: bool = False,
    ) -> Iterator[Event]:
        """The events of a thread from one position to another; ``backwards``: the last one first."""
        start, stop = _exact_range(thread, start, stop)
        first = 0 if start is None else place(thread, start)
        last = None if stop is None else place(thread, stop) + 1
        found = thread.backwards(last, first) if backwards else thread.events(first, last)
        low = int(start.value) if start is not None and start.kind == "block" else None
        high = int(stop.value) if stop is not None and stop.kind == "block" else None
        for event in found:
            if low is not None and event.position + event.value * (event.kind == 0) < low:
                if backwards:
                    return
                continue
            if high is not None and event.position >= high:
                if not backwards:
                    return
                continue
            yield event

    def grammar(
        self, thread: ThreadTrace, start: Position | None = None, stop: Position | None = None
    ) -> EventGrammar:
        """The grammar of the events of a thread from one position to another."""
        start, stop = _exact_range(thread, start, stop)
        bounds = [
            int(each.value) if each is not None and each.kind == "block" else otherwise
            for each, otherwise in ((start, 0), (stop, MOST_BLOCKS))
        ]
        sink = EventGrammar(*bounds) if thread.library is None else CompiledGrammar(thread.library, *bounds)
        first = 0 if start is None else place(thread, start)
        thread.into(sink, first, None if stop is None else place(thread, stop) + 1)
        return sink


def _exact_range(
    thread: ThreadTrace, start: Position | None, stop: Position | None
) -> tuple[Position | None, Position | None]:
    """The same range in blocks where it is in shares; what follows the last block belongs to the whole."""
    whole = stop is not None and stop.kind == "share" and stop.value >= 1
    return _exact(thread, start), None if whole else _exact(thread, stop)


def _exact(thread: ThreadTrace, position: Position | None) -> Position | None:
    """A position as the number of a block, if it is a share and the blocks of the thread are counted."""
    if position is None or position.kind != "share" or not thread.know_positions():
        return position
    return Position("block", round(position.value * thread.starts()[-1]))


def place(thread: ThreadTrace, position: Position) -> int:
    """The chunk that a position is in; behind the last one, if a time lies behind the end."""
    if position.kind == "block":
        return chunk_at(thread, int(position.value))
    if position.kind == "share":
        return chunk_at_share(thread, position.value)
    return chunk_at_time(thread, int(position.value))
