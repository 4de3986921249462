"""What a trace has executed, as lines of sources: the blocks of a thread one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
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
    """A line of a file; any file, if the name is empty."""

    file: str
    line: int


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


def executed(
    events: Iterable[ThreadEvent],
    by_line: bool,
    function: str | None = None,
    place: Place | None = None,
    backwards: bool = False,
    placed: bool = True,
) -> Iterator[Executed]:
    """The blocks among some events, or their lines; only of functions and lines that are asked for.

    Their positions are left out if they are not ``placed``: those of the events count from a chunk.
    """
    texts: dict[int, Texts] = {}
    for thread, event in events:
        if event.kind != Kind.BLOCK:
            continue
        key = id(thread)
        if key not in texts:
            texts[key] = Texts(thread)
        text = texts[key].of(event.function, event.block)
        if function is not None and text.function != function and not fnmatchcase(text.function, function):
            continue
        for row in _rows(thread, event, text, by_line, place, backwards):
            yield row if placed else row._replace(position=None)


def _rows(
    thread: ThreadTrace, event: Event, text: BlockText, by_line: bool, place: Place | None, backwards: bool
) -> Iterator[Executed]:
    found = [(file, line) for file, line in text.lines if place is None or matches(place, file, line)]
    if not found and place is not None:
        return
    lines = found if by_line else found[:1]
    for file, line in (lines[::-1] if backwards else lines) or [("", 0)]:
        yield Executed(
            thread.process.pid,
            thread.number,
            event.position,
            event.depth,
            text.function,
            text.label,
            file,
            line,
            event.value,
        )


def matches(place: Place, file: str, line: int) -> bool:
    """Whether a line is the one that is meant: the end of the file's name is enough."""
    return line == place.line and (
        not place.file or file == place.file or file.endswith(f"/{place.file.lstrip('/')}")
    )


def threads_of(trace: ProgramTrace, process: int | None, thread: int | None) -> list[ThreadTrace]:
    """The threads that are asked for."""
    return [
        each
        for each in trace.threads
        if (process is None or each.process.pid == process) and (thread is None or each.number == thread)
    ]
