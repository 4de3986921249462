"""How many longer paths were certainly executed, or certainly not, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trodden.profile.longer.coverage import LongerCovered, cover_longer
from trodden.profile.longer.model import LongerKind, LongerPaths, NotTold
from trodden.profile.model import Profile
from trodden.profile.select import select
from trodden.report.fields import counted, tabbed

_NUMBERS = ("executed", "unknown", "never", "possible")


@dataclass(frozen=True)
class LongerCoverageReport:
    """The coverage of longer paths by kind, and by function and kind: most of unknown ones first."""

    program: str
    kinds: tuple[tuple[LongerKind, LongerCovered], ...]
    functions: tuple[tuple[str, LongerKind, LongerCovered], ...]
    not_told: tuple[NotTold, ...]


def report_longer_coverage(
    profile: Profile, longer: LongerPaths, pattern: str | None = None
) -> LongerCoverageReport:
    """The coverage of the functions that ``pattern`` selects."""
    found = cover_longer(profile, longer, select(profile, pattern))
    rows = [(key, kind, each) for (key, kind), each in found.functions.items() if each.possible]
    left_out = [
        NotTold(LongerKind.LOOP, key, f"{counted(number, 'loop')} inside each other are too many to count")
        for key, number in found.left_out.items()
    ]
    return LongerCoverageReport(
        profile.program,
        tuple((kind, found.of(kind)) for kind in LongerKind),
        tuple(sorted(rows, key=lambda row: (-row[2].unknown, -row[2].executed, row[0], row[1].value))),
        (*longer.not_told, *left_out),
    )


def numbers(covered: LongerCovered) -> tuple[int, ...]:
    """How many were executed, perhaps executed, never executed, and possible."""
    return tuple(getattr(covered, name) for name in _NUMBERS)


def to_document(report: LongerCoverageReport) -> dict[str, Any]:
    """The report as dictionaries and lists."""
    return {
        "program": report.program,
        "kinds": [{"kind": kind.value, **_document(each)} for kind, each in report.kinds],
        "functions": [
            {"function": key, "kind": kind.value, **_document(each)} for key, kind, each in report.functions
        ],
        "not_told": [
            {
                "function": each.function,
                **({} if each.kind is None else {"kind": each.kind.value}),
                "reason": each.reason,
            }
            for each in report.not_told
        ],
    }


def _document(covered: LongerCovered) -> dict[str, int]:
    return dict(zip(_NUMBERS, numbers(covered), strict=True))


def to_plain(report: LongerCoverageReport) -> str:
    """One row a line; the first field of each says what the row is about."""
    rows: list[tuple[object, ...]] = [
        ("#kind", "kind", *_NUMBERS),
        ("#function", "name", "kind", *_NUMBERS),
        ("#nottold", "kind", "function", "reason"),
    ]
    rows += [("kind", kind.value, *numbers(each)) for kind, each in report.kinds]
    rows += [("function", key, kind.value, *numbers(each)) for key, kind, each in report.functions]
    rows += [
        ("nottold", "" if each.kind is None else each.kind.value, each.function, each.reason)
        for each in report.not_told
    ]
    return tabbed(rows)
