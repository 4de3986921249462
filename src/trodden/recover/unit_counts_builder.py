"""Adding up what was counted in one unit, in one process or in many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from trodden.program.facts import UnitFacts
from trodden.recover.crossings import CrossingKey
from trodden.recover.function_counts import FunctionCounts, Stop
from trodden.recover.path_prefix import PrefixDecoder, canonical_register
from trodden.recover.sparse_counters import SparseCounters, nonzero
from trodden.recover.unit_counts import UnitCounts


class UnitCountsBuilder:
    """The sums of one unit so far; functions are named by their indices in it."""

    def __init__(self, facts: UnitFacts) -> None:
        self.facts = facts
        self._counters: Counter[int] = Counter()
        self._active: Counter[tuple[int, int]] = Counter()
        self._prefixes: Counter[tuple[int, int, int | None]] = Counter()
        self._executions: Counter[tuple[int, int]] = Counter()
        self._cycles: Counter[tuple[int, int]] = Counter()
        self._stops: Counter[tuple[int, int, int | None, int]] = Counter()
        self._unlocated: Counter[int] = Counter()
        self._crossings: Counter[CrossingKey] = Counter()
        self._decoders: dict[int, PrefixDecoder] = {}

    def add(self, counted: UnitCounts) -> None:
        """Add what was counted elsewhere in the same unit."""
        self.add_counters(counted.counters)
        self._active.update(counted.active)
        for (function, block, register), times in counted.prefixes.items():
            self._prefixes[function, block, self._canonical(function, block, register)] += times
        for key, (count, cycles) in counted.sparse.items():
            self._executions[key] += count
            self._cycles[key] += cycles
        for (function, block, register, position), times in counted.stops.items():
            self._add_stop(function, (block, register, position), times)
        self._unlocated.update(counted.unlocated)
        self._crossings.update(counted.crossings)

    def add_function(self, function: int, counted: FunctionCounts) -> None:
        """Add what was counted in one function."""
        first = self.facts.functions[function].first_slot
        for slot, value in nonzero(counted.counters):
            self.add_to_counter(first + slot, value)
        for block, frames in counted.active.items():
            self._active[function, block] += frames
        for (block, register), times in counted.prefixes.items():
            self.add_cut_short(function, block, register, times)
        for path, (count, cycles) in counted.sparse.items():
            self.add_path(function, path, count, cycles)
        for stop, times in counted.stops.items():
            self._add_stop(function, stop, times)
        self.add_unlocated(function, counted.unlocated)

    def add_counters(self, counters: Sequence[int], start: int = 0) -> None:
        """Add the values of all counters of the unit, from ``start`` on."""
        for slot, value in nonzero(counters):
            if slot >= start:
                self._counters[slot] += value

    def add_to_counter(self, slot: int, amount: int) -> None:
        """Add to one counter of the unit: increments that were pending when a frame was interrupted."""
        self._counters[slot] += amount

    def add_cut_short(
        self, function: int, block: int, register: int | None, times: int, position: int | None = None
    ) -> None:
        """Add frames that ended in a block without leaving it along an edge (BL94 §3.2, BL96 §3.6).

        ``register`` is the path register in that block, ``position`` where in the block they ended, as far as
        it is known; ``times`` is negative for frames that a forked child has inherited: it leaves their
        blocks without having entered them.
        """
        if position is not None:
            self._add_stop(function, (block, register, position), times)
        facts = self.facts.functions[function]
        if facts.plan.paths is None:
            self._active[function, block] += times
        else:
            self._prefixes[function, block, self._canonical(function, block, register)] += times

    def _add_stop(self, function: int, stop: Stop, times: int) -> None:
        block, register, position = stop
        kept = self._canonical(function, block, register)
        self._stops[function, block, kept, position] += times

    def add_resumed(self, function: int, block: int, times: int) -> None:
        """Add calls in a block that returned more often than they were made, as ``setjmp`` does."""
        self._active[function, block] -= times

    def add_unlocated(self, function: int, frames: int) -> None:
        """Add frames that may have ended in a function, in a block that is not known."""
        self._unlocated[function] += frames

    def add_path(self, function: int, path: int, count: int, cycles: int) -> None:
        """Add executions of a path that has no counter of its own, and the cycles spent on it."""
        self._executions[function, path] += count
        self._cycles[function, path] += cycles

    def add_crossing(self, key: CrossingKey, times: int) -> None:
        """Add parts of paths that followed each other over a call or a return."""
        self._crossings[key] += times

    def _canonical(self, function: int, block: int, register: int | None) -> int | None:
        """One form for each prefix, so that those of all profiles of a build add up.

        Where a single prefix leads to a block, nothing says how its register is stored.  Earlier versions
        stored whatever the stack slot held; it is not needed.  Of a trace, the register is not counted.
        """
        facts = self.facts.functions[function]
        if facts.plan.paths is None:
            return None
        kept = canonical_register(facts, block, register)
        if kept is None or block in facts.registers or block in facts.cloned_blocks:
            return kept
        if function not in self._decoders:
            self._decoders[function] = PrefixDecoder(facts.graph, facts.plan)
        return kept if self._decoders[function].needs_register(block) else None

    def result(self) -> UnitCounts:
        """The sums."""
        return UnitCounts(
            unit=self.facts.id,
            counters=SparseCounters(self.facts.slots, self._counters),
            active={key: frames for key, frames in self._active.items() if frames},
            prefixes={key: times for key, times in self._prefixes.items() if times},
            sparse={key: (count, self._cycles[key]) for key, count in self._executions.items()},
            stops={key: times for key, times in self._stops.items() if times},
            unlocated={number: frames for number, frames in self._unlocated.items() if frames},
            crossings={key: times for key, times in self._crossings.items() if times},
        )
