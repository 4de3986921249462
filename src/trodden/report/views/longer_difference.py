"""Longer paths that two runs certainly executed in different shares, as data.

The first run is called A, the second B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trodden.compare.longer import Counted, LongerComparison, LongerDifference, compare_longer
from trodden.errors import UsageError
from trodden.profile.longer.model import LongerPaths
from trodden.profile.model import Profile
from trodden.report.fields import percent, tabbed
from trodden.report.narrate.paths import ARROW, Describer
from trodden.report.narrate.steps import Step
from trodden.report.views.longer_rows import bounds_text, crossing_document, place_of, steps_of
from trodden.report.views.path_rows import step_document


@dataclass(frozen=True)
class LongerDifferenceRow:
    """A difference in words, with its rank."""

    rank: int
    found: LongerDifference
    place: str
    first: tuple[Step, ...]
    second: tuple[Step, ...]
    blocks: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def sentence(self) -> str:
        """``A 62.0% (40 of 64), B never in 12``."""
        return f"A {_side(self.found.first)}, B {_side(self.found.second)}"


@dataclass(frozen=True)
class LongerDifferenceReport:
    """Two runs compared; ``files`` are their profiles."""

    files: tuple[str, str]
    found: LongerComparison
    rows: tuple[LongerDifferenceRow, ...]


def report_longer_difference(
    profile: Profile, longer: tuple[LongerPaths, LongerPaths], files: tuple[str, str], top: int | None
) -> LongerDifferenceReport:
    """Compare the longer paths of two profiles, of which the second is ``profile``."""
    found = compare_longer(*longer)
    if not set(longer[1].functions) - {each.name for each in found.unpaired}:
        raise UsageError(
            f"{', '.join(files)}: no function has the same paths in both; compare runs of one program, built"
            " with the same flags and profiled in the same way"
        )
    describer = Describer(profile)
    rows = [
        LongerDifferenceRow(
            rank,
            each,
            place_of(each.crossing, longer[1].functions, describer),
            *steps_of(each.crossing, (each.first_part, each.second_part), longer[1], describer),
            longer[1].block_ids(each.crossing, each.first_part, each.second_part),
        )
        for rank, each in enumerate(found.differences[:top], 1)
    ]
    return LongerDifferenceReport(files, found, tuple(rows))


def _side(counted: Counted) -> str:
    if not counted.of.most:
        return "never came there"
    if not counted.count.most:
        return f"never in {bounds_text(counted.of)}"
    least, most = (percent(float(share)) for share in counted.share)
    share = least if least == most else f"{least} – {most}"
    return f"{share} ({bounds_text(counted.count)} of {bounds_text(counted.of)})"


def to_document(report: LongerDifferenceReport) -> dict[str, Any]:
    """The report as dictionaries and lists."""
    return {
        "first": report.files[0],
        "second": report.files[1],
        "differences": [_document(row) for row in report.rows],
        "certain": len(report.found.differences),
        "same": report.found.same,
        "unknown": report.found.unknown,
        "unpaired": [
            {"function": each.name, "run": "first" if each.first else "second", "reason": each.reason}
            for each in report.found.unpaired
        ],
    }


def _document(row: LongerDifferenceRow) -> dict[str, Any]:
    document = {"rank": row.rank, **crossing_document(row.found.crossing), "place": row.place}
    for name, counted in (("A", row.found.first), ("B", row.found.second)):
        least, most = counted.share
        document[name] = {
            "lower": counted.count.least,
            "upper": counted.count.most,
            "of_at_least": counted.of.least,
            "of_at_most": counted.of.most,
            "share_at_least": float(least),
            "share_at_most": float(most),
        }
    for name, blocks, steps in zip(("first", "second"), row.blocks, (row.first, row.second), strict=True):
        document[name] = {"blocks": list(blocks), "steps": [step_document(step) for step in steps]}
    return {**document, "sentence": row.sentence}


def to_plain(report: LongerDifferenceReport) -> str:
    """One row a line; the first field of each says what the row is about."""
    rows: list[tuple[object, ...]] = [
        (
            *("#longer", "rank", "kind", "function", "callee", "place"),
            *("A at least", "A at most", "A of at least", "A of at most"),
            *("B at least", "B at most", "B of at least", "B of at most", "first", "second"),
        ),
        ("#compared", "certain", "same", "unknown"),
        ("#unpaired", "function", "run", "reason"),
    ]
    for row in report.rows:
        crossing, found = row.found.crossing, row.found
        sides = (number for side in (found.first, found.second) for number in (*side.count, *side.of))
        words = (ARROW.join(step.words() for step in steps) for steps in (row.first, row.second))
        what = crossing.kind.value, crossing.function, crossing.callee or "", row.place
        rows.append(("longer", row.rank, *what, *sides, *words))
    found_in_all = report.found
    rows.append(("compared", len(found_in_all.differences), found_in_all.same, found_in_all.unknown))
    rows += [
        ("unpaired", each.name, "A" if each.first else "B", each.reason) for each in found_in_all.unpaired
    ]
    return tabbed(rows)
