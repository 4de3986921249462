"""From an instruction of a function to the block that its frame has reached, and its pending probes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from trodden.collect.binary.dwarf import Function
from trodden.collect.binary.dwarf_expressions import Frame
from trodden.collect.binary.x86_execution import StraightCode
from trodden.collect.frames.code_map import CodeMap
from trodden.collect.frames.frame_state import FrameState
from trodden.collect.frames.frame_values import FrameValues, FunctionVariables
from trodden.collect.frames.probe_progress import ProbeProgress, Progress, Undetermined
from trodden.graph.cfg import EdgeKind
from trodden.graph.loops import find_loops
from trodden.graph.traverse import topological_order
from trodden.plan.overlap_probes import BumpOverlap, ChainPath, ChainPathAt, Channel
from trodden.plan.overlapping.before import BeforeRegister
from trodden.plan.overlapping.fictitious import fictitious_overlaps
from trodden.plan.overlapping.numbering import OverlapNumbering
from trodden.plan.overlapping.registers import OverlapRegisters
from trodden.plan.overlapping.tuples import FLAG, following, radix
from trodden.plan.paths.locations import Holder, Mark
from trodden.plan.paths.path_register import Base, Chosen, Part, Register, Value, track
from trodden.plan.paths.placement import signed
from trodden.plan.probes import WORD, AddTripCount, Bump, BumpAt, Count, Probe
from trodden.program.clone_map import origin_of
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.program.frame_word import join
from trodden.recover.path_prefix import PrefixDecoder


@dataclass
class _State:
    """A frame state while pending probes are added (see :class:`FrameState`)."""

    block: int
    register: int | None = None
    pending: dict[int, int] = field(default_factory=dict)
    ended_paths: list[int] = field(default_factory=list)
    path_counted: bool = False

    def add(self, slot: int, amount: int) -> None:
        """Let a pending probe add to a slot."""
        self.pending[slot] = self.pending.get(slot, 0) + amount


class FunctionLocator:
    """Locates the frames of function ``number`` of a unit; ``facts`` are those of its code, clones included.

    ``unoptimised``: the function was compiled without optimisation.
    """

    def __init__(
        self,
        unit: UnitFacts,
        number: int,
        facts: FunctionFacts,
        function: Function,
        code: CodeMap,
        straight: StraightCode,
        unoptimised: bool,
    ) -> None:
        self._unit = unit
        self._number = number
        self._code = code
        self._source_facts = unit.functions[number]
        self._facts = facts
        self._graph = self._facts.graph
        self._plan = self._facts.plan
        self._variables = FunctionVariables(function, code, straight, unoptimised)
        self._progress = ProbeProgress(self._graph, self._plan, code, self._silent())

    def at(self, pc: int, frame: Frame) -> FrameState | None:
        """The state of a frame whose next instruction is at ``pc``."""
        index = self._code.index_of(pc)
        location = self._code.locations[index] if index is not None else None
        if index is None or location is None or not self._progress.is_reliable(location):
            return None
        try:
            progress = self._progress.progress(location, index)
            state = self._state(location, progress, pc, frame)
        except Undetermined:
            return None
        lines = 0 if self._variables.unoptimised else None
        if state.block == location and progress.edge is None:
            lines = self._variables.lines_reached(location, pc)
        facts = self._source_facts
        at_exit = state.block == self._graph.exit
        return FrameState(
            self._unit.id,
            self._number,
            facts.graph.exit if at_exit else origin_of(facts, state.block),
            state.register,
            tuple(sorted(state.pending.items())),
            tuple(state.ended_paths),
            state.path_counted,
            lines,
            state.path_counted and self._lines_left(progress, location, pc),
        )

    def _lines_left(self, progress: Progress, location: int, pc: int) -> bool:
        """Whether control, on its only way to EXIT, comes to lines that it may not have reached yet."""
        blocks, block = self._facts.blocks, progress.block
        if block != self._graph.exit:
            here = block == location and progress.edge is None
            reached = self._variables.lines_reached(location, pc) if here else 0
            if reached is None or reached < len(blocks[block].lines):
                return True
        while block != self._graph.exit:
            block = self._graph.edges[self._ways_out(block)[0]].dst
            if block != self._graph.exit and blocks[block].statement_lines:
                return True
        return False

    def call_before(self, return_address: int) -> int | None:
        """The address of the call that returns to an address."""
        return self._code.call_before(return_address)

    def _state(self, location: int, progress: Progress, pc: int, frame: Frame) -> _State:
        stored = self._stored_base(location, progress)
        values = FrameValues(self._variables, pc, frame, stored, self._plan.two_registers, self._chosen_again)
        state = _State(progress.block)
        for probe in progress.pending:
            self._add_pending(state, probe, values)
        if progress.block != self._graph.exit:
            self._add_running_trip_counts(state, progress, values)
            if progress.block in self._counted_blocks:
                self._go_to_exit(state, values)
            elif self._plan.paths is not None:
                state.register = self._registers_at(progress, location, values)
            elif self._plan.trace is not None and progress.edge is None:
                with suppress(Undetermined):
                    state.register = self._register_in(progress, location, values)
        return state

    def _stored_base(self, location: int, progress: Progress) -> Base | None:
        """The base of the path register that the frame's stack slot is certain to hold."""
        if location not in self._variables.storing_blocks or self._plan.paths is None:
            return None
        value = self._register.at[location] if progress.register_stored else None
        return value.base if value is not None else None

    def _add_pending(self, state: _State, pending: Mark, values: FrameValues) -> None:
        """Add what a pending probe would have counted."""
        on_edge = pending.holder is Holder.EDGE
        probes = (self._plan.on_edges if on_edge else self._plan.on_blocks).get(pending.index, ())
        if pending.number >= len(probes):
            raise Undetermined("no such probe")
        probe: Probe = probes[pending.number]
        if isinstance(probe, Count):
            state.add(self._facts.first_slot + probe.slot, 1)
        elif isinstance(probe, AddTripCount):
            trips = values.trip_count(probe.back_edge, [self._code.numbering.mark(pending)])
            state.add(self._facts.first_slot + probe.slot, trips)
        elif isinstance(probe, BumpOverlap):
            overlap = self._overlap(pending, values)
            if overlap is not None:
                self._add_path(state, overlap)
        elif isinstance(probe, ChainPath | ChainPathAt):
            self._add_tuple(state, pending, values)
        elif isinstance(probe, Bump | BumpAt):
            self._add_path(state, self._path(probe, pending, values))

    def _add_tuple(self, state: _State, pending: Mark, values: FrameValues) -> None:
        """Let a pending probe count a tuple of paths."""
        assert self._before is not None
        assert self._plan.tuples is not None
        followed = self._before.edges[pending.index].counted.get(pending.number)
        if followed is None:
            return
        before = values.of(followed.before)
        number = before * radix(self._plan) + values.of(followed.path) + 1
        if not before or number >= self._plan.tuple_numbers:
            return
        if self._plan.tuples.dense:
            state.add(self._facts.first_slot + self._plan.first_tuple + number, 1)
        else:
            state.ended_paths.append(FLAG | number)

    def _add_path(self, state: _State, path: int) -> None:
        """Let a pending probe count a path."""
        if self._plan.paths is not None and not self._plan.paths.dense:
            state.ended_paths.append(path)
        else:
            state.add(self._facts.first_slot + len(self._plan.measures) + path, 1)

    def _go_to_exit(self, state: _State, values: FrameValues) -> None:
        """Let a frame whose path is counted already have executed the blocks that are left, up to EXIT."""
        state.path_counted = True
        while state.block != self._graph.exit:
            leaving = self._ways_out(state.block)
            if len(leaving) != 1 or leaving[0] in self._removed:
                raise Undetermined("a block has several successors after the path was counted")
            state.block = self._graph.edges[leaving[0]].dst
            for holder, index, probes in (
                (Holder.EDGE, leaving[0], self._plan.on_edges.get(leaving[0], ())),
                (Holder.BLOCK, state.block, self._plan.on_blocks.get(state.block, ())),
            ):
                for number, probe in enumerate(probes):
                    # The iterations of a loop that is running are added already; others have not begun.
                    if not isinstance(probe, AddTripCount):
                        self._add_pending(state, Mark(holder, index, number), values)

    def _ways_out(self, block: int) -> list[int]:
        """The edges that lead out of a block; its iterations, if it is a loop, are not part of paths."""
        return [edge for edge in self._progress.out_edges(block) if self._graph.edges[edge].dst != block]

    @cached_property
    def _removed(self) -> frozenset[int]:
        """The edges on which paths end."""
        paths = self._plan.paths
        return (
            frozenset() if paths is None else frozenset((*paths.back_edges, *paths.cuts, *paths.resume_edges))
        )

    def _path(self, probe: Bump | BumpAt, pending: Mark, values: FrameValues) -> int:
        """The number of a path that has ended, but is not counted yet."""
        if isinstance(probe, BumpAt):
            return probe.path
        before = self._register.at_end(self._graph.edges[pending.index].src)
        executed = self._plan.on_edges[pending.index][: pending.number]
        path = (values.of(self._register.after(before, executed)) + probe.add) % WORD
        if path >= self._plan.numbers:
            raise Undetermined("no such path")
        return path

    def _overlap(self, pending: Mark, values: FrameValues) -> int | None:
        """The number of an overlap that has ended, but is not counted yet; None if there was none."""
        assert self._overlaps is not None
        counted = self._overlaps.counted(pending.index, pending.number, self._plan.numbers)
        if counted is None:
            return None
        if counted.condition is not None:
            held = values.of(counted.condition.value)
            if signed(held) <= counted.condition.above:
                return None
        number = values.of(counted.number)
        return number if number < self._plan.numbers else None

    def _silent(self) -> frozenset[tuple[int, int]]:
        """The probes of edges, by edge and number, that have no code because they count nothing."""
        return frozenset(
            (edge, number)
            for edge, probes in self._plan.on_edges.items()
            for number, probe in enumerate(probes)
            if self._is_silent(edge, number, probe)
        )

    def _is_silent(self, edge: int, number: int, probe: Probe) -> bool:
        if isinstance(probe, BumpOverlap):
            return self._overlaps is None or (
                self._overlaps.counted(edge, number, self._plan.numbers) is None
            )
        if isinstance(probe, ChainPath | ChainPathAt):
            return self._before is None or number not in self._before.edges[edge].counted
        return False

    def _add_running_trip_counts(self, state: _State, progress: Progress, values: FrameValues) -> None:
        """Add the trip counts of loops that are still running: no counter contains them yet."""
        for back_edge, (slot, members) in self._counted_loops.items():
            entering = progress.edge is not None and self._graph.edges[progress.edge].src not in members
            if progress.block in members and not entering:
                trips = self._running_trip_count(back_edge, values) + (progress.edge == back_edge)
                state.add(self._facts.first_slot + slot, trips)

    def _running_trip_count(self, back_edge: int, values: FrameValues) -> int:
        """How often the back edge of a loop was taken; an exit may be about to add that."""
        marks = [
            self._code.numbering.mark(Mark(Holder.EDGE, edge, number))
            for edge, probes in self._plan.on_edges.items()
            for number, probe in enumerate(probes)
            if isinstance(probe, AddTripCount) and probe.back_edge == back_edge
        ]
        return values.trip_count(back_edge, marks)

    @cached_property
    def _counted_loops(self) -> dict[int, tuple[int, frozenset[int]]]:
        """By back edge: the slot of a loop's trip count, and the blocks of the loop."""
        slots = {
            probe.back_edge: probe.slot
            for probes in self._plan.on_edges.values()
            for probe in probes
            if isinstance(probe, AddTripCount)
        }
        if not slots:
            return {}
        forest = find_loops(self._graph)
        return {
            edge: (slots[edge], frozenset(forest.members(number)))
            for number, loop in enumerate(forest.loops)
            for edge in loop.back_edges
            if edge in slots
        }

    @cached_property
    def _counted_blocks(self) -> set[int]:
        """The blocks at which the path is counted already, since all that follow have one successor."""
        found: set[int] = set()
        if self._plan.paths is None:
            return found
        for block in topological_order(self._graph):
            for edge in self._graph.in_edges[block]:
                source, _, kind = self._graph.edges[edge]
                if kind is EdgeKind.FLOW and edge not in self._removed and source != block:
                    probes = self._plan.on_edges.get(edge, ())
                    if source in found or any(isinstance(probe, Bump | BumpAt) for probe in probes):
                        found.add(block)
        return found

    @cached_property
    def _register(self) -> Register:
        """The values of the path register, as they were when the code was generated."""
        return track(self._graph, self._plan, self._variables.storing_blocks)

    @cached_property
    def _overlaps(self) -> OverlapRegisters | None:
        """The values of the registers of overlaps, as they were when the code was generated."""
        facts = self._source_facts
        if not self._plan.extends or facts.plan.paths is None or facts.plan.overlaps is None:
            return None
        numbering = OverlapNumbering(facts.graph, facts.plan.paths, facts.plan.overlaps)
        fictitious = fictitious_overlaps(facts.plan, numbering)
        origins = {block: origin_of(facts, block) for block in range(self._graph.exit)}
        return OverlapRegisters(self._graph, self._plan, self._register, Channel.LOOP, fictitious.at(origins))

    @cached_property
    def _decoder(self) -> PrefixDecoder:
        return PrefixDecoder(self._source_facts.graph, self._source_facts.plan)

    def _registers_at(self, progress: Progress, location: int, values: FrameValues) -> int | None:
        """The path register, and in the same word that of the overlap if paths are extended."""
        path = self._register_at(progress, location, values)
        if not self._plan.two_registers:
            return path
        if not self._decoder.needs_second_register(origin_of(self._source_facts, progress.block)):
            return None if path is None else join(path, 0)
        here, arriving = self._second_register(progress)
        try:
            second = values.of(here if arriving is None else arriving)
        except Undetermined:
            if arriving is None:
                raise
            second = values.at_start(here, progress.block)
        return join(path or 0, second)

    def _second_register(self, progress: Progress) -> tuple[Value, Value | None]:
        """The value of the second register in a block, and at the end of the edge that was taken to it."""
        edge = progress.edge
        if self._before is not None:
            arriving = None if edge is None else self._before.edges[edge].before
            return self._before.at[progress.block], arriving
        assert self._overlaps is not None
        along = self._overlaps.edges.get(edge) if edge is not None else None
        here = self._overlaps.at[progress.block]
        if here is None:
            raise Undetermined("no overlap can be active")
        return here.register, None if along is None or along.state is None else along.state.register

    def _chosen_again(self, chosen: Chosen, values: FrameValues) -> int | None:
        """A value that is chosen or computed on an edge, from those that it is computed from."""
        if chosen.part is Part.BEFORE:
            assert self._before is not None
            before, path = map(values.of, self._before.edges[chosen.edge].joined[chosen])
            return following(self._plan, before, path)
        assert self._overlaps is not None
        condition, yes, no = self._overlaps.edges[chosen.edge].choices[chosen]
        holds = signed(values.of(condition.value)) > condition.above
        return values.of(yes if holds else no)

    @cached_property
    def _before(self) -> BeforeRegister | None:
        """The values of the register of the paths before, as they were when the code was generated."""
        return None if self._plan.tuples is None else BeforeRegister(self._graph, self._plan, self._register)

    def _register_at(self, progress: Progress, location: int, values: FrameValues) -> int | None:
        """The path register; Undetermined where the prefix of the path would not follow from it."""
        block = origin_of(self._source_facts, progress.block)
        if not self._decoder.decodes(block):
            raise Undetermined("the prefix of the path does not follow from the path register")
        if not self._decoder.needs_path_register(block):
            return None
        if progress.edge is not None:
            try:
                return values.of(self._register.along.get(progress.edge))
            except Undetermined:
                return values.at_start(self._register.at[progress.block], progress.block)
        return self._register_in(progress, location, values)

    def _register_in(self, progress: Progress, location: int, values: FrameValues) -> int:
        """The path register in the block that the frame has reached, which it has not left."""
        if progress.block == location:
            return values.of(self._register.at[location])
        return values.of(self._register.at_end(progress.block))
