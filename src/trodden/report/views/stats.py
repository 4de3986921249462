"""Statistics of a program's paths, as in BL96 Table 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trodden.profile.analysis.stats import Lengths, Stats, stats, stats_together
from trodden.profile.model import Profile
from trodden.profile.select import select
from trodden.report.fields import tabbed
from trodden.report.views.instruction_kind import InstructionKind, instruction_kind

_COLUMNS = (
    *("possible", "paths", "cut short", "longest edges", "longest instructions"),
    *("average edges", "average instructions", "correct", "correct by walks", "predicted longest edges"),
    *("predicted longest instructions", "predicted average edges", "predicted average instructions"),
    *("routines", "most paths", "average paths"),
)


@dataclass(frozen=True)
class StatsReport:
    """The figures of the program and of each executed function, most paths first.

    The functions ``without`` are those whose paths were not counted; ``instructions`` says which instructions
    lengths are in.
    """

    program: str
    whole: Stats
    functions: Mapping[str, Stats]
    without: tuple[str, ...]
    instructions: InstructionKind = InstructionKind.IR


def report_stats(profile: Profile, pattern: str | None = None) -> StatsReport:
    """The figures of the functions that ``pattern`` selects."""
    chosen = select(profile, pattern)
    found = stats(chosen)
    ranked = sorted(found.items(), key=lambda item: (-item[1].paths, item[0]))
    return StatsReport(
        program=profile.program,
        whole=stats_together(found.values()),
        functions={name: each for name, each in ranked if each.paths},
        without=tuple(name for name in chosen if name not in found),
        instructions=instruction_kind(chosen.values()),
    )


def _figures(each: Stats) -> tuple[object, ...]:
    return (
        *(each.possible, each.paths, each.cut_short),
        *_lengths(each.lengths),
        *(each.correct, each.correct_walks),
        *_lengths(each.predicted_lengths),
        *(each.routines, each.most_paths, each.average_paths),
    )


def _lengths(lengths: Lengths) -> tuple[object, ...]:
    longest = lengths.longest_edges, lengths.longest_instructions
    return *longest, lengths.average_edges, lengths.average_instructions


def to_document(report: StatsReport, per_function: bool) -> dict[str, Any]:
    """The figures as dictionaries; names are those of the columns, with _ instead of blanks."""
    names = [name.replace(" ", "_") for name in _COLUMNS]
    document: dict[str, Any] = {
        "program": report.program,
        "whole": dict(zip(names, _figures(report.whole), strict=True)),
        "without_paths": list(report.without),
        "instructions": report.instructions.value,
    }
    if per_function:
        document["functions"] = [
            {"name": name, **dict(zip(names, _figures(each), strict=True))}
            for name, each in report.functions.items()
        ]
    return document


def to_plain(report: StatsReport, per_function: bool) -> str:
    """One row for the program and one a function."""
    rows: list[Sequence[object]] = [("#program", "name", *_COLUMNS)]
    rows.append(("program", report.program, *map(_plain, _figures(report.whole))))
    if per_function:
        rows.append(("#function", "name", *_COLUMNS))
        rows += [("function", name, *map(_plain, _figures(each))) for name, each in report.functions.items()]
    rows.append(("#without", "function"))
    rows += [("without", name) for name in report.without]
    return tabbed(rows)


def _plain(value: object) -> object:
    return f"{value:.6f}" if isinstance(value, float) else value
