"""Scores of estimates as rows: by program, by kind of score, by group of programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bench.figures.estimate_evaluation import LLVM, PAPER, SHIPPED
from bench.measures.model import Figures, Json
from bench.papers.wl94 import KINDS, LONG, PERCENT, PERCENTS, SPEC92_AVERAGES, SPEC92_MEANS
from bench.suite.packages import PACKAGES
from bench.support.statistics import geometric_mean
from bench.tables.layout.means import AVERAGE, Cell, Mean, numbers, of_rows
from bench.tables.layout.model import Programs, Rows
from bench.tables.layout.values import Value

FITTED = "fitted"
PRINTED = "paper"
UNWEIGHTED, WEIGHTED = 0, 1

ESTIMATES: Mapping[str, str] = {
    PAPER: "rates of WL94",
    SHIPPED: "rates of trodden",
    FITTED: "rates fitted to other packages",
    LLVM: "LLVM in functions, our calls",
}
"""All estimates, in words."""

_COMMANDS = frozenset(path.rpartition("/")[2] for package in PACKAGES for path in package.commands)
_GROUPS: Mapping[str, Callable[[str], bool]] = {
    "all": lambda name: True,
    "Unix commands": lambda name: name in _COMMANDS,
    "others": lambda name: name not in _COMMANDS,
}


def scores_of(level: str) -> Rows:
    """One row a program: the scores of all its estimates at a level of optimisation."""

    def rows(programs: Programs, overall: Json) -> Programs:
        fitted = (overall or {}).get("scores", {})
        return {
            name: {**(figures.get(f"estimated/{level}") or {}), FITTED: fitted.get(name, {}).get(level)}
            for name, figures in programs.items()
        }

    return rows


def scored(estimate: str, kind: str, percent: int, which: int = WEIGHTED) -> Cell:
    """One score of a program; none if nothing of the kind was executed or there is no such estimate."""

    def cell(figures: Figures) -> Value | None:
        found = (figures.get(estimate) or {}).get(kind)
        pair = found[PERCENTS.index(percent)] if found else None
        return None if pair is None else float(pair[which])

    return cell


def _geometric(cell: Cell, rows: Sequence[Figures]) -> Value | None:
    """A score of 0 is a valid score, and makes the mean 0."""
    found = numbers(cell, rows)
    if not found:
        return None
    return of_rows(0.0 if 0 in found else geometric_mean(found), len(found), rows)


GEOMETRIC = Mean("geometric mean", _geometric)


def by_kind_and_percent(level: str, means: Sequence[Mean]) -> Rows:
    """One row for each kind of score and percentage: means of each estimate over all programs, and WL94's."""

    def rows(programs: Programs, overall: Json) -> Programs:
        members = list(scores_of(level)(programs, overall).values())
        found: dict[str, Figures] = {}
        for kind, long in zip(KINDS, LONG, strict=True):
            for position, percent in enumerate(PERCENTS):
                row: dict[str, Json] = {
                    name: {mean.label: mean.of(scored(name, kind, percent), members) for mean in means}
                    for name in ESTIMATES
                }
                printed = {
                    GEOMETRIC.label: SPEC92_MEANS[kind][position][WEIGHTED],
                    AVERAGE.label: SPEC92_AVERAGES[kind][position][WEIGHTED],
                }
                found[f"{long}, {percent}%"] = {**row, PRINTED: printed}
        return found

    return rows


def by_group(level: str) -> Rows:
    """One row for each estimate and group of programs: the averages of all scores."""

    def rows(programs: Programs, overall: Json) -> Programs:
        every = scores_of(level)(programs, overall)
        found: dict[str, Figures] = {}
        for estimate, label in ESTIMATES.items():
            for group, belongs in _GROUPS.items():
                members = [row for name, row in every.items() if belongs(name)]
                if members:
                    found[f"{label}: {group}"] = {
                        kind: AVERAGE.of(scored(estimate, kind, PERCENT), members) for kind in KINDS
                    }
        return found

    return rows
