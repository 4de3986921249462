"""Threads: which profilers lose counts, and the cost of losing none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from bench.build.configurations import label_of, with_baselines
from bench.figures.lost_counts import ROUNDS, LostCounts
from bench.figures.own_counts import OwnCounts
from bench.measures.instructions import Instructions
from bench.measures.model import Figures, Json
from bench.measures.times import Times
from bench.suite.model import CaseName
from bench.suite.threaded import THREADS
from bench.tables.layout.means import Cell
from bench.tables.layout.model import Column, Plot, Programs, Section, Table
from bench.tables.layout.ratios import elapsed_ratio, instruction_ratio, time_ratio
from bench.tables.layout.values import ADDED, COUNT, TEXT, Format, Spread, Value

_OURS = ("edges", "paths")
_CONFIGS = (*_OURS, "clang-ir", "clang-ir-atomic", "gcc-arcs", "gcc-arcs-atomic")
_SMALL: CaseName = "train"
"""Ratios of instructions do not depend on the size of the input, and callgrind is slow."""


def _part(number: float) -> str:
    """A part of one in percent, with enough digits that it is 0 only if it is zero."""
    return "0" if number == 0 else f"{100 * number:.4f}%"


def _formatted_part(value: Value) -> str:
    if not isinstance(value, Spread):
        return _part(float(value)) if isinstance(value, int | float) else str(value)
    if value.low == value.high:
        return _part(value.median)
    return f"{_part(value.median)} ({_part(value.low)} .. {_part(value.high)})"


PART: Format = _formatted_part


def from_least_to_most(values: Sequence[float]) -> Spread | None:
    """The median, the minimum and the maximum: the worst round is of interest too."""
    return Spread(median(values), min(values), max(values)) if values else None


def lost_share(config: str) -> Cell:
    """The share of wrong counts over all rounds."""

    def cell(figures: Figures) -> Value | None:
        rounds = _rounds(figures, config)
        return from_least_to_most([each["wrong"] / each["of"] for each in rounds if each["of"]])

    return cell


def lost_most(config: str) -> Cell:
    """How many counts are wrong in the worst round."""

    def cell(figures: Figures) -> Value | None:
        return max((each["wrong"] for each in _rounds(figures, config)), default=None)

    return cell


def compared(config: str) -> Cell:
    """The share of counts in functions that are compared, the number of these, and unsteady functions.

    Unsteady are functions that should do the same work in every run, but had different counts.
    """

    def cell(figures: Figures) -> Value | None:
        found = figures.get(LostCounts(config).key)
        if not found or not found["of counts"]:
            return None
        share = 100 * found["counts"] / found["of counts"]
        functions, unsteady = found["functions"], len(found["left out"])
        return f"{share:.3f}% ({functions:,} of {found['of functions']:,}, {unsteady:,} unsteady)"

    return cell


def _rounds(figures: Figures, config: str) -> list[Json]:
    found: list[Json] = (figures.get(LostCounts(config).key) or {}).get("rounds", [])
    return found


def _own(config: str, name: str) -> Cell:
    """Wrong counts by the program's own account in all rounds together, or the number of all counts."""

    def cell(figures: Figures) -> Value | None:
        found = figures.get(OwnCounts(config).key)
        return sum(each[name] for each in found) if found else None

    return cell


def _with_own_counts(programs: Programs, overall: Json) -> Programs:
    return {name: figures for name, figures in programs.items() if name == THREADS.name}


def _columns(
    cell: Callable[[str], Cell], format: Format, configs: Sequence[str] = _CONFIGS
) -> tuple[Column, ...]:
    return tuple(Column(config, label_of(config), cell(config), format) for config in configs)


def _ratio(of: Callable[..., Value | None], *more: str) -> Callable[[str], Cell]:
    return lambda config: lambda figures: of(figures, config, *more)


_OWN_COUNTS = (("wrong", "wrong"), ("of", "counts"))

_SECTIONS = (
    Section(
        "lost",
        "Counts that are wrong",
        _columns(lost_share, PART),
        f"The share of counts that are wrong: the median of {ROUNDS} rounds, in brackets the best and the "
        "worst. Exact counts are those of atomic counters for clang and gcc; for trodden, those of a normal "
        "run and one under valgrind, which executes one thread at a time. Functions in which these two "
        "differ, and those that distribute work, depend on the schedule and are left out.",
    ),
    Section("lost-most", "Wrong counts in the worst round", _columns(lost_most, COUNT)),
    Section(
        "compared",
        "Counts and functions that are compared",
        _columns(compared, TEXT),
        "Unsteady are functions that should do the same work in every run, but have different counts in two "
        "runs of the exact build. They are left out like those that distribute work: losses in either would "
        "not be seen here.",
    ),
    Section(
        "own-counts",
        "Counts compared with those that the program keeps itself",
        tuple(
            Column(f"{config}-{name}", f"{label_of(config)}: {label}", _own(config, name), COUNT)
            for config in _OURS
            for name, label in _OWN_COUNTS
        ),
        f"{THREADS.name} counts how often each of its functions is entered, and how often the branch in the "
        "hot one is taken. All rounds together.",
        rows=_with_own_counts,
    ),
    Section(
        "instructions",
        "Instructions added",
        _columns(_ratio(instruction_ratio, _SMALL), ADDED),
        "On the small input, all threads together.",
    ),
    Section("time", "Processor time added", _columns(_ratio(time_ratio), ADDED)),
    Section("elapsed", "Elapsed time added", _columns(_ratio(elapsed_ratio), ADDED)),
)

TABLE = Table(
    name="threads",
    title="Threads",
    description=(
        f"Programs that run several threads. {THREADS.name} is ours: eight threads call one function of a "
        "few instructions a hundred million times in total; four return, two end by pthread_exit, two are "
        "cancelled. Lost counts, and the cost of atomic counters, are caused by threads that count at the "
        "same time, so both depend on the number of cores and on their other load."
    ),
    measures=(
        *(Instructions(config, _SMALL) for config in with_baselines(_CONFIGS)),
        Times(_CONFIGS),
        *(LostCounts(config) for config in _CONFIGS),
        *(OwnCounts(config) for config in _OURS),
    ),
    sections=_SECTIONS,
    plots=(
        Plot("lost", "Counts that are wrong, median", "lost", _CONFIGS, "part of all counts"),
        Plot("time", "Processor time, plain build = 1", "time", _CONFIGS, "ratio", base=1.0),
    ),
    programs=lambda program: program.threads and program.client is None,
    extra_programs=(THREADS,),
)
