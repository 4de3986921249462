"""The functions of a traced process by their numbers, and its calls by return addresses."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from trodden.collect.binary.call_sites import SiteTable
from trodden.errors import BadFile
from trodden.profile.trace.model import LastFrame, TracedProcess, Traces
from trodden.program.call_site_table import tag_of
from trodden.program.clone_map import origin_of
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.recover.trace.ending import ActiveFrame
from trodden.recover.trace.events import NONE
from trodden.recover.trace.procedure import Procedure
from trodden.recover.trace.region_prefix import region_sum
from trodden.recover.trace.tables import procedure_of


class TracedProgram:
    """What a reader asks about the program of a process (:class:`trodden.recover.trace.stack.Program`)."""

    def __init__(self, units: Sequence[UnitFacts], traces: Traces, process: TracedProcess) -> None:
        self._units = units
        self._traces = traces
        self._process = process
        self._bases = [first for first, _ in process.units]
        self._procedures: dict[int, Procedure | None] = {}
        self._tables: dict[int, SiteTable] = {}
        self._by_tag: dict[int, tuple[UnitFacts, int]] = {}
        for first, unit in process.units:
            self._by_tag[tag_of(units[unit].id)] = units[unit], first

    def place(self, number: int) -> tuple[int, int] | None:
        """The unit, by its index in the profile, and the index in it of the function with a number."""
        index = bisect_right(self._bases, number) - 1
        if index < 0:
            return None
        first, unit = self._process.units[index]
        return (unit, number - first) if number - first < len(self._units[unit].functions) else None

    def facts(self, number: int) -> FunctionFacts:
        """The function with a number, which exists."""
        place = self.place(number)
        assert place is not None
        return self._units[place[0]].functions[place[1]]

    def unit(self, number: int) -> UnitFacts:
        """The unit of the function with a number, which exists."""
        place = self.place(number)
        assert place is not None
        return self._units[place[0]]

    def block(self, number: int, vertex: int) -> int:
        """The block of a place in a function: behind a call whose witness was not written, the one there."""
        code = self.procedure(number)
        return code.arcs[vertex][0].target if code is not None and vertex > code.exit else vertex

    @property
    def units(self) -> Sequence[UnitFacts]:
        """The units of the process."""
        return [self._units[unit] for _, unit in self._process.units]

    @property
    def numbers(self) -> Sequence[int]:
        """The numbers of all functions."""
        return [
            first + index
            for first, unit in self._process.units
            for index in range(len(self._units[unit].functions))
        ]

    def procedure(self, number: int) -> Procedure | None:
        """The tables of a function; ``None`` if it does not exist or records nothing."""
        if number not in self._procedures:
            self._procedures[number] = self._procedure(number)
        return self._procedures[number]

    def _procedure(self, number: int) -> Procedure | None:
        place = self.place(number)
        if place is None:
            return None
        unit = self._units[place[0]]
        facts = unit.functions[place[1]]
        if facts.plan.trace is None:
            return None
        try:
            return procedure_of(facts.name, facts.graph, facts.plan)
        except ValueError as error:
            raise BadFile(f"{unit.source}: {facts.name}: corrupt: its regions are not consistent") from error

    def active(self, frame: LastFrame) -> ActiveFrame:
        """A frame at the end, with the way in its region as far as its register tells it."""
        total = None
        if frame.block is not None and frame.register is not None and self.place(frame.function) is not None:
            facts = self.facts(frame.function)
            total = region_sum(facts.graph, facts.plan, frame.block, frame.register)
        return ActiveFrame(frame.function, frame.block, frame.interrupted, total)

    def base(self, number: int) -> int:
        """The number of the first function of the same unit."""
        return self._bases[bisect_right(self._bases, number) - 1]

    def frames_at(self, module: int, address: int) -> Sequence[tuple[int, int]]:
        """The function and the block of a call that returns to an address."""
        if module not in self._process.modules:
            return ()
        index = self._process.modules[module]
        if index not in self._tables:
            sites = self._traces.sites[index]
            data = self._traces.pieces.read(sites.labels)
            self._tables[index] = SiteTable(data, sites.code, self._traces.pieces.name, sites.functions)
        found = []
        for tag, number in sorted(self._tables[index].find(address)):
            unit, first = self._by_tag.get(tag, (None, 0))
            if unit is None or number >= len(unit.sites):
                continue
            function, block = unit.sites[number]
            block = origin_of(unit.functions[function], block) if block >= 0 else NONE
            found.append((first + function, block))
        return found
