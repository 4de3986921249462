"""WL94 Tables 2 to 8: how well estimates predict profiles, compared with LLVM's and the paper's."""

from __future__ import annotations

from collections.abc import Sequence

from bench.figures.cross_validation import cross_validated
from bench.figures.estimate_evaluation import LEVELS, SHIPPED, EstimateEvaluation, is_scored
from bench.measures.model import Json
from bench.papers.wl94 import (
    COMMANDS,
    KINDS,
    LONG,
    PERCENT,
    PERCENTS,
    SCORES,
    SHORT,
    SPEC,
    SPEC92,
    SPEC92_MEANS,
    SPEC_AVERAGE,
    UNIX,
)
from bench.suite import SUITE
from bench.suite.calibration import FITTED_TO
from bench.suite.model import SuiteProgram
from bench.suite.packages import PACKAGES
from bench.tables.layout.cells import under
from bench.tables.layout.means import AVERAGE
from bench.tables.layout.model import Column, PaperRow, Plot, Programs, Section, Table
from bench.tables.layout.values import FACTOR
from bench.tables.wl94_scores import (
    ESTIMATES,
    FITTED,
    GEOMETRIC,
    PRINTED,
    UNWEIGHTED,
    WEIGHTED,
    by_group,
    by_kind_and_percent,
    scored,
    scores_of,
)

_SPEC_MEAN = f"SPECint92, {GEOMETRIC.label}"
_SPEC_AVERAGE = f"SPECint92, {AVERAGE.label}"
_UNIX_MEAN = "Unix commands, average"
_WHICH = (("U", UNWEIGHTED), ("W", WEIGHTED))
_MEANS = (GEOMETRIC, AVERAGE)
_NAMES = {"O0": "without optimisation", "O2": "with -O2"}


def _scored_here() -> set[str]:
    return {program.name for program in SUITE if is_scored(program)}


def _of_kind(level: str, number: int, kind: str) -> Section:
    """One of Tables 2 to 7 in the form of the paper, of trodden's default estimate."""
    columns = [
        Column(
            f"{letter}{percent}",
            f"{letter} {percent}%",
            scored(SHIPPED, kind, percent, which),
            FACTOR,
            _MEANS,
        )
        for percent in PERCENTS
        for letter, which in _WHICH
    ]
    paper = [
        PaperRow(
            f"{name}, WL94",
            f"WL94 Table {number}",
            {
                f"{letter}{percent}": pair[which]
                for percent, pair in zip(PERCENTS, pairs, strict=True)
                for letter, which in _WHICH
            },
        )
        for name, pairs in [*SPEC92[kind].items(), (_SPEC_MEAN, SPEC92_MEANS[kind])]
    ]
    return Section(
        f"{level}-{kind}",
        f"{LONG[KINDS.index(kind)].capitalize()}, {_NAMES[level]} (WL94 Table {number})",
        tuple(columns),
        f"With the {ESTIMATES[SHIPPED]}: U is the share of the most frequent ones that are also among the "
        "most frequent of the estimate, W the same weighted by their counts.",
        tuple(paper),
        scores_of(level),
    )


def _at_20(level: str, estimate: str) -> Section:
    """Table 8 for one estimate."""
    columns = [
        Column(kind, f"{long} ({short})", scored(estimate, kind, PERCENT), FACTOR, _MEANS)
        for kind, long, short in zip(KINDS, LONG, SHORT, strict=True)
    ]
    return Section(
        f"{level}-{estimate}",
        f"{ESTIMATES[estimate]}, {_NAMES[level]}, weighted at {PERCENT}% (WL94 Table 8)",
        tuple(columns),
        "Empty until all programs have been requested." if estimate == FITTED else "",
        paper=tuple(_printed_at_20()),
        rows=scores_of(level),
    )


def _printed_at_20() -> list[PaperRow]:
    """The programs of the paper that are scored here too, and means: the geometric one, then averages."""
    here = _scored_here()
    rows = {name: row for name, row in SCORES.items() if name in here}
    found = [
        PaperRow(
            f"{name}, WL94",
            "WL94 Table 8" if name in COMMANDS else "WL94 Tables 2 to 7",
            dict(zip(KINDS, row, strict=True)),
        )
        for name, row in rows.items()
    ]
    means = (
        (_SPEC_MEAN, "WL94 Tables 2 to 7", SPEC),
        (_SPEC_AVERAGE, "WL94 Tables 2 to 7, computed from the rows", SPEC_AVERAGE),
        (_UNIX_MEAN, "WL94 Table 8", UNIX),
    )
    return found + [
        PaperRow(f"{label}, WL94", source, dict(zip(KINDS, row, strict=True))) for label, source, row in means
    ]


def _means(level: str) -> Section:
    """All estimates side by side, at all percentages."""
    every = {**ESTIMATES, PRINTED: "WL94, SPECint92"}
    columns = [
        Column(f"{estimate}-{mean.label}", f"{label}, {mean.label}", under(estimate, mean.label), FACTOR)
        for mean in _MEANS
        for estimate, label in every.items()
    ]
    return Section(
        f"{level}-means",
        f"Means of weighted scores, {_NAMES[level]}",
        tuple(columns),
        "A score of 0 makes a geometric mean 0. WL94 prints geometric means; its averages are computed here "
        "from its rows.",
        rows=by_kind_and_percent(level, _MEANS),
        first="score",
    )


def _groups(level: str) -> Section:
    """Unix commands and other programs separately, as in the paper."""
    columns = [Column(kind, long, under(kind), FACTOR) for kind, long in zip(KINDS, LONG, strict=True)]
    return Section(
        f"{level}-groups",
        f"Averages of weighted scores at {PERCENT}%, {_NAMES[level]}",
        tuple(columns),
        paper=tuple(_printed_at_20()[-2:]),
        rows=by_group(level),
        first="estimate",
    )


def _sections() -> list[Section]:
    found: list[Section] = []
    for level in LEVELS:
        found += [_means(level), _groups(level)]
        found += [_at_20(level, estimate) for estimate in ESTIMATES]
        found += [_of_kind(level, number, kind) for number, kind in enumerate(KINDS, 2)]
    return found


def _plot(level: str) -> Plot:
    return Plot(
        level,
        f"Weighted scores at {PERCENT}%, average, {_NAMES[level]}",
        f"{level}-means",
        tuple(f"{estimate}-{AVERAGE.label}" for estimate in (*ESTIMATES, PRINTED)),
        "score",
        rows=tuple(f"{long}, {PERCENT}%" for long in LONG),
    )


def _overall(programs: Sequence[SuiteProgram], figures: Programs) -> Json:
    """Scores with rates fitted to all other packages, if these are all programs or it is known already."""
    here = _scored_here()
    return cross_validated(here, here <= {program.name for program in programs})


def _shared_packages() -> list[str]:
    """The packages of which some commands are scored here, and the shipped rates were fitted to others."""
    here, found = _scored_here(), []
    for package in PACKAGES:
        names = {path.rpartition("/")[2] for path in package.commands}
        if names & FITTED_TO and names & here:
            found.append(package.name)
    return found


TABLE = Table(
    name="wl94",
    title="Estimates: WL94 Tables 2 to 8",
    description=(
        "Profiles of programs that have not run, scored against measured profiles by Wall's matching (WL94 "
        "§7): of the most frequent 10 to 50% of blocks, edges, functions or calls, how many are also among "
        "the most frequent of the estimate. Every program is built without optimisation, which comes closest "
        "to the paper's blocks, and with -O2, and run by a script of short runs. Estimates are made with "
        "the rates of WL94; with those of trodden, which were fitted to none of these programs, but in part "
        f"to others of the same packages ({', '.join(_shared_packages())}), which share code with these; "
        "with rates that were fitted to the programs of all other packages, at both levels of optimisation; "
        "and with the frequencies that LLVM's opt computes inside each function of the same IR, with our "
        "calls on top, since LLVM has none. Rates fitted to other packages need all programs: their columns "
        "are empty until all have been requested. The paper's programs of the same names are those of 1994."
    ),
    measures=tuple(EstimateEvaluation(level) for level in LEVELS),
    sections=tuple(_sections()),
    plots=tuple(_plot(level) for level in LEVELS),
    programs=is_scored,
    overall=_overall,
)
