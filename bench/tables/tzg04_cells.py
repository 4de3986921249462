"""Cells of the tables of TZG04: flow, bounds and what is known exactly, at degrees that each program has."""

from __future__ import annotations

from collections.abc import Callable

from bench.build.configurations import DEGREE_FROM, overlap_config
from bench.figures.crossings import KINDS, ONLY_PATHS
from bench.figures.longer_bounds import DEGREES, bounds_as_counted, longer_bounds
from bench.measures.model import Figures, Json
from bench.measures.profiled import Profiled
from bench.support.statistics import geometric_mean
from bench.tables.layout.cells import quotient
from bench.tables.layout.means import Cell, Mean, of_sums
from bench.tables.layout.model import Programs
from bench.tables.layout.values import Value

BOUNDS = Profiled(DEGREE_FROM, what="longer bounds", compute=longer_bounds)
AUTO = Profiled(overlap_config("auto"), what="bounds as counted", compute=bounds_as_counted)

PATHS, CHOSEN, LARGEST = "paths", "chosen", "largest"
WHICH = {PATHS: "by paths", CHOSEN: "by a third", LARGEST: "by all"}


def _found(figures: Figures) -> Json:
    return figures.get(BOUNDS.key)


def _real(figures: Json, kinds: tuple[str, ...] = KINDS) -> int:
    return sum(figures["real"][kind] for kind in kinds)


def _at(found: Json, degree: int, kinds: tuple[str, ...], what: str) -> int:
    """A sum over kinds at the largest degree of the figures that is not above this one."""
    known = max(int(each) for each in found["degrees"] if int(each) <= degree)
    return sum(found["degrees"][str(known)][kind].get(what, 0) for kind in kinds)


def _degree(found: Json, which: str) -> int:
    return ONLY_PATHS if which == PATHS else int(found[which])


def flow(which: str, what: str, kinds: tuple[str, ...] = KINDS) -> Cell:
    """The sum of lower or upper bounds at a degree, or another figure of it."""

    def cell(figures: Figures) -> Value | None:
        found = _found(figures)
        return None if found is None else _at(found, _degree(found, which), kinds, what)

    return cell


def real_flow(kinds: tuple[str, ...] = KINDS) -> Cell:
    """How often back edges, calls and returns were crossed."""

    def cell(figures: Figures) -> Value | None:
        found = _found(figures)
        return None if found is None else _real(found, kinds)

    return cell


def relative(which: str, what: str, kinds: tuple[str, ...] = KINDS) -> Cell:
    """Flow relative to the real one."""
    return quotient(flow(which, what, kinds), real_flow(kinds))


def by_auto(what: str) -> Cell:
    """Relative flow as a run with degrees that were chosen has it."""

    def cell(figures: Figures) -> Value | None:
        found = figures.get(AUTO.key)
        if found is None or not _real(found):
            return None
        return sum(int(found[kind].get(what, 0)) for kind in KINDS) / _real(found)

    return cell


def together(which: str, what: str) -> Mean:
    """Relative flow of all programs together, as the averages of the paper are."""
    return of_sums("all flow together", flow(which, what), real_flow())


def share(of: Callable[[Json], int]) -> Cell:
    """A part of how often paths were executed."""

    def cell(figures: Figures) -> Value | None:
        found = _found(figures)
        executed = 0 if found is None else int(found["paths"])
        return of(found) / executed if executed else None

    return cell


def loops(found: Json) -> int:
    """Paths that ended on back edges, of loops of one block too."""
    return int(found["real"]["loop"]) + int(found["turns"])


def returns(found: Json) -> int:
    """Paths that returned to functions with probes."""
    return int(found["real"]["return"])


def returned_elsewhere(found: Json) -> int:
    """Paths that returned to others, or nobody knows to whom."""
    return int(found["exits"]) - returns(found)


def known_exactly(found: Json, degree: int, kinds: tuple[str, ...] = KINDS) -> int:
    """Of the pairs that paths allow, those of which a degree knows how often they were executed.

    Those that it does not allow any more were executed 0 times.
    """
    possible = _at(found, ONLY_PATHS, kinds, "pairs")
    return possible - _at(found, degree, kinds, "pairs") + _at(found, degree, kinds, "exact")


def exactly(which: str) -> Cell:
    """How many longer paths a degree knows exactly."""

    def cell(figures: Figures) -> Value | None:
        found = _found(figures)
        return None if found is None else known_exactly(found, _degree(found, which))

    return cell


def _relative_at(programs: Programs, degree: int, what: str, kinds: tuple[str, ...]) -> list[float]:
    every = [found for figures in programs.values() if (found := _found(figures)) is not None]
    return [_at(found, degree, kinds, what) / _real(found, kinds) for found in every if _real(found, kinds)]


def _average(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _row(programs: Programs, degree: int) -> Json:
    """What programs know on average at a degree; one with a smaller largest degree knows no more."""
    row: dict[str, float] = {}
    groups = {"all": KINDS, "loops": ("loop",), "procedures": ("call", "return")}
    for name, kinds in groups.items():
        definite = _average(_relative_at(programs, degree, "definite", kinds))
        potential = [each for each in _relative_at(programs, degree, "potential", kinds) if each > 0]
        if definite is not None and potential:
            row[f"{name}-definite"], row[f"{name}-potential"] = definite, geometric_mean(potential)
    every = [found for figures in programs.values() if (found := _found(figures)) is not None]
    shares = [
        known_exactly(found, degree) / possible
        for found in every
        if (possible := _at(found, ONLY_PATHS, KINDS, "pairs"))
    ]
    exact = _average(shares)
    return row if exact is None else {**row, "exact": exact}


def by_degree(programs: Programs, overall: Json) -> Programs:
    """One row a degree, as far as the program with the largest one goes."""
    largest = max((found["largest"] for each in programs.values() if (found := _found(each))), default=None)
    if largest is None:
        return {}
    rows = {str(degree): _row(programs, degree) for degree in DEGREES if degree < max(largest, 0)}
    return {**rows, "largest": _row(programs, largest)}
