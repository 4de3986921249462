"""Answers to questions about a trace.

Each thread is searched on its own.  The reader in C skips the blocks that no part of a question is about.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from trodden.profile.trace.executed import BlockText, Place, Texts, matches
from trodden.profile.trace.passes import Passes
from trodden.profile.trace.questions import Happening, Query
from trodden.profile.trace.threads import ThreadTrace
from trodden.recover.trace.events import Event, Kind

_FRAME_KINDS = (Kind.ENTER, Kind.LEAVE, Kind.UNWOUND, Kind.SUSPENDED, Kind.ACTIVE, Kind.SWITCH)


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


def answer(
    query: Query,
    threads: Sequence[ThreadTrace],
    functions: Callable[[str], Collection[str]],
    tell: Callable[[str], None],
) -> Iterator[Answer]:
    """The answers, thread by thread; ``tell`` is told where a trace is damaged.

    ``functions`` has the names of the functions that a pattern means.
    """
    for thread in threads:
        yield from _Asking(query, thread, functions, tell).answers()


def asked_about(query: Query) -> tuple[list[Place], list[str]]:
    """The lines that a question is about, and the patterns of functions."""
    parts = [each for each in (query.what, query.start, query.stop) if each is not None]
    names = (query.function, *(part.function for part in parts))
    return [each.place for each in parts if each.kind == "line"], [each for each in names if each]


class _Asking:
    """A question to one thread."""

    def __init__(
        self,
        query: Query,
        thread: ThreadTrace,
        functions: Callable[[str], Collection[str]],
        tell: Callable[[str], None],
    ) -> None:
        self._functions = functions
        self._query = query
        self._tell = tell
        self._texts = Texts(thread)
        self._names: dict[int, str] = {}
        self._shown: dict[tuple[int, int, int], str] = {}
        self._called: dict[int, bool] = {}
        self._marks: dict[tuple[int, int, int], tuple[bool, bool, bool]] = {}
        self._whole = thread
        parts = [each for each in (query.what, query.start, query.stop) if each is not None]
        self._places = [each.place for each in parts if each.kind == "line"]
        asked = query.what, query.start, query.stop
        self._passes = [
            (
                Passes(part.place, thread.program),
                [index for index in range(3) if asked[index] == part],
            )
            for part in dict.fromkeys(parts)
            if part.kind == "line"
        ]
        alone = len(self._passes) == 1 and self._passes[0][1] == [0]
        self._only = self._passes[0][0].times if alone else None
        frames = query.verb == "calls" or any(each.kind in ("enter", "leave") for each in parts)
        kinds = {Kind.BLOCK, Kind.SIGNAL, Kind.SWITCH, *(_FRAME_KINDS if frames else ())}
        self._thread = thread if query.verb == "between" else thread.only(self._wanted, kinds)

    def _wanted(self, number: int) -> bytes:
        blocks = range(self._whole.program.facts(number).graph.exit)
        if self._query.verb == "count":
            wanted = frozenset[int]().union(*(passes.wanted(number) for passes, _ in self._passes))
            return bytes(block in wanted for block in blocks)
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
                yield from self._one(self._events())
            case "count":
                yield from self._count()
            case "between":
                yield from self._between()
            case _:
                yield from self._calls()

    def _events(self, backwards: bool = False) -> Iterator[Event]:
        """The events of the thread; where it is damaged is told."""
        for event in self._thread.backwards() if backwards else self._thread.events():
            if event.kind == Kind.DAMAGED:
                for message in self._whole.damages([event]):
                    self._tell(message)
            yield event

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

    def _times_of(self, event: Event) -> tuple[int, int, int]:
        """How often an event is what is asked for, the start and the stop: a line, as control passes over it.

        Every event has to be asked about, once and in order.
        """
        if event.kind != Kind.BLOCK:
            if event.kind == Kind.SWITCH:
                for passes, _ in self._passes:
                    passes.switch()
            what, start, stop = self._marks_of(event)
            return int(what), int(start), int(stop)
        if self._only is not None:
            return self._only(event), 0, 0
        times = [0, 0, 0]
        for passes, parts in self._passes:
            found = passes.times(event)
            for part in parts:
                times[part] = found
        return times[0], times[1], times[2]

    def _is_function(self, number: int, pattern: str) -> bool:
        if number not in self._names:
            self._names[number] = self._whole.program.facts(number).name
        return self._names[number] in self._functions(pattern)

    def _answer(self, position: int | None, text: str, count: int = 1, until: int | None = None) -> Answer:
        return Answer(self._whole.process.pid, self._whole.number, position, until, count, text)

    def _last(self) -> Iterator[Answer]:
        for event in self._thread.backwards():
            if self._marks_of(event)[0]:
                # Positions need the number of blocks before, which takes a pass over the trace.
                self._thread.starts()
                yield from self._one(self._events(backwards=True))
                return

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
        for event in self._events():
            happens, starts, stops = self._times_of(event)
            if query.start is None:
                total += happens
                continue
            if opened is not None and stops:
                yield self._answer(opened, "between", inside, event.position)
                total += inside
                opened = None
            elif opened is not None:
                inside += happens
            if opened is None and starts:
                opened, inside = event.position, 0
        yield self._answer(None, "in all", total)

    def _between(self) -> Iterator[Answer]:
        """What happened from the first A to the next B."""
        opened = False
        for event in self._events():
            _, starts, stops = self._times_of(event)
            if opened and stops:
                yield self._answer(event.position, self._text(event))
                return
            if starts > 1 and stops > 1:
                yield self._answer(event.position, self._text(event))
                yield self._answer(event.position + 1, self._text(event))
                return
            opened = opened or starts > 0
            if opened and event.kind in (Kind.BLOCK, Kind.ENTER, Kind.SIGNAL):
                times = 1 + (event.value if event.kind == Kind.BLOCK else 0)
                yield self._answer(event.position, self._text(event), times)

    def _calls(self) -> Iterator[Answer]:
        """Calls of a function that executed a line and then returned."""
        entered: dict[int, int] = {}
        passed: set[int] = set()
        ends = (Kind.LEAVE, Kind.UNWOUND, Kind.SUSPENDED)
        for event in self._events():
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
