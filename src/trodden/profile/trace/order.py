"""The order in which the chunks of a thread are read: those of signal handlers in the middle of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from trodden.profile.trace.model import TraceChunk
from trodden.program.trace_chunk import Flag


class Do(Enum):
    """What a reader is to do next."""

    START = "start"
    SKIP = "skip"
    FEED = "feed"
    ENTER_HANDLER = "enter_handler"
    LEAVE_HANDLER = "leave_handler"


class Step(NamedTuple):
    """A step of reading a chunk: of FEED, the records from ``begin`` to ``end`` (``None``: to its end).

    SKIP is the same of records that another process has written, the parent of this one.
    """

    do: Do
    chunk: TraceChunk
    begin: int = 0
    end: int | None = None


class Order:
    """The chunks of one thread."""

    def __init__(self, chunks: Sequence[TraceChunk]) -> None:
        self._sequences = [chunk.sequence for chunk in chunks]
        levels = {chunk.sequence: chunk.level for chunk in chunks}
        self.main: list[TraceChunk] = []
        """Those of the thread's own code, and of handlers whose interrupted chunks are missing."""
        self._handlers: dict[int, list[list[TraceChunk]]] = {}
        current: dict[int, list[TraceChunk]] = {}
        for chunk in chunks:
            if chunk.parent is not None and levels.get(chunk.parent, chunk.level) < chunk.level:
                if chunk.flags & Flag.HANDLER or chunk.level not in current:
                    current[chunk.level] = [chunk]
                    self._handlers.setdefault(chunk.parent, []).append(current[chunk.level])
                else:
                    current[chunk.level].append(chunk)
            else:
                self.main.append(chunk)
        # A gap in the numbers of all chunks is one in those before which it lies.
        missing = {
            after
            for before, after in zip(self._sequences, self._sequences[1:], strict=False)
            if after > before + 1
        }
        self._behind_gap: set[int] = set()
        pending = False
        for chunk in chunks:
            pending |= chunk.sequence in missing
            if not chunk.level:
                if pending:
                    self._behind_gap.add(chunk.sequence)
                pending = False

    def last_handlers(self) -> list[TraceChunk]:
        """The first chunks of the last signal handler, of the last one inside that, and so on.

        Those in which a thread has ended come first.  The list ends before a handler that was called at the
        same record as another one: what the interrupted code has executed before it, and what since, is not
        told apart.
        """
        found: list[TraceChunk] = []
        chunk = self.main[-1] if self.main else None
        while chunk is not None and (groups := self._handlers.get(chunk.sequence)):
            last = max(groups, key=lambda group: group[0].sequence)
            if sum(group[0].offset == last[0].offset for group in groups) > 1:
                break
            found.append(last[0])
            chunk = last[-1]
        return found

    def is_over(self, index: int) -> bool:
        """Whether a chunk of ``main`` is the last one of a handler that was called before all other code."""
        chunk = self.main[index]
        if not chunk.level or chunk.parent is not None or index + 1 == len(self.main):
            return False
        behind = self.main[index + 1]
        return bool(behind.level != chunk.level or behind.flags & Flag.HANDLER)

    def steps(self, index: int) -> Iterator[Step]:
        """The steps of reading a chunk of ``main``, behind the one before it."""
        chunk = self.main[index]
        anew = index == 0 or chunk.sequence in self._behind_gap or chunk.level
        if anew or chunk.flags & (Flag.FIRST | Flag.CHILD | Flag.LOST_BEFORE):
            yield Step(Do.START, chunk)
        yield from self._within(chunk)

    def _within(self, chunk: TraceChunk) -> Iterator[Step]:
        position = min(chunk.inherited, chunk.piece.size)
        if position:
            yield Step(Do.SKIP, chunk, 0, position)
        for group in sorted(self._handlers.get(chunk.sequence, ()), key=lambda each: each[0].offset):
            offset = min(max(group[0].offset, position), chunk.piece.size)
            yield Step(Do.FEED, chunk, position, offset)
            yield Step(Do.ENTER_HANDLER, group[0])
            for each in group:
                yield from self._within(each)
            yield Step(Do.LEAVE_HANDLER, group[-1])
            position = offset
        yield Step(Do.FEED, chunk, position)
