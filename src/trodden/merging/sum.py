"""Adding up profiles: counters of one build slot by slot, those of other builds function by function.

Counts follow from counters by linear equations, so that the sum of the counters determines the sum of the
counts, and nothing has to be recovered before the end.  What other builds have counted is summed up
separately, and transferred into the counters of the result when it is complete, or when there are too many
builds at once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trodden.collect.call_paths import CalledFunction, CallPath, CallPathCounts
from trodden.merging.correspondence import Correspondence
from trodden.merging.other_build import OtherBuildCounts
from trodden.merging.parts import BUILDS_KEPT, Part
from trodden.merging.transfer import obstacle
from trodden.merging.units import MergedUnits
from trodden.merging.unjoined import Unjoined, UnjoinedList
from trodden.program.facts import UnitFacts
from trodden.recover.unit_counts import UnitCounts
from trodden.recover.unit_counts_builder import UnitCountsBuilder


@dataclass
class _Build:
    """What profiles of another build have counted so far; ``where`` is the first of them."""

    where: str
    units: Sequence[UnitFacts]
    correspondence: Correspondence
    builders: dict[str, UnitCountsBuilder] = field(default_factory=dict)
    calls: CallPathCounts = field(default_factory=CallPathCounts)


class Sums:
    """The sums of all profiles added."""

    def __init__(self) -> None:
        self.units = MergedUnits(obstacle)
        self.unjoined = UnjoinedList()
        self._builders: dict[str, UnitCountsBuilder] = {}
        self._other_builds: OrderedDict[tuple[str, ...], _Build] = OrderedDict()
        self._calls = CallPathCounts()
        self._parts = self._parts_with_calls = self._lost_calls = self._lost_crossings = 0

    def add(self, part: Part) -> None:
        """Add one profile, or nothing of it if none of its functions is part of the result."""
        correspondence = self.units.correspond(part)
        for name, facts in self.units.facts.items():
            if name not in self._builders:
                self._builders[name] = UnitCountsBuilder(facts)
        same_build = all(unit.id in self._builders for unit in part.units)
        other = None if same_build else self._other_build(part, correspondence)
        for unit, counted in zip(part.units, part.unit_counts, strict=True):
            if unit.id in self._builders:
                self._builders[unit.id].add(counted)
            elif other is not None:
                other.builders[unit.id].add(counted)
        for path in part.call_paths:
            (other.calls if other else self._calls).add(path.functions, path.count, path.recursive)
        self._parts += 1
        self._parts_with_calls += bool(part.call_paths)

    def result(self) -> tuple[list[UnitCounts], tuple[CallPath, ...]]:
        """The counts of all units, and the call paths."""
        while self._other_builds:
            self._transfer(self._other_builds.popitem(last=False)[1])
        return [builder.result() for builder in self._builders.values()], self._calls.paths()

    def messages(self) -> list[str]:
        """What the result does not show."""
        found = []
        if 0 < self._parts_with_calls < self._parts:
            found.append(
                f"call paths are those of {self._parts_with_calls:,} of {self._parts:,} profiles;"
                " the others kept none"
            )
        if self._lost_calls:
            found.append(f"{self._lost_calls:,} call paths lead over functions that were not joined")
        if self._lost_crossings:
            found.append(
                f"{self._lost_crossings:,} paths over calls and returns are of other builds: not joined"
            )
        return found

    def _other_build(self, part: Part, correspondence: Correspondence) -> _Build:
        ids = tuple(unit.id for unit in part.units)
        if ids not in self._other_builds:
            strangers = [unit for unit in part.units if unit.id not in self._builders]
            self._other_builds[ids] = build = _Build(part.where, strangers, correspondence)
            build.builders = {unit.id: UnitCountsBuilder(unit) for unit in strangers}
            if len(self._other_builds) > BUILDS_KEPT:
                self._transfer(self._other_builds.popitem(last=False)[1])
        self._other_builds.move_to_end(ids)
        return self._other_builds[ids]

    def _transfer(self, build: _Build) -> None:
        """Add what another build has counted to the counters of the result."""
        transferred = OtherBuildCounts(self.units)
        for unit in build.units:
            counted = build.builders[unit.id].result()
            if unit.id in self._builders:
                self._builders[unit.id].add(counted)
            else:
                transferred.add(unit, counted, build.correspondence)
                self._lost_crossings += sum(counted.crossings.values())
        for name, counted in transferred.unit_counts().items():
            self._builders[name].add(counted)
        for (unit_id, number), (reason, ran) in transferred.refused.items():
            facts = next(unit for unit in build.units if unit.id == unit_id).functions[number]
            self.unjoined.add(Unjoined(facts.name, build.where, reason, ran))
        for chain, count in build.calls.counts.items():
            found = tuple(
                self._counterpart(called, build.correspondence, transferred.refused) for called in chain
            )
            kept = tuple(called for called in found if called is not None)
            if len(kept) == len(chain):
                self._calls.add(kept, count, chain in build.calls.recursive)
            else:
                self._lost_calls += 1

    def _counterpart(
        self, called: CalledFunction, correspondence: Correspondence, refused: Mapping[CalledFunction, object]
    ) -> CalledFunction | None:
        """The function of the result that a function of another build is, if it was joined."""
        if called[0] in self._builders:
            return called
        return None if called in refused else correspondence.targets.get(called)
