"""What one process has counted, entered into its units, and where its threads were when it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from trodden.collect.binary.program import Program
from trodden.collect.call_paths import CalledFunction
from trodden.collect.completion import complete_unit
from trodden.collect.endings import (
    MOST_FRAMES,
    MOST_LASTS,
    MOST_THREADS,
    LastPath,
    StoppedFrame,
    StoppedThread,
    signal_name,
)
from trodden.collect.frames.frame_locator import FrameLocator
from trodden.collect.frames.frame_state import FrameState
from trodden.collect.interrupted import add_frame_state
from trodden.collect.rawfile.model import Ending, Raw, RawContext, RawFrame, RawNote, RawUnit
from trodden.errors import BadFile
from trodden.plan.probes import AddTrips
from trodden.program.clone_map import origin_of
from trodden.program.facts import UnitFacts
from trodden.recover.path_prefix import register_at_call
from trodden.recover.unit_counts import UnitCounts
from trodden.recover.unit_counts_builder import UnitCountsBuilder

_MOST_NAMED = 8

LocatorOf = Callable[[Program], FrameLocator]


class _Place(NamedTuple):
    """A call site; the block is negative where the function had counted its way out before the call."""

    unit: UnitFacts
    function: int
    block: int


class _Call(NamedTuple):
    """Calls that have the same return address and the same cell, and how many did not come back."""

    module: int | None
    address: int
    cell: int | None
    amount: int
    jumped: bool = False


class ProcessCounts:
    """The counts of one process.

    ``modules`` are the programs of its modules that have counters.  ``notes`` are what has to be told beside
    the counts; the name of the process goes before each.  ``unplaced`` are calls that stood where nobody can
    tell; ``completed`` functions whose counts had to be made to fit together because of such calls.
    """

    def __init__(self, raw: Raw, modules: Mapping[int, Program], locator_of: LocatorOf) -> None:
        self.raw = raw
        self.notes: list[str] = []
        self.unplaced = 0
        self._modules, self._locator_of = modules, locator_of
        self._facts = {name: unit for program in modules.values() for name, unit in program.units.items()}
        self._tallies: dict[str, UnitCountsBuilder] = {}
        self._threads: dict[int, list[StoppedFrame]] = {}
        for unit in raw.units:
            self._add_counts(unit, modules[unit.module])
        for note in raw.notes:
            self._add_note(note)
        self._add_frames()
        self._add_calls(_Call(f.module, f.address, f.cell, -1) for f in raw.inherited)
        self._add_calls(_Call(j.module, j.address, j.cell, j.count, True) for j in raw.jumps)
        self.completed: tuple[CalledFunction, ...] = ()
        if raw.ending is Ending.KILLED or self.unplaced:
            self.completed = tuple(
                (name, number) for name, tally in self._tallies.items() for number in complete_unit(tally)
            )
        self._tell()

    @property
    def units(self) -> Iterator[UnitCountsBuilder]:
        """The units in which it has counted anything."""
        return iter(self._tallies.values())

    def unit_counts(self) -> tuple[UnitCounts, ...]:
        """What it has counted, of the units in which it has counted anything."""
        return tuple(builder.result() for builder in self._tallies.values())

    def threads(self, process: int) -> Iterator[StoppedThread]:
        """Where its threads were, those that are worth telling: the one that ended it comes first."""
        lasts: dict[int, list[LastPath]] = {}
        tags = {tag: unit for program in self._modules.values() for tag, unit in program.by_tag.items()}
        for last in self.raw.lasts:
            unit = tags.get(last.tag)
            if unit is None or last.function >= len(unit.functions):
                continue
            paths = unit.functions[last.function].plan.paths
            if paths is not None and last.path < paths.number:
                lasts.setdefault(last.thread, []).append(LastPath(unit.id, last.function, last.path))
        stopped = self._threads if self._worth_telling() else {}
        tids = self.raw.tids
        for number in list(dict.fromkeys([*stopped, *lasts]))[:MOST_THREADS]:
            frames = stopped.get(number, [])
            yield StoppedThread(
                process,
                number,
                tids.get(number) or None,
                tuple(frames[:MOST_FRAMES]),
                max(0, len(frames) - MOST_FRAMES),
                tuple(lasts.get(number, ())[-MOST_LASTS:]),
            )

    def _worth_telling(self) -> bool:
        """Whether it ended in the middle of something, other than by a plain ``exit`` of its first thread."""
        if self.raw.ending is Ending.EXIT:
            return any((frame.thread or frame.interrupted) and not frame.left for frame in self.raw.frames)
        return self.raw.ending in (Ending.SIGNAL, Ending.EXEC)

    def _tally(self, unit: str) -> UnitCountsBuilder:
        if unit not in self._tallies:
            self._tallies[unit] = UnitCountsBuilder(self._facts[unit])
        return self._tallies[unit]

    def _add_counts(self, unit: RawUnit, program: Program) -> None:
        slots = self._facts[unit.id].slots
        if slots != len(unit.counts):
            raise BadFile(
                f"{self.raw.path}: corrupt: {len(unit.counts)} counters where {program.path} has {slots}"
            )
        self._tally(unit.id).add_counters(unit.counts)

    def _add_note(self, note: RawNote) -> None:
        tally = self._tally(self.raw.units[note.unit].id)
        known = tally.facts.functions[note.function : note.function + 1]
        if not known or known[0].plan.paths is None:
            raise BadFile(f"{self.raw.path}: corrupt: a note is about no path of its program")
        if note.time:
            tally.add_path(note.function, note.value, 0, note.amount)
        else:
            tally.add_path(note.function, note.value, note.amount, 0)

    # ---- calls that did not come back ----

    def _add_frames(self) -> None:
        contexts = {context.frame: context for context in self.raw.contexts}
        for number, frame in enumerate(self.raw.frames):
            stack = [] if frame.left else self._threads.setdefault(frame.thread, [])
            if frame.interrupted:
                stopped = self._add_interrupted(frame, contexts.get(number))
                stack += [stopped] if stopped is not None else []
                continue
            state = self._in_call(frame, contexts.get(number))
            if state is not None:
                add_frame_state(self._tally(state.unit), state)
                stack.append(replace(self._stopped(state), interrupted=False))
                continue
            for unit, function, block in self._places(frame.module, frame.address, 1):
                if block < 0:
                    stack.append(StoppedFrame(unit.id, function, None))
                    continue
                facts = unit.functions[function]
                origin = origin_of(facts, block)
                register = register_at_call(facts, block, frame.cell) if facts.plan.paths else None
                self._tally(unit.id).add_cut_short(function, origin, register, 1)
                stack.append(StoppedFrame(unit.id, function, origin, False, register))

    def _in_call(self, frame: RawFrame, context: RawContext | None) -> FrameState | None:
        """Where a frame is in a call without a label, as it would have returned for certain."""
        program = self._modules.get(frame.module) if frame.module is not None else None
        if program is None or context is None or program.sites.find(frame.address):
            return None
        reader = _reader(context)
        return self._locator_of(program).in_call(frame.address, context.registers, reader, context.cfa)

    def _add_interrupted(self, frame: RawFrame, context: RawContext | None) -> StoppedFrame | None:
        """A frame that a signal has stopped anywhere: its block and what it owes (BL94 §3.2, BL96 §3.6)."""
        program = self._modules.get(frame.module) if frame.module is not None else None
        if program is None:
            return None
        locator = self._locator_of(program)
        state = None
        if context is not None:
            state = locator.at(frame.address, context.registers, _reader(context), context.cfa)
        if state is None:
            if (
                locator.knows(frame.address)
                or self._may_count(program, frame.address)
                or _tells_little(program)
            ):
                self.unplaced += 1
            return None
        add_frame_state(self._tally(state.unit), state)
        return self._stopped(state)

    def _stopped(self, state: FrameState) -> StoppedFrame:
        facts = self._facts[state.unit].functions[state.function]
        block = None if state.block == facts.graph.exit else state.block
        return StoppedFrame(state.unit, state.function, block, True, state.register)

    def _add_calls(self, calls: Iterable[_Call]) -> None:
        """Enter calls that did not come back.

        Each is one more way out of its block.  An amount is negative where more came back than went: in
        the calls that a forked child began with, and where setjmp returned again.
        """
        for call in calls:
            for unit, function, block in self._places(call.module, call.address, call.amount):
                if block < 0:
                    continue
                facts = unit.functions[function]
                origin = origin_of(facts, block)
                if call.jumped and call.amount < 0:
                    self._tally(unit.id).add_resumed(function, origin, -call.amount)
                else:
                    register = register_at_call(facts, block, call.cell)
                    self._tally(unit.id).add_cut_short(function, origin, register, call.amount)

    def _places(self, module: int | None, address: int, amount: int) -> Iterator[_Place]:
        """The calls that return to an address; several where callees were inlined into one frame."""
        program = self._modules.get(module) if module is not None else None
        if program is None:
            return
        found = program.sites.find(address)
        if not found and self._may_count(program, address):
            self.unplaced += abs(amount)
        for tag, number in sorted(found):
            unit = program.by_tag.get(tag)
            if unit is None or number >= len(unit.sites):
                self.unplaced += abs(amount)
            else:
                yield _Place(unit, *unit.sites[number])

    @staticmethod
    def _may_count(program: Program, address: int) -> bool:
        """Code without probes lies between labels too; only a call that counts its block would matter."""
        return any(_counts_on(program, tag, number) for tag, number in program.sites.nearby(address))

    # ---- what has to be told ----

    def _tells_turns_late(self) -> list[str]:
        """The functions that tell the turns of a loop only where they leave it."""
        functions = [function for tally in self._tallies.values() for function in tally.facts.functions]
        return [
            each.name
            for each in functions
            if any(isinstance(probe, AddTrips) for probe in chain(*each.plan.on_edges.values()))
        ]

    def _tell(self) -> None:
        ending = self.raw.ending
        if ending is Ending.SIGNAL:
            self.notes.append(f" ended by {signal_name(self.raw.signal)}")
        elif ending is Ending.KILLED:
            self.notes.append(
                " was killed (or ended unseen): functions active then are not known,"
                " counts may be off by one for each of them"
            )
        elif ending is Ending.DUMP:
            self.notes.append(": the program did not end by itself; counts are those until then")
        if self.completed:
            names = [self._facts[unit].functions[number].name for unit, number in self.completed]
            self.notes.append(f": counts were completed in {_listed(names)}")
        telling = self._tells_turns_late() if ending is Ending.KILLED else []
        if telling:
            self.notes.append(
                f": if it was in a loop without calls of {_listed(telling)}, the turns of that loop since it"
                " was entered are missing; build with --durable to have them"
            )
        if self.raw.partly:
            self.notes.append(
                ": not all of its counts were in the file; those of some threads or libraries are missing"
            )
        if self.raw.stack_cut:
            self.notes.append(": not all active calls were found; counts may be off by as many")
        if self.unplaced:
            self.notes.append(
                f": {self.unplaced} active calls fit no call site; counts may be off by as many"
            )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _reader(context: RawContext) -> Callable[[int, int], bytes | None]:
    def read(address: int, size: int) -> bytes | None:
        for start, part in context.stack:
            if start <= address and address + size <= start + len(part):
                return part[address - start : address - start + size]
        return None

    return read


def _tells_little(program: Program) -> bool:
    """Whether some code has only calls to tell where it is: what got its probes before it was optimised."""
    return any(unit.stage == "early" for unit in program.units.values())


def _counts_on(program: Program, tag: int, number: int) -> bool:
    """Whether a frame in this site would have to be added to its block's way out."""
    unit = program.by_tag.get(tag)
    return unit is None or number >= len(unit.sites) or unit.sites[number][1] >= 0
