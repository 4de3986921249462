"""What a trace has executed, as lines of sources: the blocks of a thread one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from trodden.profile.trace.reading import ProgramTrace, ThreadEvent
from trodden.profile.trace.threads import ThreadTrace
from trodden.recover.trace.events import Event, Kind


class Executed(NamedTuple):
    """A block or a line of it that a thread has executed, ``again`` so many times once more at once.

    ``position`` is how many blocks the thread had executed before, if these were counted.  ``line`` is 0
    where none is known; ``function`` is the one that was called, even if code of another one was inlined.
    """

    process: int
    thread: int
    position: int | None
    depth: int
    function: str
    block: str
    file: str
    line: int
    again: int


class Place(NamedTuple):
    """A line of a file; any file, if the name is empty; ``whole``: the name is the whole path of the file."""

    file: str
    line: int
    whole: bool = False


class BlockText(NamedTuple):
    """What is shown of a block."""

    function: str
    label: str
    lines: tuple[tuple[str, int], ...]


class Texts:
    """What is shown of the blocks of a process."""

    def __init__(self, thread: ThreadTrace) -> None:
        self._program = thread.program
        self.of = cache(self._of)

    def _of(self, number: int, block: int) -> BlockText:
        facts, unit = self._program.facts(number), self._program.unit(number)
        refs = facts.blocks[block].lines
        lines = tuple((unit.files[ref.file].path, ref.line) for ref in refs if ref.line > 0)
        return BlockText(facts.name, facts.graph.labels[block], lines)


class Selection:
    """Which blocks and lines are shown: of all functions and lines, or only of those that are asked for."""

    def __init__(
        self, by_line: bool = True, functions: Collection[str] | None = None, place: Place | None = None
    ) -> None:
        self._by_line = by_line
        self._functions = functions
        self._place = place

    @property
    def everything(self) -> bool:
        """Whether no block is left out."""
        return self._functions is None and self._place is None

    def lines(self, text: BlockText) -> tuple[tuple[str, int], ...]:
        """What is shown of a block: its lines, or the first one; none if it is left out."""
        place = self._place
        if self._functions is not None and text.function not in self._functions:
            return ()
        found = tuple(line for line in text.lines if place is None or matches(place, *line))
        if not found:
            return (("", 0),) if place is None else ()
        return found if self._by_line else found[:1]

    def of(self, thread: ThreadTrace) -> ThreadTrace:
        """The thread, of which the reader in C leaves out what is not shown."""
        if self.everything:
            return thread
        texts = Texts(thread)

        def wanted(number: int) -> bytes:
            blocks = range(thread.program.facts(number).graph.exit)
            return bytes(bool(self.lines(texts.of(number, block))) for block in blocks)

        return thread.only(wanted, {Kind.BLOCK})


class _Rows:
    """The rows of blocks: what is the same each time is made once."""

    def __init__(self, selection: Selection, backwards: bool, placed: bool) -> None:
        self._selection = selection
        self._backwards = backwards
        self._placed = placed
        self._texts: dict[int, Texts] = {}
        self._shown: dict[tuple[int, int, int], tuple[tuple[str, str, str, int], ...]] = {}

    def of(self, thread: ThreadTrace, event: Event) -> Iterator[Executed]:
        """The rows of a block."""
        key = id(thread.program), event.function, event.block
        rows = self._shown.get(key)
        if rows is None:
            text = self._text(thread, event)
            rows = self._shown[key] = self._in_order(text, self._selection.lines(text))
        return self._made(thread, event, rows)

    def of_last(self, thread: ThreadTrace, event: Event) -> Iterator[Executed]:
        """The rows of the block in which a thread was interrupted: up to the line that it had reached."""
        whole = self._text(thread, event)
        reached = thread.lines_reached(event.function, event.block, whole.lines)
        text = whole._replace(lines=whole.lines[:reached])
        return self._made(thread, event, self._in_order(text, self._selection.lines(text)))

    def _text(self, thread: ThreadTrace, event: Event) -> BlockText:
        texts = self._texts.get(id(thread.program))
        if texts is None:
            texts = self._texts[id(thread.program)] = Texts(thread)
        return texts.of(event.function, event.block)

    def _in_order(
        self, text: BlockText, lines: Sequence[tuple[str, int]]
    ) -> tuple[tuple[str, str, str, int], ...]:
        return tuple(
            (text.function, text.label, *line) for line in (lines[::-1] if self._backwards else lines)
        )

    def _made(
        self, thread: ThreadTrace, event: Event, rows: Iterable[tuple[str, str, str, int]]
    ) -> Iterator[Executed]:
        process, number = thread.process.pid, thread.number
        at = event.position if self._placed else None
        for name, label, file, line in rows:
            yield Executed(process, number, at, event.depth, name, label, file, line, event.value)


def executed(
    events: Iterable[ThreadEvent], selection: Selection, backwards: bool = False, placed: bool = True
) -> Iterator[Executed]:
    """The blocks among some events, or their lines; of a last block that was interrupted, those reached.

    Their positions are left out if they are not ``placed``: those of the events count from a chunk.
    """
    rows = _Rows(selection, backwards, placed)
    # Forwards, whether a block was the last one is only known behind it.
    held: ThreadEvent | None = None
    interrupted: ThreadEvent | None = None
    for each in events:
        thread, event = each
        if event.kind == Kind.INTERRUPTED:
            if held is not None and _ends_with(held, each):
                yield from rows.of_last(*held)
                held = None
            interrupted = each
            continue
        if held is not None and (event.kind == Kind.BLOCK or thread is not held.thread):
            yield from rows.of(*held)
            held = None
        if event.kind != Kind.BLOCK:
            continue
        if thread.interruption is None:
            yield from rows.of(thread, event)
        elif backwards:
            last = interrupted is not None and _ends_with(each, interrupted)
            interrupted = None
            yield from rows.of_last(thread, event) if last else rows.of(thread, event)
        else:
            held = each
    if held is not None:
        yield from rows.of(*held)


def _ends_with(block: ThreadEvent, interrupted: ThreadEvent) -> bool:
    """Whether a block is what its thread executed last, and where it was interrupted."""
    ended = block.event.position + 1 + block.event.value == interrupted.event.position
    return block.thread is interrupted.thread and ended


def matches(place: Place, file: str, line: int) -> bool:
    """Whether a line is the one that is meant: the end of the file's name is enough."""
    return line == place.line and (
        not place.file
        or file == place.file
        or (not place.whole and file.endswith(f"/{place.file.lstrip('/')}"))
    )


def threads_of(trace: ProgramTrace, process: int | None, thread: int | None) -> list[ThreadTrace]:
    """The threads that are asked for."""
    return [
        each
        for each in trace.threads
        if (process is None or each.process.pid == process) and (thread is None or each.number == thread)
    ]
