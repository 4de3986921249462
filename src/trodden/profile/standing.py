"""From an instruction of a function to the block that its frame has come to, and what it owes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from trodden.graph.cfg import EdgeKind
from trodden.graph.loops import find_loops
from trodden.native.places import Holder, Mark
from trodden.native.positions import KEPT, TRIPS, VALUE
from trodden.native.register import CELL, Register, Value, track
from trodden.plan.prefixes import Known, Offset, register_offsets
from trodden.plan.probes import AddTrips, Bump, BumpAt, Count, Probe
from trodden.profile.codeview import CodeView
from trodden.profile.dwarf import Function, Variable
from trodden.profile.dwarfeval import Frame, evaluate
from trodden.profile.model import UnitFacts
from trodden.recover.paths import WORD

_COUNTING = (Count, AddTrips, Bump, BumpAt)


class Unknown(Exception):
    """Something that would have to be known cannot be."""


@dataclass
class Found:
    """Where a frame stands (see :class:`trodden.profile.positions.Position`)."""

    block: int
    register: int | None = None
    owed: dict[int, int] = field(default_factory=dict)
    ended: list[int] = field(default_factory=list)


@dataclass
class _Walk:
    """The way a frame has come: to ``block``, over ``edge`` if that was taken in the same place.

    ``probes`` are those of edges and blocks on the way that were not carried out yet.
    """

    block: int
    edge: int | None = None
    probes: list[Mark] = field(default_factory=list)


class Standing:
    """Answers for one function."""

    def __init__(self, unit: UnitFacts, number: int, function: Function, code: CodeView) -> None:
        self.unit = unit
        self.number = number
        self._function = function
        self._code = code
        self._facts = unit.functions[number]
        self._graph = self._facts.graph
        self._plan = self._facts.plan
        self._variables = {each.name: each for each in function.variables}

    def at(self, pc: int, frame: Frame) -> Found | None:
        """Where a frame stands whose next instruction is at ``pc``."""
        index = self._code.index(pc)
        place = self._code.places[index] if index is not None else None
        if index is None or place is None or not self._trusted(place):
            return None
        ahead = self._code.ahead(index)
        if ahead is None:
            return None
        try:
            return self._found(place, ahead, pc, frame)
        except Unknown:
            return None

    def _trusted(self, place: int) -> bool:
        """Whether nobody else uses the place's instructions, and all probes around it are where they belong."""
        if place >= self._code.numbers.elsewhere or self._code.shared(place):
            return False
        edge = self._code.numbers.edge_of(place)
        around: Iterable[int] = [edge] if edge is not None else self._around(place)
        return all(self._complete(each) for each in around)

    def _around(self, block: int) -> list[int]:
        beside = [*self._graph.in_edges[block], *self._graph.out_edges[block]]
        return [edge for edge in beside if self._graph.edges[edge].kind is EdgeKind.FLOW]

    def _complete(self, edge: int) -> bool:
        target = self._graph.edges[edge].dst
        for number, probe in enumerate(self._plan.on_edges.get(edge, ())):
            if isinstance(probe, _COUNTING) and not self._marked(Mark(Holder.EDGE, edge, number)):
                return target < self._graph.exit and self._marked(Mark(Holder.MERGED, target))
        return True

    def _marked(self, mark: Mark) -> bool:
        return self._code.numbers.mark(mark) in self._every_mark

    @cached_property
    def _every_mark(self) -> set[int]:
        return self._code.all_marks()

    def _found(self, place: int, ahead: set[int], pc: int, frame: Frame) -> Found:
        marks = {code: self._code.numbers.mark_of(code) for code in self._code.marks(place)}
        waiting = [mark for code, mark in marks.items() if code in ahead and mark is not None]
        past = [mark for code, mark in marks.items() if code not in ahead and mark is not None]
        if any(mark.holder is Holder.MERGED for mark in waiting):
            raise Unknown("u1")
        walk = self._walk(place, past, waiting)
        reader = _Values(self, pc, frame, stored=self._stored(place, past, waiting))
        found = Found(walk.block)
        for mark in walk.probes:
            self._owe(found, mark, reader)
        if walk.block != self._graph.exit:
            self._owe_trips(found, walk, reader)
            if self._plan.paths is not None:
                found.register = self._register_of(walk, place, reader)
        return found

    def _walk(self, place: int, past: Sequence[Mark], waiting: Sequence[Mark]) -> _Walk:
        """How far the frame has come, by the probes that were carried out."""
        own = self._code.numbers.edge_of(place)
        taken = {mark.index for mark in past if mark.holder is Holder.EDGE} | self._handed_on(place)
        walk = _Walk(place)
        if own is not None:
            source, target, _ = self._graph.edges[own]
            entered = any(mark.holder is Holder.BLOCK and mark.index == target for mark in past)
            beyond = any(self._graph.edges[edge].src == target for edge in taken - {own})
            walk = _Walk(target, own) if own in taken or entered or beyond else _Walk(source)
        passed: set[int] = {own} if own is not None and walk.edge is not None else set()
        if own is None:
            entering = (edge for edge in self._around(place) if self._graph.edges[edge].dst == place)
            passed |= {edge for edge in entering if self._graph.edges[edge].src != place}
        while True:
            leaving = [
                edge for edge in taken - passed if self._graph.edges[edge].src == walk.block
            ]
            if not leaving:
                leaving = self._leading_to(walk.block, {self._graph.edges[edge].src for edge in taken - passed})
            if not leaving:
                break
            if len(leaving) > 1:
                raise Unknown("u2")
            walk = _Walk(self._graph.edges[leaving[0]].dst, leaving[0])
            passed.add(leaving[0])
        foreign = taken - passed
        if foreign:
            raise Unknown("u3")
        reached = {walk.block, place}
        walk.probes = [
            mark
            for mark in sorted(waiting, key=lambda mark: (mark.index, mark.number))
            if (mark.holder is Holder.EDGE and mark.index in passed)
            or (mark.holder is Holder.BLOCK and mark.index in reached and mark.index != self._graph.exit)
        ]
        if own is not None and walk.edge is None:
            walk.probes = []
        return walk

    def _handed_on(self, place: int) -> set[int]:
        """The edge out of a block whose probes stand before the block, since that must stay empty."""
        if place >= self._graph.exit:
            return set()
        leaving = [edge for edge in self._around(place) if self._graph.edges[edge].src == place]
        if len(leaving) != 1 or not self._counts(leaving[0]):
            return set()
        edge = leaving[0]
        target = self._graph.edges[edge].dst
        places = {place, self._code.numbers.on_edge(edge), target}
        marks = [self._code.numbers.mark_of(code) for each in places for code in self._code.marks(each)]
        own = any(mark is not None and (mark.holder, mark.index) == (Holder.EDGE, edge) for mark in marks)
        merged = target != self._graph.exit and self._marked(Mark(Holder.MERGED, target))
        return set() if own or merged else {edge}

    def _leading_to(self, block: int, targets: set[int]) -> list[int]:
        """The edges without probes from a block to those that the frame has passed too."""
        edges = self._around(block) if targets and block != self._graph.exit else []
        return [
            edge
            for edge in edges
            if self._graph.edges[edge].src == block
            and self._graph.edges[edge].dst in targets
            and not self._counts(edge)
        ]

    def _counts(self, edge: int) -> bool:
        return any(isinstance(probe, _COUNTING) for probe in self._plan.on_edges.get(edge, ()))

    def _owe(self, found: Found, mark: Mark, values: _Values) -> None:
        on_edge = mark.holder is Holder.EDGE
        probes = (self._plan.on_edges if on_edge else self._plan.on_blocks).get(mark.index, ())
        if mark.number >= len(probes):
            raise Unknown("u4")
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

    def _path(self, probe: Bump | BumpAt, mark: Mark, values: _Values) -> int:
        """The number of a path that has come to its end, but is not counted yet."""
        if isinstance(probe, BumpAt):
            return probe.path
        before = self.register.leaving(self._graph.edges[mark.index].src)
        passed = self._plan.on_edges[mark.index][: mark.number]
        path = (values.of(self.register.after(before, passed)) + probe.add) % WORD
        if self._plan.paths is None or path >= self._plan.paths.number:
            raise Unknown("u5")
        return path

    def _owe_trips(self, found: Found, walk: _Walk, values: _Values) -> None:
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
    def register(self) -> Register:
        """What the path register holds, as it was when the code was made."""
        return track(self._graph, self._plan, self.kept)

    @cached_property
    def kept(self) -> frozenset[int]:
        """The blocks behind whose calls the register is taken from the frame's cell."""
        cell = self.cell
        words = cell.name.split(".")[1:] if cell is not None else []
        return frozenset(int(word, 16) for word in words)

    @property
    def cell(self) -> Variable | None:
        """The frame's cell."""
        return next((each for name, each in self._variables.items() if name.split(".")[0] == KEPT), None)

    @cached_property
    def _offsets(self) -> list[Known | Offset | None]:
        return register_offsets(self._graph, self._plan)

    def _register_of(self, walk: _Walk, place: int, values: _Values) -> int | None:
        """What the path register holds; Unknown where a path that was cut short could not be told."""
        told = self._offsets[walk.block]
        if isinstance(told, Known):
            return None
        if told is None:
            raise Unknown("u6")
        if walk.edge is not None:
            return values.of(self.register.along.get(walk.edge))
        if walk.block == place:
            return values.of(self.register.at[place])
        return values.of(self.register.leaving(walk.block))

    def _stored(self, place: int, past: Sequence[Mark], waiting: Sequence[Mark]) -> str | None:
        """The base that the frame's cell holds for certain."""
        if place not in self.kept or self._plan.paths is None:
            return None
        if any(mark.holder is Holder.CELL for mark in waiting):
            return None
        value = self.register.at[place]
        return value.base if value is not None else None

    def variable(self, name: str, size: int, pc: int, frame: Frame) -> int | None:
        """What a variable holds at an instruction."""
        variable = self._variables.get(name)
        if variable is None:
            return None
        if variable.constant is not None:
            return variable.constant % (1 << 8 * size)
        expression = variable.expression(pc)
        return evaluate(expression, frame, self._function.frame_base, size) if expression is not None else None

    @cached_property
    def inductions(self) -> dict[int, tuple[str, int, int, int]]:
        """By back edge: the variable, the size, the start and the step of what tells a loop's trips."""
        found: dict[int, tuple[str, int, int, int]] = {}
        for name in self._variables:
            first, *words = name.split(".")
            if first == TRIPS:
                edge, start, step, bits = map(int, words)
                found[edge] = (name, bits, start, step)
        return found


@dataclass(frozen=True)
class _Values:
    """The values of one frame; ``stored`` is the base that its cell holds."""

    standing: Standing
    pc: int
    frame: Frame
    stored: str | None

    def of(self, value: Value | None) -> int:
        """A value of the path register."""
        if value is None:
            raise Unknown("u7")
        if value.base is None:
            return value.add % WORD
        base = None
        if value.base != CELL:
            base = self.standing.variable(f"{VALUE}.{value.base}", 8, self.pc, self.frame)
        if base is None and value.base in (CELL, self.stored) and self.standing.cell is not None:
            base = self.standing.variable(self.standing.cell.name, 8, self.pc, self.frame)
        if base is None:
            raise Unknown("u8")
        return (base + value.add) % WORD

    def trips(self, back_edge: int) -> int:
        """How often a back edge was taken since its loop was entered."""
        name, bits, start, step = self.standing.inductions.get(back_edge, ("", 64, 0, 1))
        value = self.standing.variable(name, (bits + 7) // 8, self.pc, self.frame) if name else None
        if value is None:
            raise Unknown("u9")
        distance = (value - start if step > 0 else start - value) % (1 << bits)
        return distance // abs(step)
