"""What each activation has passed, and the order of all marks: in a trace and by the program itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.counting.observed import Line, Observed
from tests.fuzz.counting.program import Program
from trodden.profile.model import Profile
from trodden.profile.trace.reading import ProgramTrace
from trodden.profile.trace.threads import ThreadTrace
from trodden.recover.trace.events import Event, Kind, damage_of

_SHOWN = 12
"""Marks in front of the first difference."""


def damages(profile: Profile) -> Iterator[str]:
    """Where records of a trace contradict each other; a trace that ended by itself has no such place."""
    for thread in profile.trace.threads:
        for event in thread.events():
            if event.kind == Kind.DAMAGED:
                at, why = damage_of(event)
                yield f"thread {thread.number} of {thread.process.pid}, at {at}: {why}"
            elif event.kind in (Kind.LOST, Kind.STOPPED):
                yield f"thread {thread.number} of {thread.process.pid}: {Kind(event.kind).name.lower()}"


def compare_trace(
    program: Program, seen: Observed, profile: Profile, compared: Counter[str]
) -> Iterator[tuple[str, object, object]]:
    """What differs: what it is, in the trace and in the program's own record."""
    walks = _Walks(program, profile.trace)
    for thread in profile.trace.threads:
        walks.follow(thread)
    if walks.switched:
        return
    compared["activations"] += len(seen.walks)
    own, expected = Counter(walks.all), Counter(seen.walks)
    for walk in sorted((own - expected).keys() | (expected - own).keys()):
        yield f"activations that passed {_shown(walk)}", own[walk], expected[walk]
    if len(profile.trace.threads) == 1 and not program.features.signals:
        compared["marks in order"] += len(seen.order)
        if walks.order != list(seen.order):
            first = next(
                (at for at, (a, b) in enumerate(zip(walks.order, seen.order, strict=False)) if a != b),
                min(len(walks.order), len(seen.order)),
            )
            yield f"order from mark {first} on", _shown(walks.order[first:]), _shown(seen.order[first:])


def _shown(walk: tuple[Line, ...] | list[Line]) -> str:
    more = " …" if len(walk) > _SHOWN else ""
    return " ".join(f"{file}:{line}" for file, line in walk[:_SHOWN]) + more


class _Walks:
    """The marks that each activation passed, and those of everything, as traces tell them."""

    def __init__(self, program: Program, trace: ProgramTrace) -> None:
        self._texts = (program.first.splitlines(), program.second.splitlines())
        self._files = tuple(f"{stem}.{program.suffix}" for stem in ("first", "second"))
        self._marks: dict[tuple[int, int, int], tuple[Line, ...]] = {}
        self.all: list[tuple[Line, ...]] = []
        self.order: list[Line] = []
        self.switched = False

    def follow(self, thread: ThreadTrace) -> None:
        """Read the trace of a thread to its end."""
        walks: dict[int, list[Line]] = defaultdict(list)
        for event in thread.events():
            if event.kind == Kind.ENTER:
                walks[event.depth] = []
            elif event.kind == Kind.BLOCK:
                marks = self._marks_of(thread, event)
                walks[event.depth] += (1 + event.value) * marks
                self.order += (1 + event.value) * marks
            elif event.kind in (Kind.LEAVE, Kind.UNWOUND):
                self._done(walks.pop(event.depth, []))
            self.switched |= event.kind in (Kind.SWITCH, Kind.SUSPENDED)
        for walk in walks.values():
            self._done(walk)

    def _done(self, walk: list[Line]) -> None:
        if walk:
            self.all.append(tuple(walk))

    def _marks_of(self, thread: ThreadTrace, event: Event) -> tuple[Line, ...]:
        key = thread.process.pid, event.function, event.block
        if key not in self._marks:
            facts, unit = thread.program.facts(event.function), thread.program.unit(event.function)
            lines = dict.fromkeys(
                (unit.files[ref.file].path, ref.line) for ref in facts.blocks[event.block].lines
            )
            self._marks[key] = tuple(
                (number, line)
                for path, line in lines
                for number, name in enumerate(self._files)
                if Path(path).name == name and "MARK();" in self._texts[number][line - 1]
            )
        return self._marks[key]
