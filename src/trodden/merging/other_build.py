"""The counts of another build, transferred into the counters of the result of a merge."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from trodden.collect.call_paths import CalledFunction
from trodden.errors import TroddenError
from trodden.merging.correspondence import Correspondence
from trodden.merging.transfer import CONTRADICTORY, NotTransferable, portable_stops, same_layout, transfer
from trodden.merging.units import MergedUnits
from trodden.profile.assemble import unit_profiles
from trodden.profile.copies import add_counts
from trodden.profile.model import FunctionProfile
from trodden.program.facts import UnitFacts
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.unit_counts import UnitCounts

_K = TypeVar("_K")


class OtherBuildCounts:
    """The counts of one other build, function by function.

    Functions with other counters are recovered once more from the counters that they were transferred to:
    unless the same counts come out, they contradict each other and are ``refused``.
    """

    def __init__(self, units: MergedUnits) -> None:
        self.refused: dict[CalledFunction, tuple[str, bool]] = {}
        self._units = units
        self._unchanged: dict[CalledFunction, FunctionCounts] = {}
        self._transferred: dict[CalledFunction, FunctionCounts] = {}
        self._expected: dict[CalledFunction, FunctionProfile] = {}
        self._sources: dict[CalledFunction, list[CalledFunction]] = {}

    def add(self, unit: UnitFacts, counted: UnitCounts, correspondence: Correspondence) -> None:
        """Add what was counted in a unit."""
        profiles: list[FunctionProfile] | None = None
        for number, function in counted.functions(unit):
            own = unit.id, number
            if own not in correspondence.targets:
                self.refused[own] = correspondence.reasons[own], bool(function)
            elif function:
                try:
                    if profiles is None:
                        profiles = list(unit_profiles(unit, counted))
                    self._add_function(own, function, profiles[number], correspondence.targets[own])
                except (NotTransferable, TroddenError) as error:
                    self.refused[own] = str(error), True

    def _add_function(
        self, own: CalledFunction, counted: FunctionCounts, profile: FunctionProfile, target: CalledFunction
    ) -> None:
        facts = self._units.function(target)
        if same_layout(profile.facts, facts):
            stops = portable_stops(profile.facts, counted.stops, facts)
            _add_to(self._unchanged, target, replace(counted, stops=stops))
            return
        found = transfer(profile.facts, counted, profile, facts)
        if profile.violations:
            raise NotTransferable(CONTRADICTORY)
        _add_to(self._transferred, target, found)
        before = self._expected.get(target)
        self._expected[target] = profile if before is None else add_counts(before, profile)
        self._sources.setdefault(target, []).append(own)

    def unit_counts(self) -> dict[str, UnitCounts]:
        """What to add to each unit of the result."""
        self._refuse_contradictions()
        found: dict[str, dict[int, FunctionCounts]] = {}
        for functions in (self._unchanged, self._transferred):
            for (unit, number), counted in functions.items():
                _add_to(found.setdefault(unit, {}), number, counted)
        return {
            unit: UnitCounts.of_functions(self._units.facts[unit], functions.items())
            for unit, functions in found.items()
        }

    def _refuse_contradictions(self) -> None:
        by_unit: dict[str, list[int]] = {}
        for unit, number in self._transferred:
            by_unit.setdefault(unit, []).append(number)
        for unit, numbers in by_unit.items():
            facts = self._units.facts[unit]
            functions = [(number, self._transferred[unit, number]) for number in numbers]
            profiles = list(unit_profiles(facts, UnitCounts.of_functions(facts, functions)))
            for number in numbers:
                target = unit, number
                if not _same_counts(profiles[number], self._expected[target]):
                    del self._transferred[target]
                    self.refused |= dict.fromkeys(self._sources[target], (CONTRADICTORY, True))


def _add_to(sums: dict[_K, FunctionCounts], key: _K, counted: FunctionCounts) -> None:
    known = sums.get(key)
    sums[key] = counted if known is None else known + counted


def _same_counts(found: FunctionProfile, expected: FunctionProfile) -> bool:
    """Whether counts are the same as far as both have them."""
    edges = zip(found.edge_counts, expected.edge_counts, strict=True)
    if any(one is not None and other is not None and one != other for one, other in edges):
        return False
    if list(found.block_counts) != list(expected.block_counts) or found.cut_short != expected.cut_short:
        return False
    return found.paths is None or _paths(found) == _paths(expected)


def _paths(function: FunctionProfile) -> dict[int, int]:
    return {path.id: path.count for path in function.paths or ()}
