"""Scores of estimates as rows: by program, by what is scored, by groups of programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bench.build.packages import PACKAGES
from bench.figures.estimated import LLVM, PAPER, SHIPPED
from bench.measures.model import Figures, Json
from bench.papers.wl94 import KINDS, LONG, PERCENT, PERCENTS, SPEC92_AVERAGES, SPEC92_MEANS
from bench.support.statistics import geometric_mean
from bench.tables.layout.means import AVERAGE, Cell, Mean, numbers, of_rows
from bench.tables.layout.model import Programs, Rows
from bench.tables.layout.values import Value

FITTED = "fitted"
PRINTED = "paper"
UNWEIGHTED, WEIGHTED = 0, 1

ESTIMATES: Mapping[str, str] = {
    PAPER: "rates of WL94",
    SHIPPED: "rates that come with trodden",
    FITTED: "rates fitted to other packages",
    LLVM: "LLVM inside functions, calls ours",
}
"""All estimates, in words."""

_COMMANDS = frozenset(place.rpartition("/")[2] for package in PACKAGES for place in package.commands)
_GROUPS: Mapping[str, Callable[[str], bool]] = {
    "all": lambda name: True,
    "commands of Unix": lambda name: name in _COMMANDS,
    "others": lambda name: name not in _COMMANDS,
}


def scores_of(level: str) -> Rows:
    """A row a program: the scores of all its estimates at a level of optimisation."""

    def rows(programs: Programs, whole: Json) -> Programs:
        fitted = (whole or {}).get("scores", {})
        return {
            name: {**(figures.get(f"estimated/{level}") or {}), FITTED: fitted.get(name, {}).get(level)}
            for name, figures in programs.items()
        }

    return rows


def scored(estimate: str, kind: str, percent: int, which: int = WEIGHTED) -> Cell:
    """One score of a program; none where nothing of the kind ran, or where there is no such estimate."""

    def cell(figures: Figures) -> Value | None:
        found = (figures.get(estimate) or {}).get(kind)
        pair = found[PERCENTS.index(percent)] if found else None
        return None if pair is None else float(pair[which])

    return cell


def _geometric(cell: Cell, rows: Sequence[Figures]) -> Value | None:
    """A score of 0 is as good a score as any, and makes it 0."""
    known = numbers(cell, rows)
    if not known:
        return None
    return of_rows(0.0 if 0 in known else geometric_mean(known), len(known), rows)


GEOMETRIC = Mean("geometric mean", _geometric)


def by_kind_and_percent(level: str, means: Sequence[Mean]) -> Rows:
    """A row for each kind of score and percentage: means of each estimate over all programs, and WL94's."""

    def rows(programs: Programs, whole: Json) -> Programs:
        members = list(scores_of(level)(programs, whole).values())
        found: dict[str, Figures] = {}
        for kind, long in zip(KINDS, LONG, strict=True):
            for place, percent in enumerate(PERCENTS):
                row: dict[str, Json] = {
                    name: {mean.label: mean.of(scored(name, kind, percent), members) for mean in means}
                    for name in ESTIMATES
                }
                printed = {
                    GEOMETRIC.label: SPEC92_MEANS[kind][place][WEIGHTED],
                    AVERAGE.label: SPEC92_AVERAGES[kind][place][WEIGHTED],
                }
                found[f"{long}, {percent}%"] = {**row, PRINTED: printed}
        return found

    return rows


def by_group(level: str) -> Rows:
    """A row for each estimate and group of programs: the averages of all scores."""

    def rows(programs: Programs, whole: Json) -> Programs:
        every = scores_of(level)(programs, whole)
        found: dict[str, Figures] = {}
        for estimate, shown in ESTIMATES.items():
            for group, belongs in _GROUPS.items():
                members = [row for name, row in every.items() if belongs(name)]
                if members:
                    found[f"{shown}: {group}"] = {
                        kind: AVERAGE.of(scored(estimate, kind, PERCENT), members) for kind in KINDS
                    }
        return found

    return rows


def given(*keys: str) -> Cell:
    """What the row holds already, under one key or under another below it."""

    def cell(figures: Figures) -> Value | None:
        found: Json = figures
        for key in keys:
            found = (found or {}).get(key)
        value: Value | None = found
        return value

    return cell
