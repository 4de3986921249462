"""How many blocks a process ran.

There may be thousands of processes, too many to recover every count of each.  Where edges are counted, a sum
over the nonzero counters is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from trodden.program.facts import UnitFacts
from trodden.recover.executed_blocks import block_coefficients
from trodden.recover.sparse_counters import nonzero
from trodden.recover.unit import recover_unit
from trodden.recover.unit_counts import UnitCounts


@dataclass
class _Unit:
    """How many blocks a count or an early end stands for; ``others`` are functions without weights."""

    slots: dict[int, int] = field(default_factory=dict)
    ends: dict[tuple[int, int], int] = field(default_factory=dict)
    others: set[int] = field(default_factory=set)


class Executed:
    """Counts executed blocks in the units of a program."""

    def __init__(self, units: Mapping[str, UnitFacts]) -> None:
        self._facts = units
        self._units: dict[str, _Unit] = {}

    def blocks(self, units: Iterable[UnitCounts]) -> int:
        """The blocks that ran in these units; never negative, even if the counts contradict each other."""
        return max(0, sum(map(self._in_unit, units)))

    def _in_unit(self, counted: UnitCounts) -> int:
        facts = self._facts[counted.unit]
        if counted.unit not in self._units:
            self._units[counted.unit] = _weigh(facts)
        unit = self._units[counted.unit]
        total = sum(count * unit.slots.get(slot, 0) for slot, count in nonzero(counted.counters))
        total += sum(frames * unit.ends.get(key, 0) for key, frames in counted.active.items())
        others = unit.others & counted.touched(facts) if unit.others else ()
        if others:
            ran = recover_unit(facts, counted, only=others)
            total += sum(sum(each.blocks[: each.facts.graph.exit]) for each in ran)
        return total


def _weigh(facts: UnitFacts) -> _Unit:
    unit = _Unit()
    for number, function in enumerate(facts.functions):
        weights = block_coefficients(function.graph, function.plan)
        if weights is None:
            unit.others.add(number)
            continue
        unit.slots.update(
            {function.first_slot + slot: each for slot, each in enumerate(weights.slots) if each}
        )
        unit.ends.update({(number, block): each for block, each in enumerate(weights.ends)})
    return unit
