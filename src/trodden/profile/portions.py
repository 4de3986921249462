"""One function's portion of what a unit has counted, apart from where its counters lie in the unit."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from trodden.profile.model import Reading, UnitFacts
from trodden.recover.counts import Counts, nonzero


@dataclass
class Portion:
    """What was counted in a function, by the names that its :class:`Reading` has for it.

    ``counters`` are those of its plan that are not zero, by slot; ``exits[block]`` how often a call in a
    block was unwound.
    """

    counters: Counter[int] = field(default_factory=Counter)
    exits: Counter[int] = field(default_factory=Counter)
    active: Counter[int] = field(default_factory=Counter)
    prefixes: Counter[tuple[int, int | None]] = field(default_factory=Counter)
    ended: Counter[int] = field(default_factory=Counter)
    ticks: Counter[int] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        """Whether anything was counted at all."""
        held = (self.counters, self.exits, self.active, self.prefixes, self.ended, self.ticks)
        return any(any(each.values()) for each in held)

    def add(self, other: Portion) -> None:
        """Add what another run has counted."""
        self.counters.update(other.counters)
        self.exits.update(other.exits)
        self.active.update(other.active)
        self.prefixes.update(other.prefixes)
        self.ended.update(other.ended)
        self.ticks.update(other.ticks)


def portions(unit: UnitFacts, reading: Reading) -> list[Portion]:
    """The portions of all functions of a unit."""
    found = [Portion() for _ in unit.functions]
    held = dict(nonzero(reading.counts))
    order = sorted(range(len(unit.functions)), key=lambda number: unit.functions[number].first_slot)
    order = [number for number in order if unit.functions[number].plan.slots]
    starts = [unit.functions[number].first_slot for number in order]
    for slot, count in held.items():
        place = bisect_right(starts, slot) - 1
        if place >= 0 and slot - starts[place] < unit.functions[order[place]].plan.slots:
            found[order[place]].counters[slot - starts[place]] = count
    for facts, portion in zip(unit.functions, found, strict=True):
        for block, slot in facts.exit_slots.items():
            if slot in held:
                portion.exits[block] = held[slot]
    for (function, block), frames in reading.active.items():
        found[function].active[block] = frames
    for (function, block, cell), times in reading.prefixes.items():
        found[function].prefixes[block, cell] = times
    for (function, path), (times, ticks) in reading.sparse.items():
        found[function].ended[path] = times
        found[function].ticks[path] = ticks
    return found


def reading_of(unit: UnitFacts, parts: Iterable[tuple[int, Portion]]) -> Reading:
    """The reading of a unit of which these functions, by index, have counted something.

    A call that was unwound has a counter, if its block has one in this unit; otherwise it is a call that
    did not come back.
    """
    counts: Counter[int] = Counter()
    active: dict[tuple[int, int], int] = {}
    prefixes: dict[tuple[int, int, int | None], int] = {}
    sparse: dict[tuple[int, int], tuple[int, int]] = {}
    for function, portion in parts:
        facts = unit.functions[function]
        for slot, count in portion.counters.items():
            counts[facts.first_slot + slot] += count
        ended = Counter(portion.active)
        cut = Counter(portion.prefixes)
        for block, times in portion.exits.items():
            if block in facts.exit_slots:
                counts[facts.exit_slots[block]] += times
            elif facts.plan.paths is None:
                ended[block] += times
            else:
                cut[block, None] += times
        active |= {(function, block): frames for block, frames in ended.items() if frames}
        prefixes |= {(function, block, cell): times for (block, cell), times in cut.items() if times}
        for path in {*portion.ended, *portion.ticks}:
            sparse[function, path] = portion.ended[path], portion.ticks[path]
    return Reading(unit.id, Counts(unit.slots, counts), active, prefixes, sparse)
