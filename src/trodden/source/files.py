"""The source files of a profile as their readers see them: functions, lines and branches.

A function of the source is one function, in however many units it was compiled, with whatever flags, and
wherever it was inlined.  The same holds for its branches (:mod:`trodden.source.joined_branches`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from trodden.profile.model import Count, FunctionProfile
from trodden.source.branches import Branch
from trodden.source.inlined_entries import inlined_entries
from trodden.source.joined_branches import branches_by_line
from trodden.source.lines import LineCount, lines_of_functions


@dataclass(frozen=True, slots=True)
class SourceFunction:
    """A function of the source: its first and last lines, and how often it was entered.

    ``symbols`` are its linkage names.  ``enclosed``: it starts within another function, as a lambda or a
    closure does; the last line of that one is not before its own.
    """

    name: str
    line: int
    last: int
    entries: Count
    symbols: tuple[str, ...] = ()
    enclosed: bool = False


@dataclass(frozen=True, slots=True)
class FileCounts:
    """One source file.  The branches of each line are in the order in which they are evaluated."""

    path: str
    functions: Sequence[SourceFunction] = ()
    lines: Mapping[int, LineCount] = field(default_factory=dict)
    branches: Mapping[int, Sequence[Branch]] = field(default_factory=dict)


def source_files(functions: Iterable[FunctionProfile]) -> dict[str, FileCounts]:
    """The files that these functions have code of, by their paths in order."""
    some = list(functions)
    defined = _functions(some)
    lines = lines_of_functions(some)
    found = branches_by_line(some)
    return {
        path: FileCounts(
            path,
            defined.get(path, ()),
            _with_first_lines(lines.get(path, {}), defined.get(path, ())),
            found.get(path, {}),
        )
        for path in sorted({*lines, *defined, *found})
    }


@dataclass(slots=True)
class _Found:
    """What is known of a function so far."""

    entries: Count = 0
    last: int = 0
    symbols: dict[str, None] = field(default_factory=dict)

    def add(self, entries: Count, lines: Iterable[int]) -> None:
        self.entries += entries
        self.last = max([self.last, *lines])


def _functions(functions: Iterable[FunctionProfile]) -> dict[str, list[SourceFunction]]:
    """The functions of each file by their lines; those on one line end on one line."""
    found: dict[str, dict[tuple[int, str], _Found]] = {}
    for function in functions:
        facts, files = function.facts, function.files
        own = found.setdefault(function.file, {}).setdefault((facts.line, function.name), _Found())
        own.symbols[facts.linkage_name] = None
        own.add(
            function.entries,
            (
                ref.line
                for block in facts.blocks
                for ref in block.lines
                if ref.instance == 0 and ref.file == facts.file
            ),
        )
        for inlined in inlined_entries(function):
            callee = inlined.callee
            if callee.line > 0:
                there = found.setdefault(files[callee.file].path, {})
                known = there.setdefault((callee.line, callee.name), _Found())
                known.symbols[callee.symbol or callee.name] = None
                known.add(inlined.count, inlined.lines)
    return {path: _in_order(each) for path, each in found.items()}


def _in_order(found: Mapping[tuple[int, str], _Found]) -> list[SourceFunction]:
    last: dict[int, int] = {}
    for (line, _), each in found.items():
        last[line] = max(last.get(line, line), each.last)
    around: dict[int, int] = {}
    first = 0
    for line in sorted(last):
        if first and line <= last[first]:
            around[line] = first
            last[first] = max(last[first], last[line])
        elif line:
            first = line
    return [
        SourceFunction(name, line, last[line], each.entries, tuple(each.symbols), line in around)
        for (line, name), each in sorted(found.items(), key=lambda item: item[0])
    ]


def _with_first_lines(
    lines: Mapping[int, LineCount], functions: Sequence[SourceFunction]
) -> Mapping[int, LineCount]:
    """The lines with those on which functions start, which are executed whenever one is entered."""
    entered: dict[int, Count] = {}
    for function in functions:
        if function.line > 0:
            entered[function.line] = entered.get(function.line, 0) + function.entries
    found = dict(lines)
    for line, count in entered.items():
        known = found.get(line)
        if known is None or known.count < count:
            found[line] = LineCount(count, known is None or known.exact)
    return dict(sorted(found.items()))
