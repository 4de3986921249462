"""From the raw files of one or several runs, and the programs that wrote them, to what was counted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from trodden.collect.binary.marked_functions import MarkedFunctions
from trodden.collect.binary.program import Program, build_name, read_program
from trodden.collect.call_paths import CallPath, CallPathCounts
from trodden.collect.endings import Process, StoppedThread, named_processes
from trodden.collect.frames.frame_locator import FrameLocator
from trodden.collect.images import GatheredProcess, join_images
from trodden.collect.instructions.count import InstructionCounter
from trodden.collect.left_out import HoldsNothing, LeftOutRaws, left_out_raws, program_gone, program_rebuilt
from trodden.collect.process_counts import count_process
from trodden.collect.process_messages import messages_of_all
from trodden.collect.programs import ProgramFile, is_library, joined_programs
from trodden.collect.rawfile.family import Family, family_of, losses, unnamed_losses
from trodden.collect.rawfile.find import raw_files
from trodden.collect.rawfile.model import Raw
from trodden.collect.rawfile.raw import read_raw
from trodden.collect.rawfile.snapshots import later_states
from trodden.collect.trace.traced import TracedRun, traced_run
from trodden.errors import BadFile, InputMissing, NotInstrumented, TroddenError
from trodden.gc_pause import no_garbage
from trodden.program.facts import UnitFacts
from trodden.program.machine_instructions import MachineInstructions
from trodden.recover.unit_counts import UnitCounts
from trodden.recover.unit_counts_builder import UnitCountsBuilder

Path = str | os.PathLike[str]


_PROGRAMS_KEPT = 8


class Programs:
    """Programs that were read already, by path, and the instructions that were counted in them."""

    def __init__(self) -> None:
        self.found: dict[str, Program] = {}
        self._functions: dict[str, MarkedFunctions] = {}
        self._counters: dict[str, InstructionCounter] = {}

    def limit(self) -> None:
        """Forget all programs if there are many."""
        if len(self.found) > _PROGRAMS_KEPT:
            for kept in (self.found, self._functions, self._counters):
                kept.clear()

    def functions(self, program: Program) -> MarkedFunctions:
        """The functions of a program, by its debug information."""
        if program.path not in self._functions:
            self._functions[program.path] = MarkedFunctions(program)
        return self._functions[program.path]

    def counter(self, program: Program) -> InstructionCounter:
        """What counts the instructions of a program."""
        if program.path not in self._counters:
            self._counters[program.path] = InstructionCounter(self.functions(program))
        return self._counters[program.path]


@dataclass(frozen=True)
class Gathered:
    """What raw files have counted, with the facts of their programs: a profile before recovery.

    ``program`` is the executable of the first process; ``programs`` are all executables and libraries.
    ``traced`` are the processes that have recorded a trace.
    """

    program: str
    programs: tuple[ProgramFile, ...]
    units: tuple[UnitFacts, ...]
    unit_counts: tuple[UnitCounts, ...]
    messages: tuple[str, ...]
    call_paths: tuple[CallPath, ...]
    processes: tuple[Process, ...]
    threads: tuple[StoppedThread, ...]
    traced: tuple[TracedRun, ...] = ()


def gather(path: Path, known: Programs) -> Gathered:
    """The counts of one raw file; ``known`` keeps the programs for the next one."""
    known.limit()
    with no_garbage():
        gathering = _Gathering((), known)
        for each in gathering.all_in([os.fspath(path)]):
            gathering.add(read_raw(each))
        return gathering.gathered()


def gather_all(raws: Sequence[Path], programs: Sequence[Path] = ()) -> tuple[Gathered, LeftOutRaws]:
    """The counts of all ``raws``, and messages about those that were left out.

    A directory stands for all raw files in it.  A raw file names the programs that wrote it; ``programs`` are
    tried first, for those that have been moved since.  A file that cannot be used is named and left out if
    there are others.
    """
    if not raws:
        raise InputMissing("no raw file given; run an instrumented program first")
    gathering = _Gathering(programs)
    failed: list[TroddenError] = []
    nothing: list[HoldsNothing] = []
    for path, later in later_states(list(gathering.all_in(raw_files(raws)))):
        if later is not None:
            gathering.leave_out(f"{path}: an earlier state of the process of {later}, which includes it")
            continue
        try:
            gathering.add(read_raw(path))
        except HoldsNothing as error:
            nothing.append(error)
        except TroddenError as error:
            failed.append(error)
    if gathering.empty and (failed or nothing):
        raise [*failed, *nothing][0]
    gathering.lose(nothing)
    left_out = left_out_raws(failed)
    return gathering.gathered(left_out.messages), left_out


class _Gathering:
    """The counts gathered so far."""

    def __init__(self, programs: Sequence[Path], known: Programs | None = None) -> None:
        self._given = [read_program(path) for path in programs]
        self._known = known or Programs()
        self._used: dict[str, Program] = {}
        self._units: dict[str, UnitCountsBuilder] = {}
        self._call_paths = CallPathCounts()
        self._added: list[GatheredProcess] = []
        self._seen: dict[int, str] = {}
        self._locators: dict[str, FrameLocator] = {}
        self._messages: list[str] = []
        self._traced: list[TracedRun] = []
        self._families: list[Family] = []
        self._lost: list[tuple[str, str]] = []

    @property
    def empty(self) -> bool:
        """Whether nothing was added."""
        return not self._added

    def all_in(self, names: Iterable[str]) -> Iterator[str]:
        """The files, and what they hold of processes that have none; those that are lost are remembered."""
        for name in names:
            try:
                family = family_of(name)
            except BadFile as error:
                self.leave_out(str(error))
                yield name
                continue
            self._families.append(family)
            if family.alone:
                yield name
            yield from family.inside

    def lose(self, files: Sequence[HoldsNothing]) -> None:
        """Name the processes whose files hold nothing."""
        self._lost += [(str(each.pid), each.loss) for each in files]

    def leave_out(self, message: str) -> None:
        """Say why a file is not added."""
        self._messages.append(message)

    def add(self, raw: Raw) -> None:
        """Add what one process has counted, all of it or, in case of an error, nothing."""
        if not raw.units and raw.counts_missing:
            raise HoldsNothing(raw)
        if not raw.units:
            raise NotInstrumented(f"{raw.path}: counts nothing; build the program with trodden cc")
        counted = raw.units, raw.frames, raw.inherited, raw.non_local_exits, raw.sparse_paths, raw.call_nodes
        mark = hash((raw.pid, raw.parent, raw.started, raw.ending, counted))
        if mark in self._seen:
            self._messages.append(f"{raw.path}: is the same as {self._seen[mark]}; it is counted once")
            return
        modules = self._modules(raw)
        self._used |= {program.path: program for program in modules.values()}
        counts = count_process(raw, modules, self._locator_of)
        traced = traced_run(raw, modules, self._locator_of)
        units = {name: facts for program in modules.values() for name, facts in program.units.items()}
        self._call_paths.add_process(raw, units)
        for name, facts in units.items():
            self._units.setdefault(name, UnitCountsBuilder(facts))
        for each in counts.unit_counts:
            self._units[each.unit].add(each)
        self._seen[mark] = raw.path
        if traced is not None:
            self._traced.append(traced)
        process = Process(
            name=str(raw.pid),
            pid=raw.pid,
            parent=raw.parent,
            started=raw.started,
            program=_program_of(raw),
            ending=raw.ending,
            signal=raw.signal,
            unit_counts=counts.unit_counts,
            completed=counts.completed,
        )
        files = _files(raw, modules)
        self._added.append(
            GatheredProcess(process, counts.messages, counts.threads, raw.start_ticks, tuple(files))
        )

    def gathered(self, left_out: Sequence[str] = ()) -> Gathered:
        """Everything added."""
        added = join_images(sorted(self._added, key=lambda each: each.process.started))
        processes = named_processes([each.process for each in added])
        about_processes = (
            (process.name, message)
            for process, each in zip(processes, added, strict=True)
            for message in each.messages
        )
        messages = [
            *messages_of_all(chain(about_processes, losses(self._families), self._lost)),
            *unnamed_losses(self._families),
        ]
        unit_counts = tuple(builder.result() for builder in self._units.values())
        return Gathered(
            self._added[0].process.program,
            joined_programs(file for each in added for file in each.files),
            self._with_instructions(unit_counts),
            unit_counts,
            (*messages, *self._messages, *left_out),
            self._call_paths.paths(),
            processes,
            tuple(
                replace(thread, process=number)
                for number, each in enumerate(added)
                for thread in each.threads
            ),
            tuple(self._traced),
        )

    def _with_instructions(self, unit_counts: Sequence[UnitCounts]) -> tuple[UnitFacts, ...]:
        """The facts of all units, with the machine instructions of the functions that were executed."""
        executed = {each.unit: each.touched(self._units[each.unit].facts) for each in unit_counts}
        counted: dict[str, dict[int, MachineInstructions]] = {}
        for program in self._used.values():
            own = {name: executed[name] for name in program.units if executed.get(name)}
            counted |= self._known.counter(program).count(own)
        return tuple(
            builder.facts.with_machine(counted.get(name, {})) for name, builder in self._units.items()
        )

    def _locator_of(self, program: Program) -> FrameLocator:
        if program.path not in self._locators:
            self._locators[program.path] = FrameLocator(program, self._known.functions(program))
        return self._locators[program.path]

    def _modules(self, raw: Raw) -> dict[int, Program]:
        """The program of each module that has counters; all its units belong to the profile."""
        counted: dict[int, list[str]] = {}
        for unit in raw.units:
            counted.setdefault(unit.module, []).append(unit.id)
        return {
            index: self._program_for(raw, raw.modules[index].path, names, alone=len(counted) == 1)
            for index, names in counted.items()
        }

    def _program_for(self, raw: Raw, path: str, names: Sequence[str], alone: bool) -> Program:
        for program in self._given:
            if program.units.keys() >= set(names):
                return program
        meant = [p for p in self._given if alone or os.path.basename(p.path) == os.path.basename(path)]
        program = meant[0] if meant else self._recorded(raw, path)
        if not program.units.keys() >= set(names):
            raise program_rebuilt(
                raw.path,
                path,
                f"build {build_name(names)} of {path}, but {program.path} is build {program.build};"
                " run the program again, or pass the one that ran with --program",
            )
        return program

    def _recorded(self, raw: Raw, path: str) -> Program:
        if path not in self._known.found:
            if not os.path.exists(path):
                raise program_gone(raw.path, path or "a program that could not read its own path")
            self._known.found[path] = read_program(path)
        return self._known.found[path]


def _program_of(raw: Raw) -> str:
    """The path of the executable, not of a library that it has loaded."""
    programs = [module.path for module in raw.modules if not is_library(module.path)]
    return (programs or [raw.modules[0].path])[0]


def _files(raw: Raw, modules: Mapping[int, Program]) -> list[ProgramFile]:
    """The executable of a process, which may have no probes, and the libraries that have some."""
    executable = _program_of(raw)
    found = {executable: ProgramFile(executable, False, (), processes=1)}
    for index, program in modules.items():
        path = raw.modules[index].path
        found[path] = ProgramFile(path, path != executable, tuple(program.units), processes=1)
    return list(found.values())
