"""What every phase of the lowering of a function refers to."""

from __future__ import annotations

from dataclasses import dataclass

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.lower.builder import Builder, ProbeNames
from trodden.native.lower.counter_access import CounterAccess
from trodden.native.lower.debug_locations import FunctionDebug
from trodden.native.lower.insertions import Insertion, Point, Where


@dataclass(frozen=True)
class FunctionLowering:
    """A function, and how code is emitted in it.

    ``number`` is the function's in its unit, ``first_slot`` the slot of the plan's first counter.
    """

    read: FunctionCfg
    number: int
    first_slot: int
    machine: str
    access: CounterAccess
    debug: FunctionDebug
    names: ProbeNames
    landing_pads: frozenset[int]

    def builder(self, point: Point | None = None) -> Builder:
        """A builder for code at one point, which is only given where it matters."""
        return Builder(self.names, lambda: self.debug.upkeep_location, point)

    def access_at(self, point: Point) -> CounterAccess:
        """How counters are used at a point."""
        if point.where is not Where.EDGE and point.number in self.landing_pads:
            return self.access.in_landing_pad()
        return self.access

    def insert(self, point: Point, lines: list[str]) -> Insertion:
        """The insertion of lines at a point.

        A name is reserved for the block on an edge even if the edge has one already.
        """
        return Insertion(point, lines, self.names.value() if point.where is Where.EDGE else "")

    def bottom_or_edge(self, edge: int, lines: list[str]) -> Insertion:
        """The insertion of lines that only matter to an edge: on it if there is room, or in its source."""
        if lines and not self.read.single_successor(edge) and self.read.splittable(edge):
            return self.insert(Point(Where.EDGE, edge), lines)
        return self.insert(Point(Where.BOTTOM, self.read.graph.edges[edge].src), lines)
