"""Emit the code of overlaps: count those that end, and choose between values of their registers (TZG04 §2.3).

Where an overlap begins, goes on or is added to is no code, as long as its registers are constants, or a phi
plus a constant.  A question whose answer is not known takes a comparison and a choice, and no branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.lower.builder import Builder
from trodden.native.lower.probe_locations import PlacedProbe, ProbeLocations
from trodden.native.planning.plan_function import Planned
from trodden.plan.overlap_probes import BumpOverlap, Channel
from trodden.plan.overlapping.registers import (
    Choice,
    Condition,
    Counted,
    Needed,
    OverlapRegisters,
)
from trodden.plan.paths.locations import Holder
from trodden.plan.paths.path_register import Base, Chosen, Register, Value
from trodden.program.debug_variables import base_name


@dataclass(frozen=True)
class LoopOverlaps:
    """The registers of overlaps over back edges in one function, and which of them need code.

    ``unfinished`` is the register in each block where a path may be cut short inside an overlap.
    """

    values: OverlapRegisters
    needed: Needed
    number: int
    unfinished: Mapping[int, Value]

    def counted(self, placed: PlacedProbe) -> Counted | None:
        """What a probe counts, if it is one that counts an overlap and there may be one.

        What is certainly fictitious is not counted.
        """
        return _counted(self.values, placed, self.number)

    def holding(self) -> Iterator[tuple[Base, int]]:
        """The blocks at whose start a register of overlaps follows from a phi or a choice."""
        known = {*self.needed.phis, *(each for chosen in self.needed.chosen.values() for each in chosen)}
        for block, state in enumerate(self.values.at):
            for value in state or ():
                if value.base is not None and value.base in known:
                    yield value.base, block

    def choices(self, edge: int) -> Iterator[tuple[Chosen, Choice]]:
        """The values that are chosen on an edge."""
        choices = self.values.edges[edge].choices if edge in self.needed.chosen else {}
        for chosen in self.needed.chosen.get(edge, ()):
            yield chosen, choices[chosen]


def track_overlaps(
    read: FunctionCfg, planned: Planned, locations: ProbeLocations, path: Register | None
) -> LoopOverlaps | None:
    """The registers of a plan that has overlaps over back edges."""
    plan = planned.plan
    if not plan.extends or path is None:
        return None
    values = OverlapRegisters(read.graph, plan, path, Channel.LOOP, planned.fictitious)
    used: list[Value] = []
    for placed in locations.placed():
        counted = _counted(values, placed, plan.numbers)
        if counted is not None:
            used.append(counted.number)
            used += [] if counted.condition is None else [counted.condition.value]
    states = {block: values.at[block] for block in sorted(planned.unfinished)}
    unfinished = {block: state.register for block, state in states.items() if state is not None}
    return LoopOverlaps(values, values.needed([*used, *unfinished.values()]), plan.numbers, unfinished)


def _counted(values: OverlapRegisters, placed: PlacedProbe, number: int) -> Counted | None:
    probe, mark = placed
    if not isinstance(probe, BumpOverlap) or probe.channel is not values.channel or mark is None:
        return None
    assert mark.holder is Holder.EDGE, "overlaps end on edges"
    return values.counted(mark.index, mark.number, number)


def emit_condition(builder: Builder, condition: Condition) -> str:
    """Whether a value is greater than a number; it is no constant."""
    value, above = condition
    assert value.base is not None
    return builder.value(f"icmp sgt i64 %{base_name(value.base)}, {above - value.add}")
