"""Adding up profiles: counters of one build slot by slot, those of other builds function by function.

Counts follow from counters by linear equations, so the sum of the counters tells the sum of the counts, and
nothing has to be recovered before the end.  What other builds have counted is summed up apart, and put into
the counters of the result when it is complete, or when too many builds are under way.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trodden.collect.call_paths import CalledFunction, CallPath
from trodden.collect.unit_tally import UnitTally
from trodden.errors import TroddenError
from trodden.merging.correspondence import Correspondence
from trodden.merging.parts import BUILDS_KEPT, Part
from trodden.merging.portions import Portion, portions, reading_of
from trodden.merging.transfer import CONTRADICTORY, NotCarried, carry, obstacle
from trodden.merging.units import MergedUnits
from trodden.merging.unjoined import Unjoined, UnjoinedList
from trodden.profile.assemble import add_counts, unit_profiles
from trodden.profile.model import FunctionProfile
from trodden.program.facts import UnitFacts
from trodden.recover.reading import Reading

_Chain = tuple[CalledFunction, ...]


class _Calls:
    """Call paths: the same chains add up."""

    def __init__(self) -> None:
        self.counts: Counter[_Chain] = Counter()
        self.recursive: set[_Chain] = set()

    def add(self, chain: _Chain, count: int, recursive: bool) -> None:
        self.counts[chain] += count
        if recursive:
            self.recursive.add(chain)

    def paths(self) -> tuple[CallPath, ...]:
        found = (CallPath(chain, count, chain in self.recursive) for chain, count in self.counts.items())
        return tuple(sorted(found, key=lambda path: (-path.count, path.functions)))


@dataclass
class _Other:
    """What profiles of another build have counted so far; ``where`` is the first of them."""

    where: str
    units: Sequence[UnitFacts]
    places: Correspondence
    tallies: dict[str, UnitTally] = field(default_factory=dict)
    calls: _Calls = field(default_factory=_Calls)


class Sums:
    """The sums of all profiles added."""

    def __init__(self) -> None:
        self.units = MergedUnits(obstacle)
        self.unjoined = UnjoinedList()
        self._tallies: dict[str, UnitTally] = {}
        self._others: OrderedDict[tuple[str, ...], _Other] = OrderedDict()
        self._calls = _Calls()
        self._parts = self._parts_with_calls = self._lost_calls = 0

    def add(self, part: Part) -> None:
        """Add one profile, or nothing of it if it does not belong to the others at all."""
        places = self.units.place(part)
        for name, facts in self.units.facts.items():
            if name not in self._tallies:
                self._tallies[name] = UnitTally(facts)
        whole = all(unit.id in self._tallies for unit in part.units)
        other = None if whole else self._other(part, places)
        for unit, reading in zip(part.units, part.readings, strict=True):
            if unit.id in self._tallies:
                self._tallies[unit.id].add(reading)
            elif other is not None:
                other.tallies[unit.id].add(reading)
        for path in part.calls:
            (other.calls if other else self._calls).add(path.functions, path.count, path.recursive)
        self._parts += 1
        self._parts_with_calls += bool(part.calls)

    def result(self) -> tuple[list[Reading], tuple[CallPath, ...]]:
        """The readings of all units, and the call paths."""
        while self._others:
            self._settle(self._others.popitem(last=False)[1])
        return [tally.reading() for tally in self._tallies.values()], self._calls.paths()

    def notes(self) -> list[str]:
        """What the result does not show."""
        found = []
        if 0 < self._parts_with_calls < self._parts:
            found.append(
                f"call paths are those of {self._parts_with_calls:,} of {self._parts:,} profiles;"
                " the others kept none"
            )
        if self._lost_calls:
            found.append(f"{self._lost_calls:,} call paths lead over functions that were not joined")
        return found

    def _other(self, part: Part, places: Correspondence) -> _Other:
        ids = tuple(unit.id for unit in part.units)
        if ids not in self._others:
            strangers = [unit for unit in part.units if unit.id not in self._tallies]
            self._others[ids] = other = _Other(part.where, strangers, places)
            other.tallies = {unit.id: UnitTally(unit) for unit in strangers}
            if len(self._others) > BUILDS_KEPT:
                self._settle(self._others.popitem(last=False)[1])
        self._others.move_to_end(ids)
        return self._others[ids]

    def _settle(self, other: _Other) -> None:
        """Put what another build has counted where it belongs."""
        carried = _Carried(self.units)
        for unit in other.units:
            reading = other.tallies[unit.id].reading()
            if unit.id in self._tallies:
                self._tallies[unit.id].add(reading)
            else:
                carried.add(unit, reading, other.places)
        for name, reading in carried.readings().items():
            self._tallies[name].add(reading)
        for (unit_id, number), (reason, ran) in carried.refused.items():
            facts = next(unit for unit in other.units if unit.id == unit_id).functions[number]
            self.unjoined.add(Unjoined(facts.name, other.where, reason, ran))
        for chain, count in other.calls.counts.items():
            found = tuple(self._home(called, other.places, carried.refused) for called in chain)
            kept = tuple(called for called in found if called is not None)
            if len(kept) == len(chain):
                self._calls.add(kept, count, chain in other.calls.recursive)
            else:
                self._lost_calls += 1

    def _home(
        self, called: CalledFunction, places: Correspondence, refused: Mapping[CalledFunction, object]
    ) -> CalledFunction | None:
        if called[0] in self._tallies:
            return called
        return None if called in refused else places.targets.get(called)


class _Carried:
    """Counts of another build on their way into the counters of the result.

    What was put into counters that stand elsewhere is recovered from these once more: unless it comes out the
    same, the counts contradict each other and are ``refused``.
    """

    def __init__(self, units: MergedUnits) -> None:
        self.refused: dict[CalledFunction, tuple[str, bool]] = {}
        self._units = units
        self._direct: dict[CalledFunction, Portion] = {}
        self._moved: dict[CalledFunction, Portion] = {}
        self._expected: dict[CalledFunction, FunctionProfile] = {}
        self._sources: dict[CalledFunction, list[CalledFunction]] = {}

    def add(self, unit: UnitFacts, reading: Reading, places: Correspondence) -> None:
        """Add what a unit has counted."""
        counted: list[FunctionProfile] | None = None
        for number, portion in enumerate(portions(unit, reading)):
            own = unit.id, number
            if own not in places.targets:
                self.refused[own] = places.reasons[own], bool(portion)
            elif portion:
                try:
                    if counted is None:
                        counted = list(unit_profiles(unit, reading))
                    self._carry(own, portion, counted[number], places.targets[own])
                except (NotCarried, TroddenError) as error:
                    self.refused[own] = str(error), True

    def _carry(
        self, own: CalledFunction, portion: Portion, counted: FunctionProfile, target: CalledFunction
    ) -> None:
        found = carry(counted.facts, portion, counted, self._units.function(target))
        if found is portion:
            self._direct.setdefault(target, Portion()).add(portion)
            return
        if counted.violations:
            raise NotCarried(CONTRADICTORY)
        self._moved.setdefault(target, Portion()).add(found)
        before = self._expected.get(target)
        self._expected[target] = counted if before is None else add_counts(before, counted)
        self._sources.setdefault(target, []).append(own)

    def readings(self) -> dict[str, Reading]:
        """What to add to each unit of the result."""
        self._refuse_what_differs()
        found: dict[str, dict[int, Portion]] = {}
        for portions_of in (self._direct, self._moved):
            for (unit, number), portion in portions_of.items():
                found.setdefault(unit, {}).setdefault(number, Portion()).add(portion)
        return {unit: reading_of(self._units.facts[unit], parts.items()) for unit, parts in found.items()}

    def _refuse_what_differs(self) -> None:
        by_unit: dict[str, list[int]] = {}
        for unit, number in self._moved:
            by_unit.setdefault(unit, []).append(number)
        for unit, numbers in by_unit.items():
            facts = self._units.facts[unit]
            reading = reading_of(facts, [(number, self._moved[unit, number]) for number in numbers])
            again = list(unit_profiles(facts, reading))
            for number in numbers:
                target = unit, number
                if not _same_counts(again[number], self._expected[target]):
                    del self._moved[target]
                    self.refused |= dict.fromkeys(self._sources[target], (CONTRADICTORY, True))


def _same_counts(found: FunctionProfile, expected: FunctionProfile) -> bool:
    """Whether counts are the same as far as both tell them."""
    edges = zip(found.edge_counts, expected.edge_counts, strict=True)
    if any(one is not None and other is not None and one != other for one, other in edges):
        return False
    if list(found.block_counts) != list(expected.block_counts) or found.cut_short != expected.cut_short:
        return False
    return found.paths is None or _paths(found) == _paths(expected)


def _paths(function: FunctionProfile) -> dict[int, int]:
    return {path.id: path.count for path in function.paths or ()}
