"""Emit the code that counts tuples of successive paths (:mod:`trodden.plan.overlapping.pairs`).

Which paths are before the present one is known as the path register is: a constant, or a phi plus a constant.
A pair of paths has a counter, if there are not too many pairs, or it is counted in the sparse path table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.lower.probe_locations import PlacedProbe, ProbeLocations
from trodden.native.planning.plan_function import Planned
from trodden.plan.overlapping.before import BeforeRegister, Followed, Needed
from trodden.plan.overlapping.tuples import radix
from trodden.plan.paths.locations import Holder
from trodden.plan.paths.path_register import Base, Chosen, Register, Value
from trodden.plan.probes import Plan


@dataclass(frozen=True)
class PathTuples:
    """The register of the paths before, and which of its values need code.

    ``unfinished`` is the register in each block where a path may be cut short.  A digit of a tuple has
    ``radix`` values, and what is before has fewer than ``most``.
    """

    values: BeforeRegister
    needed: Needed
    unfinished: Mapping[int, Value]
    radix: int
    most: int
    dense: bool

    def counted(self, placed: PlacedProbe) -> Followed | None:
        """What a probe counts, if it is one that counts a tuple and there may be one."""
        return _counted(self.values, placed)

    def joined(self, edge: int) -> Iterator[tuple[Chosen, Followed]]:
        """The values that are computed on an edge."""
        for chosen in self.needed.joined.get(edge, ()):
            yield chosen, self.values.edges[edge].joined[chosen]

    def holding(self) -> Iterator[tuple[Base, int]]:
        """The blocks at whose start the register follows from a phi or a computed value."""
        known = {*self.needed.phis, *(each for joined in self.needed.joined.values() for each in joined)}
        for block, value in enumerate(self.values.at):
            if value.base is not None and value.base in known:
                yield value.base, block


def track_tuples(
    read: FunctionCfg, planned: Planned, locations: ProbeLocations, path: Register | None
) -> PathTuples | None:
    """The register of a plan that counts tuples of paths."""
    plan: Plan = planned.plan
    if plan.tuples is None or path is None:
        return None
    values = BeforeRegister(read.graph, plan, path)
    used: list[Value] = []
    for placed in locations.placed():
        followed = _counted(values, placed)
        used += [] if followed is None else [*followed]
    unfinished = {block: values.at[block] for block in sorted(planned.unfinished)}
    base = radix(plan)
    return PathTuples(
        values,
        values.needed([*used, *unfinished.values()]),
        unfinished,
        base,
        base ** (plan.tuples.length - 1),
        plan.tuples.dense,
    )


def _counted(values: BeforeRegister, placed: PlacedProbe) -> Followed | None:
    mark = placed.mark
    if mark is None or mark.holder is not Holder.EDGE:
        return None
    known = values.edges.get(mark.index)
    return None if known is None else known.counted.get(mark.number)
