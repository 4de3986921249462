"""Many profiles become one, read one by one: what is kept does not grow with their number.

A file that cannot be read, is damaged, or belongs to the others in no way is named and left out; it never
spoils what the others say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from trodden.errors import BadFile, InputMissing, LeftOut, TroddenError, UsageError
from trodden.merging.evidence import Evidence
from trodden.merging.parts import Part, PartReader, same_file
from trodden.merging.sum import Sums
from trodden.merging.unjoined import Lines, Unjoined, shortened
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile

SUM, EVIDENCE = "sum", "evidence"
WAYS: dict[str, type[Sums] | type[Evidence]] = {SUM: Sums, EVIDENCE: Evidence}


@dataclass(frozen=True)
class Merged:
    """What became of a merge.

    ``taken`` profiles went in, ``left_out`` did not.  ``problems`` has a line for each of the latter, and
    for each that was given twice; of very many only the first.  ``unjoined`` are functions of other builds
    that are not part of the profile, those that ran there first.
    """

    profile: Profile
    taken: int
    left_out: int
    problems: tuple[str, ...]
    unjoined: tuple[Unjoined, ...]


def merge(
    names: Iterable[str],
    combine: str = SUM,
    strict: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> Merged:
    """Join the profiles and raw files that are named.

    ``tell`` hears at once of every file that is not taken.  If ``strict``, leaving out anything is an error
    (:class:`LeftOut`), once all files were looked at.
    """
    if combine not in WAYS:
        raise UsageError(f"profiles are combined by {' or '.join(WAYS)}, not by {combine}")
    merging = _Merging(WAYS[combine](), tell)
    for name in names:
        merging.add(name)
    return merging.result(strict)


class _Merging:
    def __init__(self, joining: Sums | Evidence, tell: Callable[[str], None]) -> None:
        self._joining, self._tell = joining, tell
        self._reader = PartReader()
        self._seen: set[int] = set()
        self._problems, self._notes = Lines(), Lines()
        self._taken = self._left_out = self._merged = 0
        self._program = ""

    def add(self, name: str) -> None:
        """Take a file in, or say why not."""
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
        self._took(part)

    def _took(self, part: Part) -> None:
        self._taken += 1
        self._merged += part.merged
        self._program = self._program or part.program
        for note in part.notes:
            self._notes.add(note)

    def _problem(self, line: str) -> None:
        self._problems.add(line)
        self._tell(line)

    def result(self, strict: bool) -> Merged:
        """The profile of everything that was taken."""
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
        profile = assemble(self._program, units, unit_counts, list(self._told(unjoined)), calls)
        profile = replace(profile, merged=self._merged)
        return Merged(profile, self._taken, self._left_out, tuple(self._problems.first), unjoined)

    def _told(self, unjoined: tuple[Unjoined, ...]) -> Iterator[str]:
        """The notes of the profile."""
        yield from self._joining.notes()
        if self._left_out:
            total = self._taken + self._left_out
            yield f"{self._left_out:,} of {total:,} profiles were left out of the merge"
        yield from self._problems.told("files were left out or given twice")
        yield from shortened([str(each) for each in unjoined], len(unjoined), "functions were not joined")
        yield from self._notes.told("notes of the profiles that were merged")
