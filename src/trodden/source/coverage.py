"""How much of the source was executed: lines, functions, outcomes of branches and conditions.

A condition is a branch with two outcomes; it is covered if both were taken.  Outcomes that may have been
taken count nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trodden.profile.analysis.coverage import Covered
from trodden.source.branches import Branch
from trodden.source.files import FileCounts


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """One source file; ``file`` has its counts."""

    file: FileCounts
    lines: Covered
    branches: Covered
    functions: Covered
    conditions: Covered

    @property
    def path(self) -> str:
        """Its path."""
        return self.file.path

    @property
    def missed_branches(self) -> Iterator[tuple[int, Branch]]:
        """The branches of which some outcome was never taken, with their numbers on their lines."""
        for found in self.file.branches.values():
            for number, branch in enumerate(found):
                if not branch.loose and any(outcome.taken is False for outcome in branch.outcomes):
                    yield number, branch


@dataclass(frozen=True)
class SourceCoverage:
    """The source files, by path."""

    files: tuple[FileCoverage, ...]

    @property
    def lines(self) -> Covered:
        """Of all files together."""
        return sum((each.lines for each in self.files), Covered(0, 0))

    @property
    def branches(self) -> Covered:
        """Of all files together."""
        return sum((each.branches for each in self.files), Covered(0, 0))

    @property
    def functions(self) -> Covered:
        """Of all files together."""
        return sum((each.functions for each in self.files), Covered(0, 0))

    @property
    def conditions(self) -> Covered:
        """Of all files together."""
        return sum((each.conditions for each in self.files), Covered(0, 0))


def cover_files(files: Mapping[str, FileCounts]) -> SourceCoverage:
    """The coverage of some files."""
    return SourceCoverage(tuple(cover_file(file) for file in files.values()))


def cover_file(file: FileCounts) -> FileCoverage:
    """The coverage of one file."""
    lines = [line.count > 0 for line in file.lines.values() if not line.doubtful]
    found = list(_branches(file))
    taken = [[outcome.taken for outcome in branch.outcomes] for branch in found]
    outcomes = [each for some in taken for each in some if each is not None]
    conditions = [all(some) for some in taken if len(some) == 2 and (None not in some or False in some)]
    functions = [function.entries > 0 for function in file.functions]
    return FileCoverage(file, *map(_covered, (lines, outcomes, functions, conditions)))


def _branches(file: FileCounts) -> Iterator[Branch]:
    for found in file.branches.values():
        yield from (branch for branch in found if not branch.loose)


def _covered(parts: list[bool]) -> Covered:
    return Covered(sum(parts), len(parts))
