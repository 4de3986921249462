"""What was counted in one unit, and the part of each of its functions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trodden.program.facts import UnitFacts
from trodden.recover.crossings import CrossingKey
from trodden.recover.function_counts import FunctionCounts, PathTotals, Prefix, Stop
from trodden.recover.sparse_counters import SparseCounters, nonzero


@dataclass(frozen=True)
class UnitCounts:
    """The counts of all functions of the unit with the id ``unit``.

    The fields are those of :class:`FunctionCounts`, with the index of the function as the first part of each
    key; ``counters`` are those of all functions, in the slots of the unit.  Profiles store them in this form
    (:mod:`trodden.profile.store.unit_counts_codec`), in the order in which they were found.
    ``crossings`` were counted by code of the unit, over calls that may lead from or to other units.
    """

    unit: str
    counters: Sequence[int]
    active: Mapping[tuple[int, int], int] = field(default_factory=dict)
    prefixes: Mapping[tuple[int, int, int | None], int] = field(default_factory=dict)
    sparse: Mapping[tuple[int, int], PathTotals] = field(default_factory=dict)
    stops: Mapping[tuple[int, int, int | None, int], int] = field(default_factory=dict)
    unlocated: Mapping[int, int] = field(default_factory=dict)
    crossings: Mapping[CrossingKey, int] = field(default_factory=dict)

    @classmethod
    def zero(cls, unit: UnitFacts) -> UnitCounts:
        """A unit in which nothing ran."""
        return cls(unit.id, SparseCounters(unit.slots, {}))

    @classmethod
    def of_functions(cls, unit: UnitFacts, functions: Iterable[tuple[int, FunctionCounts]]) -> UnitCounts:
        """A unit in which these functions, each named once by its index, have counted."""
        counters: dict[int, int] = {}
        active: dict[tuple[int, int], int] = {}
        prefixes: dict[tuple[int, int, int | None], int] = {}
        sparse: dict[tuple[int, int], PathTotals] = {}
        stops: dict[tuple[int, int, int | None, int], int] = {}
        unlocated: dict[int, int] = {}
        for number, counted in functions:
            first = unit.functions[number].first_slot
            counters |= {first + slot: value for slot, value in nonzero(counted.counters)}
            active |= {(number, block): frames for block, frames in counted.active.items() if frames}
            prefixes |= {(number, *prefix): times for prefix, times in counted.prefixes.items() if times}
            sparse |= {(number, path): totals for path, totals in counted.sparse.items()}
            stops |= {(number, *stop): times for stop, times in counted.stops.items() if times}
            if counted.unlocated:
                unlocated[number] = counted.unlocated
        counted_slots = SparseCounters(unit.slots, counters)
        return cls(unit.id, counted_slots, active, prefixes, sparse, stops, unlocated)

    def functions(
        self, unit: UnitFacts, only: Collection[int] | None = None
    ) -> Iterator[tuple[int, FunctionCounts]]:
        """The counts of every function of the unit by its index, in their order; or of ``only`` some."""
        active: dict[int, dict[int, int]] = {}
        prefixes: dict[int, dict[Prefix, int]] = {}
        sparse: dict[int, dict[int, PathTotals]] = {}
        for (number, block), frames in self.active.items():
            active.setdefault(number, {})[block] = frames
        for (number, block, register), times in self.prefixes.items():
            if times:
                prefixes.setdefault(number, {})[block, register] = times
        for (number, path), totals in self.sparse.items():
            sparse.setdefault(number, {})[path] = totals
        stops: dict[int, dict[Stop, int]] = {}
        for (number, block, register, position), times in self.stops.items():
            stops.setdefault(number, {})[block, register, position] = times
        for number, facts in enumerate(unit.functions):
            if only is None or number in only:
                counters = self.counters[facts.first_slot : facts.first_slot + facts.plan.slots]
                yield (
                    number,
                    FunctionCounts(
                        counters,
                        active.get(number, {}),
                        prefixes.get(number, {}),
                        sparse.get(number, {}),
                        stops.get(number, {}),
                        self.unlocated.get(number, 0),
                    ),
                )

    def touched(self, unit: UnitFacts) -> set[int]:
        """The indices of the functions in which anything was counted."""
        found = {number for number, _ in [*self.active, *self.sparse]}
        found |= {number for number, _, _ in self.prefixes}
        owners = [number for number, facts in enumerate(unit.functions) if facts.plan.slots]
        owners.sort(key=lambda number: unit.functions[number].first_slot)
        firsts = [unit.functions[number].first_slot for number in owners]
        if owners:
            found |= {owners[max(bisect_right(firsts, s) - 1, 0)] for s, _ in nonzero(self.counters)}
        return found

    def entries(self) -> int:
        """The size of the record: how many nonzero counters, prefixes and sparse paths it holds."""
        return sum(1 for _ in nonzero(self.counters)) + len(self.prefixes) + len(self.sparse)
