"""From an instruction of a function to the block that its frame has come to, and what it owes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from trodden.collect.binary.dwarf import Function
from trodden.collect.binary.dwarf_expressions import Frame
from trodden.collect.frames.code_map import CodeView
from trodden.collect.frames.frame_values import Values, Variables
from trodden.collect.frames.probe_progress import Reaching, Unknown, Walk
from trodden.graph.cfg import EdgeKind
from trodden.graph.loops import find_loops
from trodden.graph.traverse import topological_order
from trodden.plan.paths.locations import Holder, Mark
from trodden.plan.paths.path_register import Register, track
from trodden.plan.paths.prefixes import Known, Offset, register_offsets
from trodden.plan.probes import WORD, AddTrips, Bump, BumpAt, Count, Probe
from trodden.program.clone_map import origin_of
from trodden.program.facts import FunctionFacts, UnitFacts


@dataclass
class Found:
    """Where a frame stands (see :class:`trodden.collect.frames.frame_locator.Position`)."""

    block: int
    register: int | None = None
    owed: dict[int, int] = field(default_factory=dict)
    ended: list[int] = field(default_factory=list)
    whole: bool = False


class Standing:
    """Answers for one function; ``facts`` are those of its code, where copies are blocks too."""

    def __init__(
        self,
        unit: UnitFacts,
        number: int,
        facts: FunctionFacts,
        function: Function,
        code: CodeView,
        plain: bool,
    ) -> None:
        self.unit = unit
        self.number = number
        self._code = code
        self._own = unit.functions[number]
        self._facts = facts
        self._graph = self._facts.graph
        self._plan = self._facts.plan
        self._variables = Variables(function, code, plain)
        self._reaching = Reaching(self._graph, self._plan, code)

    def at(self, pc: int, frame: Frame) -> Found | None:
        """Where a frame stands whose next instruction is at ``pc``."""
        index = self._code.index(pc)
        place = self._code.places[index] if index is not None else None
        if index is None or place is None or not self._reaching.trusted(place):
            return None
        try:
            found = self._found(place, self._reaching.walk(place, index), pc, frame)
        except Unknown:
            return None
        left = found.block == self._graph.exit
        found.block = self._own.graph.exit if left else origin_of(self._own, found.block)
        return found

    def call_before(self, back: int) -> int | None:
        """The address of the call that returns to an address."""
        return self._code.call_before(back)

    def _found(self, place: int, walk: Walk, pc: int, frame: Frame) -> Found:
        values = Values(self._variables, pc, frame, self._stored(place, walk))
        found = Found(walk.block)
        for mark in walk.probes:
            self._owe(found, mark, values)
        if walk.block != self._graph.exit:
            self._owe_trips(found, walk, values)
            if walk.block in self._counted:
                self._go_to_the_end(found, values)
            elif self._plan.paths is not None:
                found.register = self._register_of(walk, place, values)
        return found

    def _stored(self, place: int, walk: Walk) -> str | None:
        """The base that the frame's cell holds for certain."""
        if place not in self._variables.kept or self._plan.paths is None or not walk.stored:
            return None
        value = self._register.at[place]
        return value.base if value is not None else None

    def _owe(self, found: Found, mark: Mark, values: Values) -> None:
        on_edge = mark.holder is Holder.EDGE
        probes = (self._plan.on_edges if on_edge else self._plan.on_blocks).get(mark.index, ())
        if mark.number >= len(probes):
            raise Unknown("no such probe")
        probe: Probe = probes[mark.number]
        slot, amount = 0, 1
        if isinstance(probe, Count):
            slot = probe.slot
        elif isinstance(probe, AddTrips):
            slot, amount = probe.slot, values.trips(probe.back_edge)
        elif isinstance(probe, Bump | BumpAt):
            path = self._path(probe, mark, values)
            if self._plan.paths is not None and not self._plan.paths.dense:
                found.ended.append(path)
                return
            slot = len(self._plan.measures) + path
        else:
            return
        slot += self._facts.first_slot
        found.owed[slot] = found.owed.get(slot, 0) + amount

    def _go_to_the_end(self, found: Found, values: Values) -> None:
        """Let a frame whose path is counted already have walked the one way that is left."""
        found.whole = True
        while found.block != self._graph.exit:
            leaving = [
                edge
                for edge in self._reaching.around(found.block)
                if self._graph.edges[edge].src == found.block
            ]
            if len(leaving) != 1 or self._ends_paths(leaving[0]):
                raise Unknown("more than one way is left")
            found.block = self._graph.edges[leaving[0]].dst
            for holder, index, probes in (
                (Holder.EDGE, leaving[0], self._plan.on_edges.get(leaving[0], ())),
                (Holder.BLOCK, found.block, self._plan.on_blocks.get(found.block, ())),
            ):
                for number in range(len(probes)):
                    self._owe(found, Mark(holder, index, number), values)

    def _ends_paths(self, edge: int) -> bool:
        paths = self._plan.paths
        return paths is not None and edge in (*paths.back_edges, *paths.cuts, *paths.handlers)

    def _path(self, probe: Bump | BumpAt, mark: Mark, values: Values) -> int:
        """The number of a path that has come to its end, but is not counted yet."""
        if isinstance(probe, BumpAt):
            return probe.path
        before = self._register.at_end(self._graph.edges[mark.index].src)
        passed = self._plan.on_edges[mark.index][: mark.number]
        path = (values.of(self._register.after(before, passed)) + probe.add) % WORD
        if self._plan.paths is None or path >= self._plan.paths.number:
            raise Unknown("no such path")
        return path

    def _owe_trips(self, found: Found, walk: Walk, values: Values) -> None:
        """The turns of a loop that is still running are in no counter yet."""
        for back_edge, (slot, members) in self._trips.items():
            if walk.block in members:
                turns = values.trips(back_edge) + (walk.edge == back_edge)
                slot += self._facts.first_slot
                found.owed[slot] = found.owed.get(slot, 0) + turns

    @cached_property
    def _trips(self) -> dict[int, tuple[int, frozenset[int]]]:
        """By back edge: the slot of a loop's trips, and its blocks."""
        wanted = {
            probe.back_edge: probe.slot
            for probes in self._plan.on_edges.values()
            for probe in probes
            if isinstance(probe, AddTrips)
        }
        if not wanted:
            return {}
        forest = find_loops(self._graph)
        return {
            edge: (wanted[edge], frozenset(forest.members(number)))
            for number, loop in enumerate(forest.loops)
            for edge in loop.back_edges
            if edge in wanted
        }

    @cached_property
    def _counted(self) -> set[int]:
        """The blocks to which paths come counted, since only one way leads on from there."""
        paths = self._plan.paths
        found: set[int] = set()
        if paths is None:
            return found
        removed = {*paths.back_edges, *paths.cuts, *paths.handlers}
        for block in topological_order(self._graph):
            for edge in self._graph.in_edges[block]:
                source, _, kind = self._graph.edges[edge]
                if kind is EdgeKind.FLOW and edge not in removed and source != block:
                    probes = self._plan.on_edges.get(edge, ())
                    if source in found or any(isinstance(probe, Bump | BumpAt) for probe in probes):
                        found.add(block)
        return found

    @cached_property
    def _register(self) -> Register:
        """What the path register holds, as it was when the code was made."""
        return track(self._graph, self._plan, self._variables.kept)

    @cached_property
    def _offsets(self) -> list[Known | Offset | None]:
        return register_offsets(self._own.graph, self._own.plan)

    def _register_of(self, walk: Walk, place: int, values: Values) -> int | None:
        """What the path register holds; Unknown where a path that was cut short could not be told."""
        told = self._offsets[origin_of(self._own, walk.block)]
        if isinstance(told, Known):
            return None
        if told is None:
            raise Unknown("nothing tells the path so far")
        if walk.edge is not None:
            return values.of(self._register.along.get(walk.edge))
        if walk.block == place:
            return values.of(self._register.at[place])
        return values.of(self._register.at_end(walk.block))
