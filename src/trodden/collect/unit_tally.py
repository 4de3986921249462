"""What several runs have counted in one unit, added up.

A call that did not come back is one more way out of its block (BL94 §3.2).  In a function with paths it is
also the end of a path, and which path that was follows from the block and from what the frame's cell
held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from trodden.plan.probes import WORD
from trodden.program.clone_map import kept_for, origin_of, register_in
from trodden.program.facts import UnitFacts
from trodden.recover.counts import Counts, nonzero
from trodden.recover.reading import Reading


class UnitTally:
    """The sums of one unit."""

    def __init__(self, facts: UnitFacts) -> None:
        self.facts = facts
        self._counts: Counter[int] = Counter()
        self._active: Counter[tuple[int, int]] = Counter()
        self._prefixes: Counter[tuple[int, int, int | None]] = Counter()
        self._ended: Counter[tuple[int, int]] = Counter()
        self._ticks: Counter[tuple[int, int]] = Counter()

    def add_counts(self, counts: Sequence[int]) -> None:
        """Add what the unit's counters held."""
        for slot, count in nonzero(counts):
            self._counts[slot] += count

    def add(self, reading: Reading) -> None:
        """Add what other runs have counted, summed up already."""
        self.add_counts(reading.counts)
        self._active.update(reading.active)
        self._prefixes.update(reading.prefixes)
        for key, (times, ticks) in reading.sparse.items():
            self._ended[key] += times
            self._ticks[key] += ticks

    def cut_short(self, function: int, block: int, cell: int | None, amount: int) -> None:
        """Calls in a block of the code did not come back; below 0: they came back but had never gone."""
        facts = self.facts.functions[function]
        origin = origin_of(facts, block)
        kept = kept_for(facts, origin)
        if facts.plan.paths is None:
            self._active[function, origin] += amount
        elif kept != facts.registers.get(block):
            self._prefixes[function, origin, register_in(facts, block, cell)] += amount
        else:
            self._prefixes[function, origin, cell if kept is not None and kept[0] else None] += amount

    def owed(self, slot: int, amount: int) -> None:
        """A counter would have been added to if the program had gone on."""
        self._counts[slot] += amount

    def stopped(self, function: int, block: int, register: int | None, amount: int) -> None:
        """Frames were stopped at any place of a block, with that in the path register.

        Where no call asks for it, the register itself stands in the place of the cell.
        """
        facts = self.facts.functions[function]
        stored, addend = kept_for(facts, block) or (True, 0)
        cell = (register - addend) % WORD if register is not None and stored else None
        if facts.plan.paths is None:
            self._active[function, block] += amount
        else:
            self._prefixes[function, block, cell] += amount

    def came_back(self, function: int, block: int, times: int) -> None:
        """A call in a block came back that often once more than it was made, as setjmp does."""
        self._active[function, block] -= times

    def ended(self, function: int, path: int, times: int, ticks: int) -> None:
        """A path without a counter of its own has ended, or time has been spent on it."""
        self._ended[function, path] += times
        self._ticks[function, path] += ticks

    def reading(self) -> Reading:
        """The sums, without what is nothing."""
        return Reading(
            unit=self.facts.id,
            counts=Counts(self.facts.slots, self._counts),
            active={key: amount for key, amount in self._active.items() if amount},
            prefixes={key: amount for key, amount in self._prefixes.items() if amount},
            sparse={key: (times, self._ticks[key]) for key, times in self._ended.items()},
        )
