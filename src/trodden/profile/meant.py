"""Which lines and functions are meant by what is given on a command line, in the programs of some threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache

from trodden.errors import UsageError
from trodden.profile.assemble import short_paths
from trodden.profile.filters import is_system
from trodden.profile.select import without_parameters
from trodden.profile.trace.executed import Place, matches
from trodden.profile.trace.threads import ThreadTrace
from trodden.program.facts import FunctionFacts, UnitFacts

_MOST_NAMED = 8


class Meant:
    """The lines and functions of the programs of some threads."""

    def __init__(self, threads: Iterable[ThreadTrace]) -> None:
        programs = {id(each.program): each.program for each in threads}.values()
        self._units = {unit.id: unit for each in programs for unit in each.units}.values()
        self.functions = cache(self._functions)

    def _functions(self, pattern: str) -> frozenset[str]:
        """The names of the functions that a pattern means, as for ``--function`` of other verbs.

        One that is the name of a function means that one, even if it contains wildcards.
        """
        every = [facts for unit in self._units for facts in unit.functions]
        exact = frozenset(each.name for each in every if pattern in _names(each))
        return exact or frozenset(
            each.name for each in every if any(fnmatchcase(name, pattern) for name in _names(each))
        )

    def has_code_of(self, place: Place) -> bool:
        """Whether a function has code of a line."""
        return any(
            matches(place, *line) for unit in self._units for line in _lines_of_blocks(unit, place.line)
        )

    def unknown(
        self, places: Iterable[Place], patterns: Iterable[str], why: Callable[[str], str | None]
    ) -> Iterator[str]:
        """Which lines and functions the programs do not have; ``why`` there is no function of a name."""
        for place in dict.fromkeys(places):
            if not self.has_code_of(place):
                yield f"no traced function has code of {_text(place)}"
        for pattern in dict.fromkeys(patterns):
            if not self.functions(pattern):
                reason = why(pattern)
                yield f"no traced function is called {pattern}" + (f": {reason}" if reason else "")

    def place(self, place: Place) -> Place:
        """The line that is certainly meant; those of the system's headers only if there is no other."""
        files = self._files(place)
        same = [file for file in files if file == place.file]
        chosen = same or [file for file in files if not is_system(file)] or files
        if len(chosen) > 1:
            raise UsageError(
                f"{_text(place)} is in several files; name one of them: {_listed(chosen, place)}"
            )
        return Place(chosen[0], place.line, whole=True) if chosen else place

    def _files(self, place: Place) -> Sequence[str]:
        """The files that have a line: in blocks or inlined calls, or else where a function begins."""
        for lines_of in (_lines_in_code, _lines_of_functions):
            lines = (line for unit in self._units for line in lines_of(unit, place.line))
            found = {file for file, line in lines if matches(place, file, line)}
            if found:
                return sorted(found)
        return []


def _names(facts: FunctionFacts) -> tuple[str, ...]:
    return facts.name, facts.linkage_name, without_parameters(facts.name)


def _lines_of_blocks(unit: UnitFacts, number: int) -> Iterator[tuple[str, int]]:
    files = {
        ref.file
        for facts in unit.functions
        for block in facts.blocks
        for ref in block.lines
        if ref.line == number
    }
    return ((unit.files[file].path, number) for file in files)


def _lines_in_code(unit: UnitFacts, number: int) -> Iterator[tuple[str, int]]:
    yield from _lines_of_blocks(unit, number)
    calls = (call for facts in unit.functions for call in facts.inlined)
    files = {call.file for call in calls if call.line == number and call.file >= 0}
    yield from ((unit.files[file].path, number) for file in files)


def _lines_of_functions(unit: UnitFacts, number: int) -> Iterator[tuple[str, int]]:
    files = {facts.file for facts in unit.functions if facts.line == number and facts.file >= 0}
    return ((unit.files[file].path, number) for file in files)


def _text(place: Place) -> str:
    return f"{place.file}:{place.line}" if place.file else f"line {place.line}"


def _listed(files: Sequence[str], place: Place) -> str:
    names = [f"{name}:{place.line}" for name in short_paths(files).values()]
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
