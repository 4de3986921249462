"""One function's portion of what a unit has counted, apart from where its counters lie in the unit."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from trodden.program.facts import UnitFacts
from trodden.recover.counts import Counts, nonzero
from trodden.recover.reading import Reading


@dataclass
class Portion:
    """What was counted in a function, by the names that its :class:`Reading` has for it.

    ``counters`` are those of its plan that are not zero, by slot.
    """

    counters: Counter[int] = field(default_factory=Counter)
    active: Counter[int] = field(default_factory=Counter)
    prefixes: Counter[tuple[int, int | None]] = field(default_factory=Counter)
    ended: Counter[int] = field(default_factory=Counter)
    ticks: Counter[int] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        """Whether anything was counted at all."""
        held = (self.counters, self.active, self.prefixes, self.ended, self.ticks)
        return any(any(each.values()) for each in held)

    def add(self, other: Portion) -> None:
        """Add what another run has counted."""
        self.counters.update(other.counters)
        self.active.update(other.active)
        self.prefixes.update(other.prefixes)
        self.ended.update(other.ended)
        self.ticks.update(other.ticks)


def portions(unit: UnitFacts, reading: Reading) -> list[Portion]:
    """The portions of all functions of a unit."""
    found = [Portion() for _ in unit.functions]
    order = sorted(range(len(unit.functions)), key=lambda number: unit.functions[number].first_slot)
    order = [number for number in order if unit.functions[number].plan.slots]
    starts = [unit.functions[number].first_slot for number in order]
    for slot, count in nonzero(reading.counts):
        place = bisect_right(starts, slot) - 1
        if place >= 0 and slot - starts[place] < unit.functions[order[place]].plan.slots:
            found[order[place]].counters[slot - starts[place]] = count
    for (function, block), frames in reading.active.items():
        found[function].active[block] = frames
    for (function, block, cell), times in reading.prefixes.items():
        found[function].prefixes[block, cell] = times
    for (function, path), (times, ticks) in reading.sparse.items():
        found[function].ended[path] = times
        found[function].ticks[path] = ticks
    return found


def reading_of(unit: UnitFacts, parts: Iterable[tuple[int, Portion]]) -> Reading:
    """The reading of a unit of which these functions, by index, have counted something."""
    counts: Counter[int] = Counter()
    active: dict[tuple[int, int], int] = {}
    prefixes: dict[tuple[int, int, int | None], int] = {}
    sparse: dict[tuple[int, int], tuple[int, int]] = {}
    for function, portion in parts:
        first = unit.functions[function].first_slot
        for slot, count in portion.counters.items():
            counts[first + slot] += count
        active |= {(function, block): frames for block, frames in portion.active.items() if frames}
        prefixes |= {
            (function, block, cell): times for (block, cell), times in portion.prefixes.items() if times
        }
        for path in {*portion.ended, *portion.ticks}:
            sparse[function, path] = portion.ended[path], portion.ticks[path]
    return Reading(unit.id, Counts(unit.slots, counts), active, prefixes, sparse)
