"""What a unit's reading says of each of its functions."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from trodden.program.clone_map import register_held
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.recover.counts import nonzero
from trodden.recover.reading import Reading


@dataclass
class FunctionReading:
    """What is known of one function, the ``number``-th of its unit.

    ``active[block]`` are frames that did not leave a block, less those that came back to it twice; with a
    path plan only the latter.  ``prefixes[block, register]`` are paths that were cut short, ``sparse[path]``
    is the count and the time of a path without a counter.
    """

    number: int
    facts: FunctionFacts
    counters: Sequence[int] = ()
    active: Counter[int] = field(default_factory=Counter)
    prefixes: Counter[tuple[int, int | None]] = field(default_factory=Counter)
    sparse: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def early(self) -> dict[int, int]:
        """How often the function ended in a block without leaving it along an edge (BL94 §3.2)."""
        return {block: count for block, count in sorted(self.active.items()) if count}

    @property
    def cut_short(self) -> dict[tuple[int, int | None], int]:
        """Paths that were cut short, by block and register."""
        return {key: times for key, times in self.prefixes.items() if times}

    @property
    def resumed(self) -> dict[int, int]:
        """How often control came back once more to the call that ends a block."""
        return {block: -frames for block, frames in self.active.items()}


def function_readings(
    unit: UnitFacts, reading: Reading, only: Collection[int] | None = None
) -> Iterator[FunctionReading]:
    """The reading of every function of a unit in their order, or of ``only`` some."""
    found = [FunctionReading(number, facts) for number, facts in enumerate(unit.functions)]
    for (function, block), frames in reading.active.items():
        found[function].active[block] = frames
    for (function, block, cell), times in reading.prefixes.items():
        found[function].prefixes[block, register_held(unit.functions[function], block, cell)] += times
    for (function, path), counted in reading.sparse.items():
        found[function].sparse[path] = counted
    for each in found:
        if only is None or each.number in only:
            first = each.facts.first_slot
            each.counters = reading.counts[first : first + each.facts.plan.slots]
            yield each


def touched(unit: UnitFacts, reading: Reading) -> set[int]:
    """The functions that a reading says anything of."""
    found = {function for function, _ in [*reading.active, *reading.sparse]}
    found |= {function for function, _, _ in reading.prefixes}
    firsts = [facts.first_slot for facts in unit.functions]
    order = sorted(range(len(firsts)), key=firsts.__getitem__)
    starts = [firsts[number] for number in order]
    for slot, _ in nonzero(reading.counts):
        # Of several functions that start at one slot the last has it: the others have no counters.
        found.add(order[max(bisect_right(starts, slot) - 1, 0)])
    return found
