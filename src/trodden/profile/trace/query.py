"""Questions about a trace, in a small language.

``docs/command-line.md`` describes it.  Each thread is searched on its own.  The reader in C skips the blocks
that no part of a question is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from trodden.errors import UsageError
from trodden.profile.trace.executed import BlockText, Place, Texts, matches
from trodden.profile.trace.threads import ThreadTrace
from trodden.recover.trace.events import Event, Kind

_LINE = re.compile(r"(?:(?P<file>[^\s:]+):)?(?P<line>\d+)")
_FRAME_KINDS = (Kind.ENTER, Kind.LEAVE, Kind.UNWOUND, Kind.SUSPENDED, Kind.ACTIVE, Kind.SWITCH)
_NO_PLACE = Place("", 0)
HINT = (
    "ask for: last A; first A; count A; count A between A and A; between A and A;"
    " calls FUNCTION through LINE; where A is a line ([FILE:]N), enter FUNCTION, leave FUNCTION or signal"
)


@dataclass(frozen=True)
class Happening:
    """What is asked for: a line was executed, a function was entered or left, or a signal handler called."""

    kind: str
    place: Place = _NO_PLACE
    function: str = ""


@dataclass(frozen=True)
class Query:
    """A question: its verb, what it is about, and between what."""

    verb: str
    what: Happening | None = None
    start: Happening | None = None
    stop: Happening | None = None
    function: str = ""


class Answer(NamedTuple):
    """A part of an answer: the thread, where in it, and what is there.

    ``times`` is how often it happened; ``until`` is where it ended, if it has a length.
    """

    process: int
    thread: int
    position: int | None
    until: int | None
    times: int
    text: str


def parse(text: str) -> Query:
    """A question from its text."""
    words = text.split()
    query = _parse(words)
    if query is None:
        raise UsageError(f"{text}: is no question about a trace; {HINT}")
    return query


def _parse(words: Sequence[str]) -> Query | None:
    match words:
        case ["last" | "first" | "count" as verb, *rest]:
            if "between" in rest and verb == "count":
                at = rest.index("between")
                what, ends = _happening(rest[:at]), _two(rest[at + 1 :])
                return Query(verb, what, *ends) if what and ends else None
            what = _happening(rest)
            return Query(verb, what) if what else None
        case ["between", *rest]:
            ends = _two(rest)
            return Query("between", None, *ends) if ends else None
        case ["calls", function, "through", line]:
            what = _happening([line])
            return Query("calls", what, function=function) if what and what.kind == "line" else None
    return None


def _two(words: Sequence[str]) -> tuple[Happening, Happening] | None:
    if "and" not in words:
        return None
    at = words.index("and")
    first, second = _happening(words[:at]), _happening(words[at + 1 :])
    return (first, second) if first and second else None


def _happening(words: Sequence[str]) -> Happening | None:
    match words:
        case ["enter" | "leave" as kind, function]:
            return Happening(kind, function=function)
        case ["signal"]:
            return Happening("signal")
        case ["line", line] | [line]:
            found = _LINE.fullmatch(line)
            return Happening("line", Place(found["file"] or "", int(found["line"]))) if found else None
    return None


def answer(query: Query, threads: Sequence[ThreadTrace]) -> Iterator[Answer]:
    """The answers, thread by thread."""
    for thread in threads:
        yield from _Asking(query, thread).answers()


class _Asking:
    """A question to one thread."""

    def __init__(self, query: Query, thread: ThreadTrace) -> None:
        self._query = query
        self._texts = Texts(thread)
        self._names: dict[int, str] = {}
        self._shown: dict[tuple[int, int, int], str] = {}
        self._called: dict[int, bool] = {}
        self._marks: dict[tuple[int, int, int], tuple[bool, bool, bool]] = {}
        self._whole = thread
        parts = [each for each in (query.what, query.start, query.stop) if each is not None]
        self._places = [each.place for each in parts if each.kind == "line"]
        frames = query.verb == "calls" or any(each.kind in ("enter", "leave") for each in parts)
        kinds = {Kind.BLOCK, Kind.SIGNAL, *(_FRAME_KINDS if frames else ())}
        self._thread = thread if query.verb == "between" else thread.only(self._wanted, kinds)

    def _wanted(self, number: int) -> bytes:
        blocks = range(self._whole.program.facts(number).graph.exit)
        return bytes(self._has(number, block) for block in blocks)

    def _has(self, number: int, block: int) -> bool:
        lines = self._texts.of(number, block).lines
        return any(matches(place, *line) for place in self._places for line in lines)

    def answers(self) -> Iterator[Answer]:
        """The answers of this thread."""
        match self._query.verb:
            case "last":
                yield from self._last()
            case "first":
                yield from self._one(self._thread.events())
            case "count":
                yield from self._count()
            case "between":
                yield from self._between()
            case _:
                yield from self._calls()

    def _is(self, event: Event, what: Happening | None) -> bool:
        if what is None:
            return False
        if what.kind == "line":
            return event.kind == Kind.BLOCK and any(
                matches(what.place, *line) for line in self._texts.of(event.function, event.block).lines
            )
        if what.kind == "signal":
            return event.kind == Kind.SIGNAL
        wanted = (Kind.ENTER,) if what.kind == "enter" else (Kind.LEAVE, Kind.UNWOUND)
        return event.kind in wanted and self._is_function(event.function, what.function)

    def _marks_of(self, event: Event) -> tuple[bool, bool, bool]:
        """Whether an event is what is asked for, the start and the stop: the same for all that are alike."""
        key = event.kind, event.function, event.block
        found = self._marks.get(key)
        if found is None:
            query = self._query
            parts = self._is(event, query.what), self._is(event, query.start), self._is(event, query.stop)
            found = self._marks[key] = parts
        return found

    def _is_function(self, number: int, pattern: str) -> bool:
        if number not in self._names:
            self._names[number] = self._whole.program.facts(number).name
        name = self._names[number]
        return name == pattern or fnmatchcase(name, pattern)

    def _answer(self, position: int | None, text: str, count: int = 1, until: int | None = None) -> Answer:
        return Answer(self._whole.process.pid, self._whole.number, position, until, count, text)

    def _last(self) -> Iterator[Answer]:
        for event in self._thread.backwards():
            if self._marks_of(event)[0]:
                # Positions need the number of blocks before, which takes a pass over the trace.
                self._thread.starts()
                break
        yield from self._one(self._thread.backwards())

    def _one(self, events: Iterator[Event]) -> Iterator[Answer]:
        for event in events:
            if self._marks_of(event)[0]:
                again = event.value if event.kind == Kind.BLOCK and self._query.verb == "last" else 0
                yield self._answer(event.position + again, self._text(event))
                return

    def _text(self, event: Event) -> str:
        if event.kind == Kind.SIGNAL:
            return f"signal {event.value}"
        key = event.kind, event.function, event.block
        if key not in self._shown:
            self._shown[key] = self._shown_as(event)
        return self._shown[key]

    def _shown_as(self, event: Event) -> str:
        name = self._whole.program.facts(event.function).name
        if event.kind == Kind.BLOCK:
            return f"{name} {_lines(self._texts.of(event.function, event.block))}"
        return f"{'enter' if event.kind == Kind.ENTER else 'leave'} {name}"

    def _count(self) -> Iterator[Answer]:
        query = self._query
        total, opened, inside = 0, None, 0
        for event in self._thread.events():
            times = 1 + (event.value if event.kind == Kind.BLOCK else 0)
            happens, starts, stops = self._marks_of(event)
            if query.start is None:
                total += times * happens
                continue
            if opened is not None and stops:
                yield self._answer(opened, "between", inside, event.position)
                total += inside
                opened = None
            elif opened is not None and happens:
                inside += times
            if opened is None and starts:
                opened, inside = event.position, 0
        yield self._answer(None, "in all", total)

    def _between(self) -> Iterator[Answer]:
        """What happened from the first A to the next B."""
        opened = False
        for event in self._thread.events():
            _, starts, stops = self._marks_of(event)
            if opened and stops:
                yield self._answer(event.position, self._text(event))
                return
            opened = opened or starts
            if opened and event.kind in (Kind.BLOCK, Kind.ENTER, Kind.SIGNAL):
                times = 1 + (event.value if event.kind == Kind.BLOCK else 0)
                yield self._answer(event.position, self._text(event), times)

    def _calls(self) -> Iterator[Answer]:
        """Calls of a function that executed a line and then returned."""
        entered: dict[int, int] = {}
        passed: set[int] = set()
        ends = (Kind.LEAVE, Kind.UNWOUND, Kind.SUSPENDED)
        for event in self._thread.events():
            kind, depth = event.kind, event.depth
            if kind == Kind.BLOCK:
                if depth in entered and self._marks_of(event)[0]:
                    passed.add(depth)
            elif kind == Kind.ENTER:
                if self._is_called(event.function):
                    entered[depth] = event.position
            elif kind in ends and depth in entered:
                start = entered.pop(depth)
                if depth in passed and kind == Kind.LEAVE:
                    yield self._answer(start, self._text(event), 1, event.position)
                passed.discard(depth)

    def _is_called(self, number: int) -> bool:
        """Whether a function is the one whose calls are asked for."""
        if number not in self._called:
            self._called[number] = self._is_function(number, self._query.function)
        return self._called[number]


def _lines(text: BlockText) -> str:
    found = dict.fromkeys(f"{file.rpartition('/')[2]}:{line}" for file, line in text.lines)
    return f"{text.label} {', '.join(found)}".rstrip()
