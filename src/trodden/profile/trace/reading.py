"""The trace of a profile as Python programs use it."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

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

    ``kind`` is ``"block"`` (``value`` is the number of a block, from 0), ``"share"`` (of the records, from 0
    to 1) or ``"time"`` (nanoseconds since the thread's first chunk began).
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
        bounds = [
            int(each.value) if each is not None and each.kind == "block" else otherwise
            for each, otherwise in ((start, 0), (stop, MOST_BLOCKS))
        ]
        sink = EventGrammar(*bounds) if thread.library is None else CompiledGrammar(thread.library, *bounds)
        first = 0 if start is None else place(thread, start)
        thread.into(sink, first, None if stop is None else place(thread, stop) + 1)
        return sink


def place(thread: ThreadTrace, position: Position) -> int:
    """The chunk that a position is in."""
    if position.kind == "block":
        return thread.chunk_at(int(position.value))
    if position.kind == "share":
        return thread.chunk_at_share(position.value)
    return thread.chunk_at_time(int(position.value))
