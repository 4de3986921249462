"""Threads: who loses counts, and what it costs that others do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from bench.build.configurations import known, with_peers
from bench.figures.books import Books
from bench.figures.lost_counts import ROUNDS, Lost
from bench.figures.own_counts import THREADS
from bench.measures.instructions import Instructions
from bench.measures.model import Figures, Json
from bench.measures.times import Times
from bench.suite.model import CaseName
from bench.tables.layout.means import Cell
from bench.tables.layout.model import Column, Plot, Programs, Section, Table
from bench.tables.layout.ratios import elapsed_ratio, instruction_ratio, time_ratio
from bench.tables.layout.values import ADDED, COUNT, TEXT, Show, Spread, Value

_OURS = ("edges", "paths")
_WAYS = (*_OURS, "clang-ir", "clang-ir-atomic", "gcc-arcs", "gcc-arcs-atomic")
_SMALL: CaseName = "train"
"""Instructions do not depend on how long it takes, and callgrind is slow."""


def _part(number: float) -> str:
    """A part of one in percent; nothing is nothing, and little is not nothing."""
    return "0" if number == 0 else f"{100 * number:.4f}%"


def _shown_part(value: Value) -> str:
    if not isinstance(value, Spread):
        return _part(float(value)) if isinstance(value, int | float) else str(value)
    if value.low == value.high:
        return _part(value.median)
    return f"{_part(value.median)} ({_part(value.low)} .. {_part(value.high)})"


PART: Show = _shown_part


def from_least_to_most(values: Sequence[float]) -> Spread | None:
    """The median, the least and the most: with losses the worst round is of interest too."""
    return Spread(median(values), min(values), max(values)) if values else None


def lost_share(way: str) -> Cell:
    """Which part of the counts is wrong, from round to round."""

    def cell(figures: Figures) -> Value | None:
        rounds = _rounds(figures, way)
        return from_least_to_most([each["wrong"] / each["of"] for each in rounds if each["of"]])

    return cell


def lost_most(way: str) -> Cell:
    """How many counts are wrong in the worst round."""

    def cell(figures: Figures) -> Value | None:
        return max((each["wrong"] for each in _rounds(figures, way)), default=None)

    return cell


def compared(way: str) -> Cell:
    """Which part of all counts is in functions that are compared, how many these are, and what is not known.

    Unsteady are those that do the same work each time by what is known of them, and yet have not.
    """

    def cell(figures: Figures) -> Value | None:
        found = figures.get(Lost(way).key)
        if not found or not found["of counts"]:
            return None
        share = 100 * found["counts"] / found["of counts"]
        functions, unsteady = found["functions"], len(found["left out"])
        return f"{share:.3f}% ({functions:,} of {found['of functions']:,}, {unsteady:,} unsteady)"

    return cell


def _rounds(figures: Figures, way: str) -> list[Json]:
    found: list[Json] = (figures.get(Lost(way).key) or {}).get("rounds", [])
    return found


def _booked(way: str, name: str) -> Cell:
    """What is wrong by the program's own books, in all rounds together, or of how many counts."""

    def cell(figures: Figures) -> Value | None:
        found = figures.get(Books(way).key)
        return sum(each[name] for each in found) if found else None

    return cell


def _with_books(programs: Programs, whole: Json) -> Programs:
    return {name: figures for name, figures in programs.items() if name == THREADS.name}


def _columns(cell: Callable[[str], Cell], show: Show, ways: Sequence[str] = _WAYS) -> tuple[Column, ...]:
    return tuple(Column(way, known(way).shown, cell(way), show) for way in ways)


def _ratio(of: Callable[..., Value | None], *more: str) -> Callable[[str], Cell]:
    return lambda way: lambda figures: of(figures, way, *more)


_IN_BOOKS = (("wrong", "wrong"), ("of", "counts"))

_SECTIONS = (
    Section(
        "lost",
        "Counts that are wrong",
        _columns(lost_share, PART),
        f"The part of all counts that is wrong; of {ROUNDS} rounds the median, in brackets the best and "
        "the worst. What is right is told for clang and gcc by their atomic counters, for trodden by "
        "itself: by a run as it is and one under valgrind, which lets one thread run at a time. Functions "
        "in which these two differ, and those that hand out work, depend on who comes first and are left "
        "out.",
    ),
    Section("lost-most", "Wrong counts in the worst round", _columns(lost_most, COUNT)),
    Section(
        "compared",
        "Counts, and functions, that are compared",
        _columns(compared, TEXT),
        "Unsteady are functions that should do the same work in every run, but of which two runs of the "
        "build that is right tell different counts. They are left out like those that hand out work: losses "
        "in either would not be seen here.",
    ),
    Section(
        "books",
        "Counts beside the program's own books",
        tuple(
            Column(f"{way}-{name}", f"{known(way).shown}: {shown}", _booked(way, name), COUNT)
            for way in _OURS
            for name, shown in _IN_BOOKS
        ),
        f"{THREADS.name} says how often each of its functions was entered and which way its hot one went. "
        "All rounds together.",
        rows=_with_books,
    ),
    Section(
        "instructions",
        "Instructions added",
        _columns(_ratio(instruction_ratio, _SMALL), ADDED),
        "On the small input, all threads together.",
    ),
    Section("time", "Processor time added", _columns(_ratio(time_ratio), ADDED)),
    Section("elapsed", "Time by the clock added", _columns(_ratio(elapsed_ratio), ADDED)),
)

TABLE = Table(
    name="threads",
    title="Threads",
    about=(
        f"Programs that run several threads. {THREADS.name} is ours: eight threads call one function of a "
        "few instructions a hundred million times in all, four return, two end by pthread_exit, two are "
        "cancelled. Losses, and the slowness of atomic counters, come from threads that really count at the "
        "same time, so both depend on the number of cores and on what else they do."
    ),
    needs=(
        *(Instructions(way, _SMALL) for way in with_peers(_WAYS)),
        Times(_WAYS),
        *(Lost(way) for way in _WAYS),
        *(Books(way) for way in _OURS),
    ),
    sections=_SECTIONS,
    plots=(
        Plot("lost", "Counts that are wrong, median", "lost", _WAYS, "part of all counts"),
        Plot("time", "Processor time, plain build = 1", "time", _WAYS, "ratio", base=1.0),
    ),
    programs=lambda program: program.threads and program.driver is None,
    also=(THREADS,),
)
