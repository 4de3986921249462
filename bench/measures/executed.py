"""Executed instructions of each function: by callgrind and, if trodden has built the program, by trodden."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bench.build.configurations import config_of
from bench.measures.model import Json, RunMeasure
from bench.run.callgrind import by_address, counting_by_address
from bench.run.executables import run_of
from bench.run.profiles import collected
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError
from trodden.collect.binary.block_marks import locations_at
from trodden.collect.binary.marked_functions import MarkedFunctions
from trodden.collect.binary.program import read_program
from trodden.collect.binary.x86_outline import outline
from trodden.collect.instructions.upkeep import added_instructions
from trodden.profile.model import Profile


@dataclass(frozen=True)
class ExecutedInstructions(RunMeasure):
    """For each symbol the instructions that callgrind counts in the plain program.

    In a program with probes: those that trodden reports, those that callgrind counts without the ones that
    were added to the program, and all that callgrind counts.
    """

    kind: ClassVar[str] = "executed"

    @property
    def tools(self) -> tuple[str, ...]:
        """Callgrind is part of valgrind."""
        return ("valgrind",)

    def measure(self, program: SuiteProgram) -> Json:
        """Run once under callgrind; trodden counts in the same run."""
        run = run_of(program, self.config, self.case, "executed")
        run.directory.parent.mkdir(parents=True, exist_ok=True)
        out = run.directory.with_suffix(".callgrind")
        result = run.execute(counting_by_address(out))
        if not out.is_file():
            raise BenchError(f"{run.what}: callgrind did not write {out}")
        with out.open(errors="replace") as lines:
            counts = by_address(lines, run.executable.name)
        if not config_of(self.config).trodden:
            return dict(_by_symbol(run.executable, counts))
        return _compared(run.executable, counts, collected(result, run.what))


def _by_symbol(executable: Path, counts: Mapping[int, int]) -> Counter[str]:
    symbols = sorted(_symbols(executable))
    starts = [start for start, _, _ in symbols]
    found: Counter[str] = Counter()
    for address, count in counts.items():
        index = bisect_right(starts, address) - 1
        if index >= 0 and address < symbols[index][1]:
            found[symbols[index][2]] += count
    return found


def _symbols(executable: Path) -> Iterator[tuple[int, int, str]]:
    with executable.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        if not isinstance(table, SymbolTableSection):
            return
        for each in table.iter_symbols():
            if each["st_info"]["type"] == "STT_FUNC" and each["st_size"]:
                yield each["st_value"], each["st_value"] + each["st_size"], each.name


def _compared(executable: Path, counts: Mapping[int, int], profile: Profile) -> dict[str, list[int]]:
    ours: Counter[str] = Counter()
    for function in profile.functions.values():
        ours[function.facts.linkage_name] += round(function.executed_instructions)
    own: Counter[str] = Counter()
    everything: Counter[str] = Counter()
    functions = MarkedFunctions(read_program(executable))
    for each in functions.functions:
        marked = functions.marked(each)
        instructions = None if marked is None else outline(marked.code, each.low)
        if marked is None or instructions is None:
            continue
        name = marked.unit.functions[marked.number].linkage_name
        locations = locations_at([one.address for one in instructions], marked.location)
        added = added_instructions(marked, instructions, locations)
        for instruction, probe in zip(instructions, added, strict=True):
            count = counts.get(instruction.address, 0)
            everything[name] += count
            own[name] += 0 if probe else count
    return {name: [ours[name], own[name], everything[name]] for name in everything if everything[name]}
