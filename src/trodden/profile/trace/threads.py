"""Reading the trace of one thread, from any place in it and in both directions.

Every chunk that says which frames were active when it began can be read without those before it.  If these
are not all, because there are too many, the stack is completed from earlier chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from trodden.errors import BadFile
from trodden.profile.trace.choosing import Choosing
from trodden.profile.trace.grammar_in_c import CompiledGrammar, EventGrammar
from trodden.profile.trace.model import Interruption, Piece, TraceChunk, TracedProcess, Traces
from trodden.profile.trace.order import Do, Order, Step
from trodden.profile.trace.program import TracedProgram
from trodden.program.trace_chunk import Flag
from trodden.recover.trace.compiled import (
    ALL_KINDS,
    CompiledProgram,
    CompiledReader,
    unpacked_backwards,
)
from trodden.recover.trace.ending import ActiveFrame, finish
from trodden.recover.trace.events import NONE, Event, Kind, damage_of
from trodden.recover.trace.reader import Reader

CHEAP = 64 << 20
"""So many bytes of records are read in a second or two."""
_NO_KINDS = 1 << Kind.DAMAGED
_NO_RECORD = b"\xff"
"""A byte that no record starts with."""


class ThreadTrace:
    """The trace of the thread ``number`` of a process; ``library`` is the reader in C, if there is one."""

    def __init__(
        self,
        traces: Traces,
        process: TracedProcess,
        number: int,
        program: TracedProgram,
        library: Path | None,
    ) -> None:
        self.process = process
        self.number = number
        self.program = program
        self.chunks = [chunk for chunk in process.chunks if chunk.thread == number]
        self.order = Order(self.chunks)
        self._traces = traces
        self.library = library
        self._compiled: CompiledProgram | None = None
        self._starts: list[int] | None = None
        self._kinds = ALL_KINDS
        self._last: tuple[Piece, bytes] | None = None
        self._nowhere: TraceChunk | None = None
        self._interrupted = self._frames_below_handlers()

    @property
    def main(self) -> Sequence[TraceChunk]:
        """The chunks of the thread's own code."""
        return self.order.main

    def only(self, blocks: Callable[[int], bytes], kinds: Collection[Kind]) -> ThreadTrace:
        """The same thread, of which the reader in C gives out no more than some kinds of events.

        Of the blocks of a function it gives out those whose byte in ``blocks(function)`` is not 0.
        """
        found = ThreadTrace(self._traces, self.process, self.number, self.program, self.library)
        found._starts = self._starts
        found._kinds = sum(1 << kind for kind in {*kinds, Kind.DAMAGED})
        if self.library is not None:
            found._compiled = Choosing(self.library, self.program, blocks)
        return found

    def compiled(self) -> CompiledProgram | None:
        """The program for readers in C."""
        if self._compiled is None and self.library is not None:
            self._compiled = CompiledProgram(self.library, self.program)
        return self._compiled

    def reader(self, kinds: int = ALL_KINDS) -> Reader | CompiledReader:
        """A new reader."""
        compiled = self.compiled()
        return Reader(self.program) if compiled is None else CompiledReader(compiled, kinds & self._kinds)

    def events(self, first: int = 0, last: int | None = None) -> Iterator[Event]:
        """The events of ``main[first:last]``, in their order; the end proves more than the last record."""
        for events in self.by_chunk(first, last):
            yield from events

    def into(self, sink: EventGrammar, first: int, last: int | None) -> None:
        """Let a grammar read the events of ``main[first:last]``, in batches where that is possible."""
        end = len(self.main) if last is None else min(last, len(self.main))
        reader = self._reader_at(first, ALL_KINDS) if first < end else None
        if isinstance(reader, CompiledReader) and isinstance(sink, CompiledGrammar):
            reader.keep(sink)
        for index in range(first, end):
            assert reader is not None
            for event in self._of_chunk(reader, index, anew=index > first):
                sink.add(event)
            if sink.stopped_at is not None:
                return

    def by_chunk(
        self, first: int = 0, last: int | None = None, kinds: int = ALL_KINDS
    ) -> Iterator[Iterator[Event]]:
        """The same chunk by chunk; the events of one have to be read before the next is asked for."""
        end = len(self.main) if last is None else min(last, len(self.main))
        if first >= end:
            return
        reader = self._reader_at(first, kinds)
        for index in range(first, end):
            yield self._of_chunk(reader, index, anew=index > first)

    def read_by(self, reader: Reader | CompiledReader) -> Iterator[Iterator[Event]]:
        """Let another reader read everything, chunk by chunk."""
        for index in range(len(self.main)):
            yield self._of_chunk(reader, index, anew=True)

    def damages(self, events: Sequence[Event]) -> Iterator[str]:
        """What damaged events mean."""
        for event in events:
            if event.kind == Kind.DAMAGED:
                where, what = damage_of(event)
                yield (
                    f"process {self.process.pid}, thread {self.number}: behind block {event.position:,},"
                    f" at byte {where} of a chunk: {what}; reading goes on where the active frames are known"
                )

    def _reader_at(self, index: int, kinds: int) -> Reader | CompiledReader:
        """A reader that has read everything that it needs before a chunk."""
        reader = self.reader(_NO_KINDS)
        origin = self._complete(index)
        for _ in self._start(reader, self.main[origin]):
            pass
        for each in range(origin, index):
            for _ in self._of_chunk(reader, each, anew=each > origin):
                pass
        reader.position = 0 if self._starts is None else self._starts[index]
        if isinstance(reader, CompiledReader):
            reader.use(kinds & self._kinds)
        return reader

    def _of_chunk(self, reader: Reader | CompiledReader, index: int, anew: bool) -> Iterator[Event]:
        for step in self.order.steps(index):
            if step.do is not Do.START:
                yield from self._take(reader, step)
            elif anew:
                yield from self._start(reader, step.chunk)
        if reader.lost:
            return
        if index + 1 == len(self.main):
            yield from self._finished(reader)
        elif self.order.is_over(index):
            # Its last frames have returned, of which nothing has to be written.
            yield from finish(reader, self.program, ())

    def _finished(self, reader: Reader | CompiledReader) -> Iterator[Event]:
        """A thread that has not been killed has ended in these frames, or in none."""
        # A chunk that a handler has written may have begun later than the thread's last one.
        if self.number in self.process.ends or any(chunk.flags & Flag.LAST for chunk in self.chunks):
            yield from finish(reader, self.program, self._frames_at_end())
        if self.interruption is not None:
            function = self.process.ends[self.number][0].function
            yield Event(Kind.INTERRUPTED, 0, function, NONE, 0, reader.position)

    def lines_reached(self, function: int, block: int, lines: Sequence[tuple[str, int]]) -> int:
        """How many of the lines of the block that was executed last were reached.

        The innermost frame may be counted as returned already, with its last block.
        """
        where = self.interruption
        innermost = self.process.ends[self.number][0] if where is not None else None
        if where is None or innermost is None or innermost.function != function:
            return len(lines)
        return where.lines_of(lines) if innermost.block in (block, None) else len(lines)

    @cached_property
    def interruption(self) -> Interruption | None:
        """Where in the block that the thread executed last it was interrupted, if it was."""
        ends = self.process.ends.get(self.number)
        return self.process.interrupted.get(self.number) if ends else None

    def _frames_at_end(self) -> list[ActiveFrame]:
        return [self.program.active(frame) for frame in self.process.ends.get(self.number, ())]

    def _frames_below_handlers(self) -> dict[int, list[ActiveFrame]]:
        """The frames that each handler has interrupted in which the thread has ended, by its first chunk.

        They were where the signal has found them, before anything that the handler has executed.
        """
        frames = self._frames_at_end()
        inner = [index for index, frame in enumerate(frames) if frame.interrupted and index > 0]
        handlers = self.order.last_handlers()[: len(inner)]
        return {
            chunk.sequence: frames[index:] for chunk, index in zip(handlers, reversed(inner), strict=False)
        }

    def backwards(self, last: int | None = None, first: int = 0) -> Iterator[Event]:
        """The events of ``main[first:last]``, the last one first."""
        end = len(self.main) if last is None else min(last, len(self.main))
        for index in range(end - 1, first - 1, -1):
            reader = self._reader_at(index, ALL_KINDS)
            packed: list[bytes] = []
            if isinstance(reader, CompiledReader):
                reader.keep(packed)
            rest = list(self._of_chunk(reader, index, anew=False))
            yield from reversed(rest)
            yield from unpacked_backwards(packed)

    def _complete(self, index: int) -> int:
        """The last chunk up to this one that has all frames that were active when it began."""
        while index > 0:
            chunk = self.main[index]
            if chunk.independent and not chunk.flags & Flag.FRAMES_CUT:
                break
            index -= 1
        return index

    def _start(self, reader: Reader | CompiledReader, chunk: TraceChunk) -> Iterator[Event]:
        """Start where a chunk says that it does; if there is no such place, its records are of no use."""
        try:
            yield from reader.start(chunk.frames, chunk.function, chunk.location)
        except ValueError:
            self._nowhere = chunk

    def _take(self, reader: Reader | CompiledReader, step: Step) -> Iterator[Event]:
        chunk = step.chunk
        if step.do is Do.ENTER_HANDLER:
            if chunk.sequence in self._interrupted and not reader.lost:
                yield from finish(reader, self.program, self._interrupted[chunk.sequence])
            yield from reader.enter_handler(chunk.signal)
        elif step.do is Do.LEAVE_HANDLER:
            reader.leave_handler()
        else:
            if reader.lost and step.begin == 0 and chunk.independent and not chunk.level:
                yield from self._start(reader, chunk)
            records = self._records(chunk.piece)
            if chunk is self._nowhere:
                records = _NO_RECORD * len(records)
            events = reader.feed(records, step.begin, step.end)
            if step.do is Do.FEED:
                yield from events
            else:
                position = reader.position
                for _ in events:
                    pass
                reader.position = position

    def _records(self, piece: Piece) -> bytes:
        """The records of a chunk, which is read in several parts if handlers have interrupted it.

        A piece that is damaged or missing stands for no record at all, wherever reading it starts.
        """
        if self._last is None or self._last[0] != piece:
            try:
                self._last = piece, self._traces.pieces.read(piece)
            except BadFile:
                self._last = piece, _NO_RECORD * piece.size
        return self._last[1]

    def starts(self) -> list[int]:
        """How many blocks were executed before each chunk of ``main``, and in all."""
        if self._starts is None:
            self._starts = [0, *accumulate(self._counted())]
        return self._starts

    def _counted(self) -> list[int]:
        """How many blocks are in each chunk of ``main``: all of them are read at most once."""
        known = [chunk.blocks for chunk in self.main]
        if None not in known:
            return [blocks or 0 for blocks in known]
        reader, found = self.reader(_NO_KINDS), list[int]()
        for index in range(len(self.main)):
            before = reader.position
            for _ in self._of_chunk(reader, index, anew=True):
                pass
            found.append(reader.position - before)
        return found

    def know_positions(self) -> bool:
        """Whether reading from a chunk in the middle gives positions in the whole thread.

        That takes a pass over the trace before the first time, which is made unless the trace is large.
        """
        if self._starts is None and sum(chunk.piece.size for chunk in self.main) <= CHEAP:
            self.starts()
        return self._starts is not None
