"""Where frames of a process ended in a block without leaving it along an edge.

A frame that was active at the end, or was left by a non-local exit, is such a frame (BL94 §3.2, BL96 §3.6).
Its return address identifies the call site, and with it the block.  A frame that a signal has interrupted is
at any instruction; debug information leads from there to its block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from trodden.collect.binary.program import Program
from trodden.collect.call_paths import CalledFunction
from trodden.collect.endings import StoppedFrame
from trodden.collect.frames.frame_locator import FrameLocator
from trodden.collect.frames.frame_state import FrameState
from trodden.collect.rawfile.model import Raw, RawFrame, RawSavedRegisters
from trodden.program.call_site_table import NO_BLOCK
from trodden.program.clone_map import origin_of
from trodden.program.facts import UnitFacts
from trodden.recover.path_prefix import register_at_call

LocatorOf = Callable[[Program], FrameLocator]


class EndedInCall(NamedTuple):
    """Frames that ended inside a call of a block of the graph; ``times`` is negative for inherited ones.

    ``call`` is the index of the call among those of the block that have call sites.
    """

    unit: str
    function: int
    block: int
    register: int | None
    times: int
    call: int


class ResumedAfterCall(NamedTuple):
    """Calls in a block that returned more often than they were made, as ``setjmp`` does."""

    unit: str
    function: int
    block: int
    times: int


@dataclass
class EarlyEnds:
    """The early ends of some frames, in the order of the frames.

    ``stacks`` are the active frames by thread, innermost first.  ``unlocated`` is the number of frames whose
    call site or block was not found, ``unlocated_in`` how many of them may be of each function.
    """

    ends: list[FrameState | EndedInCall | ResumedAfterCall] = field(default_factory=list)
    stacks: dict[int, list[StoppedFrame]] = field(default_factory=dict)
    unlocated: int = 0
    unlocated_in: Counter[CalledFunction] = field(default_factory=Counter)

    def add_unlocated(self, functions: Iterable[CalledFunction], times: int = 1) -> None:
        """Add frames that may be of any of these functions."""
        self.unlocated += times
        for function in functions:
            self.unlocated_in[function] += times


class _CallSite(NamedTuple):
    """A call site: its function, its block or ``NO_BLOCK``, and its index among the sites of the block."""

    unit: UnitFacts
    function: int
    block: int
    call: int


class _Unreturned(NamedTuple):
    """Calls with the same return address and the same stack slot, and how many of them did not return.

    ``times`` is negative where more returned than were made: calls that a forked child inherited, and calls
    of ``setjmp`` that returned again (``non_local``).
    """

    module: int | None
    address: int
    slot: int | None
    times: int
    non_local: bool = False


@dataclass(frozen=True)
class EarlyEndFinder:
    """Finds early ends in the programs of a process, which are given by the indices of its modules."""

    modules: Mapping[int, Program]
    locator_of: LocatorOf

    def active(self, raw: Raw, with_source: bool = False) -> EarlyEnds:
        """Those of frames that were active at the end, or were abandoned before.

        ``with_source``: the stacks say which functions of the source each frame consists of.
        """
        found = EarlyEnds()
        registers = {saved.frame: saved for saved in raw.saved_registers}
        for number, frame in enumerate(raw.frames):
            stack = [] if frame.abandoned else found.stacks.setdefault(frame.thread, [])
            saved = registers.get(number)
            if frame.interrupted:
                state = self._interrupted(frame, saved, found)
            else:
                state = self._in_unlabelled_call(frame, saved)
            stopped: list[StoppedFrame] = []
            if state is not None:
                found.ends.append(state)
                stopped = [replace(self._stopped(frame, state), interrupted=frame.interrupted)]
            elif not frame.interrupted:
                stopped = list(self._in_calls(frame, found))
            stack += [self._with_source(frame, each) for each in stopped] if with_source else stopped
        return found

    def _with_source(self, frame: RawFrame, stopped: StoppedFrame) -> StoppedFrame:
        """A frame is at the interrupted instruction, or at the call before its return address."""
        program = self._program(frame.module)
        assert program is not None
        facts = program.units[stopped.unit].functions[stopped.function]
        pc = frame.address if frame.interrupted else frame.address - 1
        return replace(stopped, source=self.locator_of(program).sources.at(pc, facts))

    def inherited(self, raw: Raw) -> EarlyEnds:
        """Those of frames that a forked child has inherited, which count minus one."""
        return self._unreturned(_Unreturned(f.module, f.address, f.slot, -1) for f in raw.inherited)

    def non_local_exits(self, raw: Raw) -> EarlyEnds:
        """Those of frames that were left by non-local exits, and resumptions."""
        exits = raw.non_local_exits
        return self._unreturned(_Unreturned(e.module, e.address, e.slot, e.count, True) for e in exits)

    def _in_calls(self, frame: RawFrame, found: EarlyEnds) -> Iterator[StoppedFrame]:
        """A frame that was inside a call; several where callees were inlined into it."""
        for unit, function, block, call in self._call_sites(frame.module, frame.address, 1, found):
            if block == NO_BLOCK:
                yield StoppedFrame(unit.id, function, None)
                continue
            facts = unit.functions[function]
            origin = origin_of(facts, block)
            register = register_at_call(facts, block, frame.slot) if facts.plan.paths else None
            found.ends.append(EndedInCall(unit.id, function, origin, register, 1, call))
            yield StoppedFrame(unit.id, function, origin, False, register, position=call)

    def _in_unlabelled_call(self, frame: RawFrame, saved: RawSavedRegisters | None) -> FrameState | None:
        """The state of a frame inside a call that has no label, because it is certain to return."""
        program = self._program(frame.module)
        if program is None or saved is None or program.sites.find(frame.address):
            return None
        reader = _stack_reader(saved)
        return self.locator_of(program).in_call(frame.address, saved.registers, reader, saved.cfa)

    def _interrupted(
        self, frame: RawFrame, saved: RawSavedRegisters | None, found: EarlyEnds
    ) -> FrameState | None:
        """The state of a frame that a signal has interrupted: its block and its pending probes."""
        program = self._program(frame.module)
        if program is None:
            return None
        locator = self.locator_of(program)
        if saved is not None:
            state = locator.at(frame.address, saved.registers, _stack_reader(saved), saved.cfa)
            if state is not None:
                return state
        if (
            locator.knows(frame.address)
            or _may_have_probes(program, frame.address)
            or _located_by_calls_only(program)
        ):
            found.add_unlocated(locator.possible.at(frame.address))
        return None

    def _stopped(self, frame: RawFrame, state: FrameState) -> StoppedFrame:
        program = self._program(frame.module)
        assert program is not None
        facts = program.units[state.unit].functions[state.function]
        block = None if state.block == facts.graph.exit else state.block
        position = None
        if block is not None and not state.path_counted and state.lines_reached is not None:
            position = -1 - state.lines_reached
        return StoppedFrame(state.unit, state.function, block, register=state.register, position=position)

    def _unreturned(self, calls: Iterable[_Unreturned]) -> EarlyEnds:
        """Calls that did not return, each one more early end in its block."""
        found = EarlyEnds()
        for module, address, slot, times, non_local in calls:
            for unit, function, block, call in self._call_sites(module, address, times, found):
                if block == NO_BLOCK:
                    continue
                facts = unit.functions[function]
                origin = origin_of(facts, block)
                if non_local and times < 0:
                    found.ends.append(ResumedAfterCall(unit.id, function, origin, -times))
                else:
                    register = register_at_call(facts, block, slot)
                    found.ends.append(EndedInCall(unit.id, function, origin, register, times, call))
        return found

    def _call_sites(
        self, module: int | None, address: int, times: int, found: EarlyEnds
    ) -> Iterator[_CallSite]:
        """The call sites with a return address; several where callees were inlined into one frame."""
        program = self._program(module)
        if program is None:
            return
        sites = program.sites.find(address)
        if not sites:
            possible = self._possible(program, address)
            if possible:
                found.add_unlocated(possible, abs(times))
        for tag, number in sorted(sites):
            unit = program.by_tag.get(tag)
            if unit is None or number >= len(unit.sites):
                found.add_unlocated(self.locator_of(program).possible.at(address - 1), abs(times))
            else:
                yield _CallSite(unit, *unit.sites[number], unit.calls_of_sites[number])

    def _possible(self, program: Program, address: int) -> frozenset[CalledFunction]:
        """The functions that a frame may be of which is in a call without a site.

        A call that is certain to return has none, nor has one of the runtime that counts a path; but what it
        called may have been interrupted.
        """
        locator = self.locator_of(program)
        possible = locator.possible
        if locator.knows(address - 1) or _may_have_probes(program, address):
            return possible.at(address - 1)
        return possible.named(address - 1) if _located_by_calls_only(program) else frozenset()

    def _program(self, module: int | None) -> Program | None:
        return None if module is None else self.modules.get(module)


def _stack_reader(saved: RawSavedRegisters) -> Callable[[int, int], bytes | None]:
    def read(address: int, size: int) -> bytes | None:
        for start, part in saved.stack:
            if start <= address and address + size <= start + len(part):
                return part[address - start : address - start + size]
        return None

    return read


def _located_by_calls_only(program: Program) -> bool:
    """Whether in some of its code, that of the early stage, only call sites locate frames."""
    return any(unit.stage == "early" for unit in program.units.values())


def _may_have_probes(program: Program, address: int) -> bool:
    """Whether the code at an address may have probes; code between labels may have none."""
    return any(_is_counted(program, tag, number) for tag, number in program.sites.nearby(address))


def _is_counted(program: Program, tag: int, number: int) -> bool:
    """Whether a frame at this call site ends early in its block; not if it is counted as left already."""
    unit = program.by_tag.get(tag)
    return unit is None or number >= len(unit.sites) or unit.sites[number][1] != NO_BLOCK
