"""Programs as trodden sees them now: builds and runs of before, with clues read again from the kept IR.

What a run has counted stays true while the reading of clues changes, for neither the code nor its graphs do.
So estimates can be tried out without building and running everything anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from bench.estimate_programs import Subject
from bench.keeping import ir_of
from trodden.collect.binary.program import read_program
from trodden.native.analysis.module_reader import ModuleReader
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module
from trodden.native.options import Options
from trodden.profile.model import Profile
from trodden.profile.store.trod import load
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.weigh.features.clues import FunctionClues


@cache
def _read(ir: Path, source: str) -> tuple[Mapping[str, FunctionClues], UnitFacts]:
    """The clues of all functions in a file of IR by their symbols, and what there is to say of the whole."""
    text = ir.read_text(encoding="utf-8", errors="surrogateescape")
    reader = ModuleReader(cut_module(text), source, Options())
    functions = [reader.function(cut_function(definition)) for definition in reader.module.definitions]
    clues = {each.read.ir.symbol: each.features for each in functions if each is not None}
    return clues, reader.unit((), 0)


def units_of(subject: Subject) -> list[UnitFacts]:
    """The units of a program with their clues as they are read now."""
    return [_renewed(subject, unit) for unit in read_program(subject.executable).units.values()]


@cache
def measured_of(subject: Subject) -> Profile:
    """The profile of a program's runs with clues as they are read now."""
    profile = load(subject.measured)
    units = {unit.id: _renewed(subject, unit) for unit in profile.units}
    known = {(name, each.linkage_name): each for name, unit in units.items() for each in unit.functions}
    functions = {
        name: replace(each, facts=known[each.unit, each.facts.linkage_name])
        for name, each in profile.functions.items()
    }
    return replace(profile, units=tuple(units.values()), functions=functions)


def _renewed(subject: Subject, unit: UnitFacts) -> UnitFacts:
    clues, now = _read(ir_of(subject.ir, unit), unit.source)
    functions = tuple(_with_clues(each, clues) for each in unit.functions)
    return replace(unit, functions=functions, taken=now.taken, aliases=now.aliases, started=now.started)


def _with_clues(facts: FunctionFacts, clues: Mapping[str, FunctionClues]) -> FunctionFacts:
    return replace(facts, clues=clues[facts.linkage_name])
