"""What one process has counted in its units, and where its threads were when it ended.

A frame that was active at the end, or was left by a non-local exit, ended in its block without leaving it
along an edge (BL94 §3.2, BL96 §3.6).  Its return address identifies the call site, and with it the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from trodden.collect.binary.program import Program
from trodden.collect.call_paths import CalledFunction
from trodden.collect.completion import complete_unit
from trodden.collect.endings import (
    MOST_FRAMES,
    MOST_LAST_PATHS,
    MOST_THREADS,
    LastPath,
    StoppedFrame,
    StoppedThread,
)
from trodden.collect.frames.frame_locator import FrameLocator
from trodden.collect.frames.frame_state import FrameState
from trodden.collect.interrupted import add_frame_state
from trodden.collect.process_messages import process_messages
from trodden.collect.rawfile.model import Ending, Raw, RawFrame, RawSavedRegisters, RawSparsePath, RawUnit
from trodden.errors import BadFile
from trodden.program.call_site_table import NO_BLOCK
from trodden.program.clone_map import origin_of
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.recover.path_prefix import register_at_call
from trodden.recover.unit_counts import UnitCounts
from trodden.recover.unit_counts_builder import UnitCountsBuilder

LocatorOf = Callable[[Program], FrameLocator]


class _CallSite(NamedTuple):
    """A call site: its function, and its block or ``NO_BLOCK``."""

    unit: UnitFacts
    function: int
    block: int


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


class ProcessCounts:
    """The counts of one process.

    ``modules`` are the programs of its modules that have counters.  ``messages`` have to be shown beside the
    counts.  ``unlocated`` is the number of frames whose call site or block was not found; ``completed`` are
    functions whose counts were completed, because of such frames or because the process was killed.
    """

    def __init__(self, raw: Raw, modules: Mapping[int, Program], locator_of: LocatorOf) -> None:
        self.raw = raw
        self.unlocated = 0
        self._modules, self._locator_of = modules, locator_of
        self._facts = {name: unit for program in modules.values() for name, unit in program.units.items()}
        self._builders: dict[str, UnitCountsBuilder] = {}
        self._threads: dict[int, list[StoppedFrame]] = {}
        for unit in raw.units:
            self._add_counters(unit, modules[unit.module])
        for path in raw.sparse_paths:
            self._add_sparse_path(path)
        self._add_frames()
        self._add_unreturned(_Unreturned(f.module, f.address, f.slot, -1) for f in raw.inherited)
        exits = raw.non_local_exits
        self._add_unreturned(_Unreturned(e.module, e.address, e.slot, e.count, True) for e in exits)
        self.completed: tuple[CalledFunction, ...] = ()
        unreachable: list[str] = []
        if raw.ending is Ending.KILLED or self.unlocated:
            units = {name: complete_unit(builder) for name, builder in self._builders.items()}
            self.completed = tuple((name, each) for name, unit in units.items() for each in unit.functions)
            unreachable = [
                _block_name(self._facts[name].functions[number], block)
                for name, unit in units.items()
                for number, block in unit.unreachable
            ]
        functions = [each for builder in self._builders.values() for each in builder.facts.functions]
        completed = [self._facts[unit].functions[number].name for unit, number in self.completed]
        self.messages = list(process_messages(raw, functions, completed, unreachable, self.unlocated))

    def unit_counts(self) -> tuple[UnitCounts, ...]:
        """The counts of the units in which it has counted anything."""
        return tuple(builder.result() for builder in self._builders.values())

    def threads(self, process: int) -> Iterator[StoppedThread]:
        """Where its threads were, if that is of interest: the one that ended the process comes first."""
        last_paths: dict[int, list[LastPath]] = {}
        tags = {tag: unit for program in self._modules.values() for tag, unit in program.by_tag.items()}
        for last in self.raw.last_paths:
            unit = tags.get(last.tag)
            if unit is None or last.function >= len(unit.functions):
                continue
            paths = unit.functions[last.function].plan.paths
            if paths is not None and last.path < paths.number:
                last_paths.setdefault(last.thread, []).append(LastPath(unit.id, last.function, last.path))
        stopped = self._threads if self._ended_midway() else {}
        tids = self.raw.tids
        for number in list(dict.fromkeys([*stopped, *last_paths]))[:MOST_THREADS]:
            frames = stopped.get(number, [])
            yield StoppedThread(
                process,
                number,
                tids.get(number) or None,
                tuple(frames[:MOST_FRAMES]),
                max(0, len(frames) - MOST_FRAMES),
                tuple(last_paths.get(number, ())[-MOST_LAST_PATHS:]),
            )

    def _ended_midway(self) -> bool:
        """Whether it ended inside of functions, other than by ``exit`` in its first thread."""
        if self.raw.ending is Ending.EXIT:
            frames = self.raw.frames
            return any((frame.thread or frame.interrupted) and not frame.abandoned for frame in frames)
        return self.raw.ending in (Ending.SIGNAL, Ending.EXEC)

    def _builder(self, unit: str) -> UnitCountsBuilder:
        if unit not in self._builders:
            self._builders[unit] = UnitCountsBuilder(self._facts[unit])
        return self._builders[unit]

    def _add_counters(self, unit: RawUnit, program: Program) -> None:
        slots = self._facts[unit.id].slots
        if slots != len(unit.counters):
            raise BadFile(
                f"{self.raw.path}: corrupt: {len(unit.counters)} counters where {program.path} has {slots}"
            )
        self._builder(unit.id).add_counters(unit.counters)

    def _add_sparse_path(self, entry: RawSparsePath) -> None:
        builder = self._builder(self.raw.units[entry.unit].id)
        known = builder.facts.functions[entry.function : entry.function + 1]
        if not known or known[0].plan.paths is None:
            raise BadFile(f"{self.raw.path}: corrupt: a sparse path is of no function of its program")
        count, cycles = (0, entry.amount) if entry.cycles else (entry.amount, 0)
        builder.add_path(entry.function, entry.path, count, cycles)

    # ---- frames ----

    def _add_frames(self) -> None:
        """Add the frames that were active at the end, or were abandoned before."""
        registers = {saved.frame: saved for saved in self.raw.saved_registers}
        for number, frame in enumerate(self.raw.frames):
            stack = [] if frame.abandoned else self._threads.setdefault(frame.thread, [])
            if frame.interrupted:
                stopped = self._add_interrupted(frame, registers.get(number))
                stack += [stopped] if stopped is not None else []
                continue
            state = self._in_unlabelled_call(frame, registers.get(number))
            if state is not None:
                add_frame_state(self._builder(state.unit), state)
                stack.append(replace(self._stopped(state), interrupted=False))
                continue
            for unit, function, block in self._call_sites(frame.module, frame.address, 1):
                if block == NO_BLOCK:
                    stack.append(StoppedFrame(unit.id, function, None))
                    continue
                facts = unit.functions[function]
                origin = origin_of(facts, block)
                register = register_at_call(facts, block, frame.slot) if facts.plan.paths else None
                self._builder(unit.id).add_cut_short(function, origin, register, 1)
                stack.append(StoppedFrame(unit.id, function, origin, False, register))

    def _in_unlabelled_call(self, frame: RawFrame, saved: RawSavedRegisters | None) -> FrameState | None:
        """The state of a frame inside a call that has no label, because it is certain to return."""
        program = self._modules.get(frame.module) if frame.module is not None else None
        if program is None or saved is None or program.sites.find(frame.address):
            return None
        reader = _stack_reader(saved)
        return self._locator_of(program).in_call(frame.address, saved.registers, reader, saved.cfa)

    def _add_interrupted(self, frame: RawFrame, saved: RawSavedRegisters | None) -> StoppedFrame | None:
        """Add a frame that a signal has interrupted: its block and its pending probes."""
        program = self._modules.get(frame.module) if frame.module is not None else None
        if program is None:
            return None
        locator = self._locator_of(program)
        state = None
        if saved is not None:
            state = locator.at(frame.address, saved.registers, _stack_reader(saved), saved.cfa)
        if state is None:
            if (
                locator.knows(frame.address)
                or self._may_have_probes(program, frame.address)
                or _located_by_calls_only(program)
            ):
                self.unlocated += 1
            return None
        add_frame_state(self._builder(state.unit), state)
        return self._stopped(state)

    def _stopped(self, state: FrameState) -> StoppedFrame:
        facts = self._facts[state.unit].functions[state.function]
        block = None if state.block == facts.graph.exit else state.block
        return StoppedFrame(state.unit, state.function, block, True, state.register)

    def _add_unreturned(self, calls: Iterable[_Unreturned]) -> None:
        """Add calls that did not return, each one more early end in its block."""
        for call in calls:
            for unit, function, block in self._call_sites(call.module, call.address, call.times):
                if block == NO_BLOCK:
                    continue
                facts = unit.functions[function]
                origin = origin_of(facts, block)
                if call.non_local and call.times < 0:
                    self._builder(unit.id).add_resumed(function, origin, -call.times)
                else:
                    register = register_at_call(facts, block, call.slot)
                    self._builder(unit.id).add_cut_short(function, origin, register, call.times)

    def _call_sites(self, module: int | None, address: int, times: int) -> Iterator[_CallSite]:
        """The call sites with a return address; several where callees were inlined into one frame."""
        program = self._modules.get(module) if module is not None else None
        if program is None:
            return
        found = program.sites.find(address)
        if not found and self._may_have_probes(program, address):
            self.unlocated += abs(times)
        for tag, number in sorted(found):
            unit = program.by_tag.get(tag)
            if unit is None or number >= len(unit.sites):
                self.unlocated += abs(times)
            else:
                yield _CallSite(unit, *unit.sites[number])

    @staticmethod
    def _may_have_probes(program: Program, address: int) -> bool:
        """Whether the code at an address may have probes; code between labels may have none."""
        return any(_is_counted(program, tag, number) for tag, number in program.sites.nearby(address))


def _stack_reader(saved: RawSavedRegisters) -> Callable[[int, int], bytes | None]:
    def read(address: int, size: int) -> bytes | None:
        for start, part in saved.stack:
            if start <= address and address + size <= start + len(part):
                return part[address - start : address - start + size]
        return None

    return read


def _block_name(facts: FunctionFacts, block: int) -> str:
    return f"{facts.graph.labels[block]} of {facts.name}"


def _located_by_calls_only(program: Program) -> bool:
    """Whether in some of its code, that of the early stage, only call sites locate frames."""
    return any(unit.stage == "early" for unit in program.units.values())


def _is_counted(program: Program, tag: int, number: int) -> bool:
    """Whether a frame at this call site ends early in its block; not if it is counted as left already."""
    unit = program.by_tag.get(tag)
    return unit is None or number >= len(unit.sites) or unit.sites[number][1] != NO_BLOCK
