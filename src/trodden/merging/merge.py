"""Merging many profiles, which are read one by one: memory does not grow with their number.

A file that cannot be read, is damaged, or has nothing in common with the others is named and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from trodden.errors import BadFile, InputMissing, LeftOut, TroddenError, UsageError
from trodden.merging.evidence import Evidence
from trodden.merging.parts import Part, PartReader, same_file
from trodden.merging.sum import Sums
from trodden.merging.unjoined import Messages, Unjoined, shortened
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile

SUM, EVIDENCE = "sum", "evidence"
_COMBINATIONS: dict[str, type[Sums] | type[Evidence]] = {SUM: Sums, EVIDENCE: Evidence}


@dataclass(frozen=True)
class Merged:
    """The result of a merge.

    ``taken`` profiles were merged, ``left_out`` were not.  ``problems`` has a message for each of the latter,
    and for each that was given twice; if there are very many, only for the first.  ``unjoined`` are functions
    of other builds that are not part of the profile; those that were executed there come first.
    """

    profile: Profile
    taken: int
    left_out: int
    problems: tuple[str, ...]
    unjoined: tuple[Unjoined, ...]

    def __repr__(self) -> str:
        return (
            f"<Merged {self.profile!r}, taken={self.taken}, left_out={self.left_out},"
            f" problems={len(self.problems)}, unjoined={len(self.unjoined)}>"
        )


def merge(
    names: Iterable[str],
    combine: str = SUM,
    strict: bool = False,
    report: Callable[[str], None] = lambda message: None,
) -> Merged:
    """Merge profiles and raw files.

    ``report`` is called at once for every file that is left out.  If ``strict``, leaving out anything is an
    error (:class:`LeftOut`), which is raised when all files have been read.
    """
    if combine not in _COMBINATIONS:
        raise UsageError(f"profiles are combined by {' or '.join(_COMBINATIONS)}, not by {combine}")
    merging = _Merging(_COMBINATIONS[combine](), report)
    for name in names:
        merging.add(name)
    return merging.result(strict)


class _Merging:
    def __init__(self, joining: Sums | Evidence, report: Callable[[str], None]) -> None:
        self._joining, self._report = joining, report
        self._reader = PartReader()
        self._seen: set[int] = set()
        self._problems, self._messages = Messages(), Messages()
        self._taken = self._left_out = self._merged = 0
        self._program = ""

    def add(self, name: str) -> None:
        """Merge a file, or report why it is left out."""
        mark = same_file(name)
        if mark is not None and mark in self._seen:
            self._problem(f"{name}: was given before; it is counted once")
            return
        try:
            part = self._reader.read(name)
            self._joining.add(part)
        except TroddenError as error:
            self._left_out += 1
            self._problem(f"{error} (left out)")
            return
        if mark is not None:
            self._seen.add(mark)
        self._add(part)

    def _add(self, part: Part) -> None:
        self._taken += 1
        self._merged += part.merged
        self._program = self._program or part.program
        for message in part.messages:
            self._messages.add(message)

    def _problem(self, message: str) -> None:
        self._problems.add(message)
        self._report(message)

    def result(self, strict: bool) -> Merged:
        """The profile of everything that was merged."""
        if not self._taken and not self._left_out:
            raise InputMissing("no profile given; name those that should be merged")
        if not self._taken:
            raise BadFile(f"none of {self._left_out:,} files could be merged; nothing was written")
        total = self._taken + self._left_out
        if strict and self._left_out:
            raise LeftOut(f"{self._left_out:,} of {total:,} profiles cannot be merged; nothing was written")
        unit_counts, calls = self._joining.result()
        unjoined = self._joining.unjoined.functions()
        if strict and unjoined:
            raise LeftOut(f"{unjoined[0]} ({len(unjoined):,} such functions in all); nothing was written")
        units = list(self._joining.units.facts.values())
        profile = assemble(self._program, units, unit_counts, list(self._all_messages(unjoined)), calls)
        profile = replace(profile, merged=self._merged, programs=self._joining.units.programs)
        return Merged(profile, self._taken, self._left_out, tuple(self._problems.first), unjoined)

    def _all_messages(self, unjoined: tuple[Unjoined, ...]) -> Iterator[str]:
        """The messages of the profile."""
        yield from self._joining.messages()
        if self._left_out:
            total = self._taken + self._left_out
            yield f"{self._left_out:,} of {total:,} profiles were left out of the merge"
        yield from self._problems.listed("files were left out or given twice")
        yield from shortened([str(each) for each in unjoined], len(unjoined), "functions were not joined")
        yield from self._messages.listed("messages of the profiles that were merged")
