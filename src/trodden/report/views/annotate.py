"""Source with counts beside each line, and the counts of branches below their lines.

A line without a count holds no code; ``#####`` marks one that holds code and was never executed.  ``?`` marks
one that may have been: its function was inlined and executed, and the optimiser has left no code of the line,
or the process was interrupted there and the position is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from trodden.errors import UsageError
from trodden.profile.count_text import amount
from trodden.profile.estimated import mark
from trodden.profile.filters import file_matches, is_included, shows_file
from trodden.profile.model import Count, Estimate, FunctionProfile, Profile
from trodden.profile.select import select
from trodden.source.branches import Branch, Outcome
from trodden.source.joined_branches import branches_by_line
from trodden.source.lines import LineCount, Lines, line_counts
from trodden.source.optimised import optimised_note
from trodden.source.own_lines import own_span
from trodden.source.texts import read_source
from trodden.visible_text import visible_text

NEVER, UNKNOWN = "#####", "?"
_BOLD, _DIM, _RED, _BLUE = "1", "2", "31", "34"


@dataclass(frozen=True)
class SourceView:
    """A part of a source file to show: its lines ``first .. last`` (to the end if there is no last)."""

    path: str
    spans: tuple[tuple[int, int | None], ...] = ((1, None),)

    def numbers(self, length: int) -> Iterator[int]:
        """The lines to show of a file that has ``length`` lines, in order, without repetition."""
        done = 0
        for first, last in self.spans:
            end = length if last is None else min(last, length)
            yield from range(max(first, done + 1), end + 1)
            done = max(done, end)


@dataclass(frozen=True)
class AnnotatedLine:
    """A source line with its count and its branches."""

    number: int
    text: str
    count: LineCount | None
    branches: tuple[Branch, ...] = ()


class Annotator:
    """A profile in its sources."""

    def __init__(self, profile: Profile, force: bool = False) -> None:
        self._profile, self._force = profile, force
        self._lines: Lines = line_counts(profile)
        self._branches = branches_by_line(profile.functions.values())

    def views(self, pattern: str | None) -> list[SourceView]:
        """The files that ``pattern`` selects, or else the functions that it does.

        Without a pattern: all files except headers of the system and the compiler, unless there are no
        others.
        """
        files = [path for path in self._lines if pattern is None or file_matches(path, pattern)]
        if pattern is None:
            files = [path for path in files if shows_file(self._profile.filter, path)] or files
            if self._profile.filter.include:
                files = self._included(files)
        if files or pattern is None:
            return [SourceView(path) for path in files]
        spans: dict[str, list[tuple[int, int | None]]] = {}
        for function in select(self._profile, pattern).values():
            lines = own_span(function)
            if lines:
                spans.setdefault(function.file, []).append((lines[0], lines[-1]))
        if not spans:
            raise UsageError(f"{pattern}: no source lines are known; build with -g to have them")
        return [SourceView(path, tuple(sorted(set(parts)))) for path, parts in spans.items()]

    def _included(self, files: Sequence[str]) -> list[str]:
        """The files that a user has named, and those of functions that were named.

        All functions of a header may be inlined: then it has lines, and the profile none of its functions.
        """
        named = [path for path in files if is_included(self._profile.filter, path)]
        try:
            chosen = {function.file for function in select(self._profile, None).values()}
        except UsageError:
            if not named:
                raise
            return named
        return [path for path in files if path in chosen or path in named]

    def note(self, view: SourceView) -> str | None:
        """What a reader of the counts in a view has to know."""
        return optimised_note(self._by_file.get(view.path, ()))

    @cached_property
    def _by_file(self) -> Mapping[str, list[FunctionProfile]]:
        """For each file the functions that have code of it, inlined or their own."""
        found: dict[str, dict[int, FunctionProfile]] = {}
        for function in self._profile.functions.values():
            files = {ref.file for block in function.facts.blocks for ref in block.lines}
            for path in (function.file, *(function.files[file].path for file in files)):
                found.setdefault(path, {})[id(function)] = function
        return {path: list(functions.values()) for path, functions in found.items()}

    def lines(self, view: SourceView) -> Iterator[AnnotatedLine]:
        """The lines of a view, in order, without repetition."""
        source = read_source(self._profile, view.path, self._force)
        counts: Mapping[int, LineCount] = self._lines.get(view.path, {})
        branches_of = self._branches.get(view.path, {})
        for number in view.numbers(len(source)):
            found = tuple(branches_of.get(number, ()))
            yield AnnotatedLine(number, source[number - 1], counts.get(number), found)


def count_text(count: LineCount | None, never: str = NEVER) -> str:
    """The text in the column of counts, ``never`` for a line that holds code and was not executed."""
    if count is None:
        return ""
    if count.doubtful:
        return UNKNOWN
    if count.missed:
        return never
    return f"{'' if count.exact else '~'}{amount(count.count, '')}"


def branch_text(branch: Branch, never: str = "never executed") -> str:
    """``line 12: 100% →13 1000, 0% →17 0``; or ``never`` if the branch was not executed."""
    if not branch.ran:
        return f"line {branch.line}: {never}"
    total = sum(outcome.count for outcome in branch.outcomes)
    return f"line {branch.line}: " + ", ".join(_outcome_text(each, total) for each in branch.outcomes)


def _outcome_text(outcome: Outcome, total: Count) -> str:
    target = outcome.label if outcome.line is None else outcome.line
    return f"{_percent(outcome.count, total)} →{target} {amount(outcome.count, '')}"


def _percent(count: Count, total: Count) -> str:
    """Rounded, but only what always happened is 100% and only what never happened is 0%."""
    rounded = round(100 * count / total) if total else 0
    if rounded == 100 and count < total:
        return ">99%"
    if rounded == 0 and count:
        return "<1%"
    return f"{rounded}%"


def view_text(
    path: str,
    lines: Sequence[AnnotatedLine],
    colour: bool = False,
    estimate: Estimate | None = None,
    note: str | None = None,
) -> Iterator[str]:
    """One source file as lines of text, after a ``note``.  Files of 200,000 lines exist: this is kept simple.

    In an estimate no line was executed; one that is not expected to be has a plain zero.
    """
    never, unexecuted = (
        (NEVER, "never executed") if estimate is None else ("0", "not expected to be executed")
    )
    width = max([9, *(len(count_text(line.count, never)) for line in lines)])
    yield styled(path, _BOLD, colour)
    if estimate is not None:
        yield styled(mark(estimate), _BLUE, colour)
    if note is not None:
        yield styled(note, _BLUE, colour)
    for line in lines:
        count = count_text(line.count, never)
        style = _RED if count == never else _BLUE if count == UNKNOWN else "" if count else _DIM
        row = f"{count:>{width}} {line.number:>6}  {line.text.expandtabs(8)}".rstrip()
        yield styled(row, style, colour)
        for branch in line.branches:
            note = " " * (width + 9) + branch_text(branch, unexecuted)
            yield styled(note, _BLUE if branch.ran else _RED, colour)


def styled(text: str, style: str, colour: bool) -> str:
    """Text in a style of the terminal, if there is colour; control characters in it are made visible."""
    shown = visible_text(text)
    return f"\x1b[{style}m{shown}\x1b[0m" if colour and style else shown
