"""Coverage as workflow commands of GitHub Actions, which appear as annotations of the changed files.

GitHub shows few annotations of a step, so that what was reached most often comes first: branches with an
outcome that was never taken, then functions and lines that were never executed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from trodden.report.fields import counted, percent
from trodden.report.narrate.successors import BranchDescriber
from trodden.report.views.coverage import CoverageReport
from trodden.source.branches import Branch
from trodden.source.coverage import FileCoverage
from trodden.visible_text import visible_text


def to_github(report: CoverageReport) -> str:
    """One command a line: a notice with the totals, then warnings."""
    totals = [f"{name} {percent(each.share)}" for name, each in report.metrics.items()]
    lines = [f"::notice title=Coverage::{_data(', '.join(totals))}"]
    partly = [
        (branch.ran, file.path, branch)
        for file in report.sources.files
        for _, branch in file.missed_branches
        if branch.ran
    ]
    for _, path, branch in sorted(partly, key=lambda each: (-each[0], each[1], each[2].line)):
        text = _untaken(branch, report.branches)
        lines.append(_warning(path, branch.line, branch.line, "Branch partly taken", text))
    for file in report.sources.files:
        lines += _missed(file)
    lines += [f"::warning title=Coverage::{_data(problem)}" for problem in report.problems]
    return "".join(f"{line}\n" for line in lines)


def _untaken(branch: Branch, describer: BranchDescriber) -> str:
    """What never happened, with the outcome of the condition if that is known."""
    never = [
        describer.successor(branch.function, outcome.edge)
        if branch.function is not None
        else f"to line {outcome.line}"
        for outcome in branch.outcomes
        if outcome.taken is False
    ]
    return f"evaluated {counted(branch.ran, 'time')}, and never went {' or '.join(never)}"


def _missed(file: FileCoverage) -> Iterator[str]:
    """Functions that were never entered, and lines of others that were never executed."""
    covered: set[int] = set()
    for function in file.file.functions:
        if not function.entries and function.line > 0 and not function.enclosed:
            covered.update(range(function.line, function.last + 1))
            text = f"{function.name} was never executed"
            yield _warning(file.path, function.line, function.last, "Function never executed", text)
    known = list(file.file.lines)
    missed = {line for line, here in file.file.lines.items() if here.missed} - covered
    for first, last in _runs(known, missed):
        where = f"line {first} was" if first == last else f"lines {first} to {last} were"
        yield _warning(file.path, first, last, "Lines never executed", f"{where} never executed")


def _runs(known: Sequence[int], missed: set[int]) -> Iterator[tuple[int, int]]:
    """The missed lines as ranges: lines without code between them do not part a range."""
    first: int | None = None
    last = 0
    for line in known:
        if line in missed:
            first, last = line if first is None else first, line
        elif first is not None:
            yield first, last
            first = None
    if first is not None:
        yield first, last


def _warning(path: str, first: int, last: int, title: str, text: str) -> str:
    near = os.path.relpath(path)
    shown = path if near.startswith(os.pardir) else near
    return f"::warning file={_property(shown)},line={first},endLine={last},title={title}::{_data(text)}"


def _data(text: str) -> str:
    return _encoded(visible_text(text))


def _property(text: str) -> str:
    """A path, by which GitHub finds the file."""
    return _encoded(text).replace(":", "%3A").replace(",", "%2C")


def _encoded(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
