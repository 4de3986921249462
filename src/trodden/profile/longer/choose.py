"""The longer paths of a profile, from what tells most of them (TZG04).

A trace has the truth; pairs of paths that were counted are exact, too.  Otherwise overlapping paths give
bounds, and paths alone wider ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from trodden.errors import UsageError
from trodden.profile.derived import derive
from trodden.profile.longer.call_sites import Callees
from trodden.profile.longer.calls import calls_of
from trodden.profile.longer.ends import Ends
from trodden.profile.longer.function_paths import FunctionPaths, paths_of
from trodden.profile.longer.listing import exact_paths
from trodden.profile.longer.loops import loops_of
from trodden.profile.longer.model import (
    CrossingFlow,
    LongerPath,
    LongerPaths,
    NotTold,
    Solver,
    Source,
)
from trodden.profile.longer.overlaps import CountedCalls, extended_functions, extended_loops_of
from trodden.profile.longer.pairs import paired_loops_of
from trodden.profile.longer.traced import traced_counts
from trodden.profile.model import FunctionProfile, Profile
from trodden.recover.unit_counts import UnitCounts

MOST_LISTED = 1000
"""Of so many pairs of one loop or call that may have been executed a path is listed."""


@dataclass
class _Found:
    paths: list[LongerPath] = field(default_factory=list)
    crossings: list[CrossingFlow] = field(default_factory=list)
    not_told: list[NotTold] = field(default_factory=list)

    def add(self, found: Iterable[tuple[CrossingFlow, list[LongerPath]] | NotTold]) -> None:
        for each in found:
            if isinstance(each, NotTold):
                self.not_told.append(each)
            else:
                self.crossings.append(each[0])
                self.paths += each[1]


def solver_named(name: str) -> Solver:
    """The solver that is asked for."""
    if name not in {each.value for each in Solver}:
        raise UsageError(f"{name}: bounds are {' or '.join(each.value for each in Solver)}")
    return Solver(name)


def with_traced_pairs(profile: Profile, tell: Callable[[str], None] = lambda detail: None) -> Profile:
    """The path profile that follows from a trace, with pairs of paths; others as they are."""
    if profile.traces is None or profile.traced_pairs is not None:
        return profile
    if profile.traced_units:
        units = profile.traced_units
        counts = tuple(UnitCounts.zero(unit) for unit in units)
        profile = replace(profile, units=units, unit_counts=counts, traced_units=())
    return replace(derive(profile, "paths", tell, longer=True).profile, traced_units=profile.units)


def longer_paths(
    profile: Profile,
    solver: Solver = Solver.TIGHT,
    most: int = MOST_LISTED,
    chosen: Mapping[str, FunctionProfile] | None = None,
) -> LongerPaths:
    """The longer paths of some functions, or of all; a trace has been made use of already.

    ``most`` are listed of each loop and call, beside those that were certainly executed.
    """
    some = profile.functions if chosen is None else chosen
    everything = {key: own for key, each in profile.functions.items() if (own := paths_of(key, each))}
    functions = {key: own for key, own in everything.items() if key in some}
    if not functions:
        raise UsageError("no paths were counted; run with --profile paths, or trace")
    ends = Ends(Callees(profile), everything)
    found = _Found()
    found.not_told += [
        NotTold(None, key, "its paths were not counted", nothing=True) for key in some if key not in functions
    ]
    if profile.traced_pairs is not None:
        traced = traced_counts(profile, profile.traced_pairs, everything)
        found.not_told += traced.not_told
        found.add(
            exact_paths(crossing, each, Source.TRACE, ends.of(crossing), *traced.more(crossing))
            for crossing, each in traced.counts.items()
            if crossing.function in functions or crossing.callee in functions
        )
    else:
        extended = extended_functions(profile)
        for key, own in functions.items():
            if reason := _unreliable(own):
                found.not_told.append(NotTold(None, key, reason, nothing=True))
            elif key in extended and all(each.facts.plan.tuples is not None for each in extended[key]):
                found.add(paired_loops_of(own, extended[key], ends))
            elif key in extended and all(each.facts.plan.overlaps is not None for each in extended[key]):
                found.add(extended_loops_of(own, extended[key], ends, solver, most))
            else:
                found.add(loops_of(own, ends, solver, most))
        counted = CountedCalls(profile, everything, ends)
        found.add(counted.of(functions, solver, most))
        found.add(calls_of(ends, everything, functions, counted.functions, solver, most))
    all_functions = {key: own.function for key, own in everything.items()}
    unsorted = LongerPaths(
        tuple(found.paths),
        tuple(sorted(found.crossings, key=lambda each: (-each.least, -each.most))),
        tuple(found.not_told),
        all_functions,
    )
    return replace(unsorted, paths=tuple(sorted(found.paths, key=partial(_rank, unsorted))))


def _unreliable(own: FunctionPaths) -> str | None:
    """Why nothing follows from the counts of a function."""
    if own.function.violations:
        return f"its counts contradict each other: {own.function.violations[0]}"
    return None


def _rank(
    longer: LongerPaths, path: LongerPath
) -> tuple[float, float, str, tuple[int, ...], tuple[int, ...]]:
    """A sort key: by the instructions that were certainly executed, then by those that may have been."""
    size = longer.instructions_along(path.crossing, path.first, path.second)
    where = path.crossing.function, path.first.blocks, path.second.blocks
    return -path.lower * size, -path.upper * size, *where
