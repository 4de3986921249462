"""From the raw files of one or several runs, and the programs that wrote them, to a profile."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trodden.errors import BadFile, InputMissing, NotInstrumented, OtherBuild
from trodden.profile.allocation import no_garbage
from trodden.profile.assemble import assemble
from trodden.profile.call_paths import CallTally
from trodden.profile.model import CallPath, Profile, Reading, UnitFacts
from trodden.profile.program import Program, build_name, read_program
from trodden.profile.raw import Raw, RawNote, RawUnit, read_raw
from trodden.profile.tally import UnitTally

Path = str | os.PathLike[str]


def collect(raws: Sequence[Path], programs: Sequence[Path] = ()) -> Profile:
    """Add up the counts of all ``raws`` and make a profile of them.

    A raw file names the programs it comes from; ``programs`` are looked at first, for those that have
    been moved since.
    """
    if not raws:
        raise InputMissing("no raw file given; run an instrumented program first")
    with no_garbage():
        gathering = _Gathering(programs)
        for path in raws:
            gathering.add(read_raw(path))
        return gathering.profile()


Programs = dict[str, Program]
"""Programs that were read already, by path."""

_PROGRAMS_KEPT = 8


@dataclass(frozen=True)
class Gathered:
    """What a raw file has counted, with the facts of its programs: a profile that is not recovered yet."""

    program: str
    units: tuple[UnitFacts, ...]
    readings: tuple[Reading, ...]
    notes: tuple[str, ...]
    calls: tuple[CallPath, ...]


def gather(path: Path, known: Programs) -> Gathered:
    """The counts of one raw file; ``known`` keeps the programs for the next one."""
    if len(known) > _PROGRAMS_KEPT:
        known.clear()
    with no_garbage():
        gathering = _Gathering((), known)
        gathering.add(read_raw(path))
        return gathering.gathered()


class _Call(NamedTuple):
    """Calls that have the same return address and the same cell, and how many did not come back."""

    module: int | None
    address: int
    cell: int | None
    amount: int
    jumped: bool = False


class _Gathering:
    """The counts gathered so far."""

    def __init__(self, programs: Sequence[Path], known: Programs | None = None) -> None:
        self._given = [read_program(path) for path in programs]
        self._found = {} if known is None else known
        self._units: dict[str, UnitTally] = {}
        self._calls = CallTally()
        self._notes: list[str] = []
        self._program = ""

    def add(self, raw: Raw) -> None:
        """Add what one process has counted."""
        if not raw.units:
            raise NotInstrumented(f"{raw.path}: counts nothing; build the program with trodden cc")
        modules = self._modules(raw)
        programs = [module.path for module in raw.modules if ".so" not in os.path.basename(module.path)]
        self._program = self._program or (programs or [raw.modules[0].path])[0]
        if not raw.complete:
            self._notes.append(f"{raw.path}: the program did not end by itself; counts are those until then")
        for unit in raw.units:
            self._add_counts(raw, unit, modules[unit.module])
        if raw.stack_cut:
            self._notes.append(f"{raw.path}: not all active calls were found; counts may be off by as many")
        for note in raw.notes:
            self._add_note(raw, note)
        self._calls.add(raw, {name: tally.facts for name, tally in self._units.items()})
        self._add_calls(raw, modules, (_Call(f.module, f.address, f.cell, 1) for f in raw.frames))
        self._add_calls(raw, modules, (_Call(f.module, f.address, f.cell, -1) for f in raw.inherited))
        self._add_calls(raw, modules, (_Call(j.module, j.address, j.cell, j.count, True) for j in raw.jumps))

    def gathered(self) -> Gathered:
        """Everything added."""
        return Gathered(
            self._program,
            tuple(tally.facts for tally in self._units.values()),
            tuple(tally.reading() for tally in self._units.values()),
            tuple(self._notes),
            self._calls.paths(),
        )

    def profile(self) -> Profile:
        """The profile of everything added."""
        found = self.gathered()
        return assemble(found.program, found.units, found.readings, found.notes, found.calls)

    def _modules(self, raw: Raw) -> dict[int, Program]:
        """The program of each module that has counters; all its units take part, counted or not."""
        counted: dict[int, list[str]] = {}
        for unit in raw.units:
            counted.setdefault(unit.module, []).append(unit.id)
        modules: dict[int, Program] = {}
        for index, names in counted.items():
            program = self._program_of(raw, raw.modules[index].path, names, alone=len(counted) == 1)
            for name, facts in program.units.items():
                if name not in self._units:
                    self._units[name] = UnitTally(facts)
            modules[index] = program
        return modules

    def _program_of(self, raw: Raw, path: str, names: Sequence[str], alone: bool) -> Program:
        for program in self._given:
            if program.units.keys() >= set(names):
                return program
        meant = [p for p in self._given if alone or os.path.basename(p.path) == os.path.basename(path)]
        program = meant[0] if meant else self._recorded(raw, path)
        if not program.units.keys() >= set(names):
            raise OtherBuild(
                f"{raw.path}: counted by build {build_name(names)} of {path}, but {program.path} is build"
                f" {program.build}; run the program again, or pass the one that ran with --program"
            )
        return program

    def _recorded(self, raw: Raw, path: str) -> Program:
        if path not in self._found:
            if not os.path.exists(path):
                raise InputMissing(f"{path}: is gone, but {raw.path} needs it; pass it with --program")
            self._found[path] = read_program(path)
        return self._found[path]

    def _add_counts(self, raw: Raw, unit: RawUnit, program: Program) -> None:
        tally = self._units[unit.id]
        slots = tally.facts.slots
        if slots != len(unit.counts):
            raise BadFile(
                f"{raw.path}: corrupt: {len(unit.counts)} counters where {program.path} has {slots}"
            )
        tally.add_counts(unit.counts)

    def _add_note(self, raw: Raw, note: RawNote) -> None:
        tally = self._units[raw.units[note.unit].id]
        known = tally.facts.functions[note.function : note.function + 1]
        if not known or known[0].plan.paths is None or (note.block or 0) >= known[0].graph.exit:
            raise BadFile(f"{raw.path}: corrupt: a note is about no path of its program")
        if note.block is not None:
            tally.unwound(note.function, note.block, note.value, note.amount)
        elif note.time:
            tally.ended(note.function, note.value, 0, note.amount)
        else:
            tally.ended(note.function, note.value, note.amount, 0)

    def _add_calls(self, raw: Raw, modules: dict[int, Program], calls: Iterable[_Call]) -> None:
        """Enter calls that did not come back.

        Each is one more way out of its block.  An amount is negative where more came back than went: in
        the calls that a forked child began with, and where setjmp returned again.
        """
        unplaced = 0
        for call in calls:
            if call.module is None or call.module not in modules:
                continue
            program = modules[call.module]
            found = program.sites.find(call.address)
            if not found:
                # Code without probes lies between labels too; only a call that counts its block would matter.
                opened = program.sites.nearby(call.address)
                if any(_counts_on(program, tag, number) for tag, number in opened):
                    unplaced += abs(call.amount)
                continue
            for tag, number in found:
                unit = program.by_tag.get(tag)
                if unit is None or number >= len(unit.sites):
                    unplaced += abs(call.amount)
                    continue
                function, block = unit.sites[number]
                if block < 0:
                    continue
                if call.jumped and call.amount < 0:
                    self._units[unit.id].came_back(function, block, -call.amount)
                else:
                    self._units[unit.id].cut_short(function, block, call.cell, call.amount)
        if unplaced:
            self._notes.append(
                f"{raw.path}: {unplaced} active calls fit no call site; counts may be off by as many"
            )


def _counts_on(program: Program, tag: int, number: int) -> bool:
    """Whether a frame in this site would have to be added to its block's way out."""
    unit = program.by_tag.get(tag)
    return unit is None or number >= len(unit.sites) or unit.sites[number][1] >= 0
