"""Which functions the code at an address may be of, where no call site or debug variable tells.

Debug variables name the function that code of the late stage was generated from.  At the early stage
functions are inlined after they got their probes: the symbol of the code names the outermost one, and any
function that it calls, directly or through others that were inlined, may be part of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from io import BytesIO
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from trodden.collect.binary.marked_functions import MarkedFunctions
from trodden.collect.binary.program import Program
from trodden.collect.call_paths import CalledFunction
from trodden.collect.frames.source_frames import MALFORMED_DEBUG
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.regular_files import open_regular


class PossibleFunctions:
    """Those of one program; its symbols are read when the first address is asked for."""

    def __init__(self, program: Program, marked: MarkedFunctions) -> None:
        self._program, self._marked = program, marked
        self._named: dict[int, frozenset[CalledFunction]] = {}

    def at(self, pc: int) -> frozenset[CalledFunction]:
        """The functions that an instruction may be of: all, if neither symbol nor debug variable is there."""
        function = self._marked.at(pc)
        identity = None if function is None else self._marked.identity(function)
        if identity is not None:
            return frozenset({(identity[0].id, identity[1])})
        units = self._program.units.values()
        every = ((unit.id, number) for unit in units for number in range(len(unit.functions)))
        return self.named(pc) or frozenset(every)

    def named(self, pc: int) -> frozenset[CalledFunction]:
        """The functions that an instruction may be of by the symbol of its code; none if it has no probes."""
        if pc not in self._named:
            names = self._names_at(pc)
            units = self._program.units.values()
            found = [_with_inlined(unit, name) for unit in units for name in names]
            self._named[pc] = frozenset(each for functions in found for each in functions)
        return self._named[pc]

    def _names_at(self, pc: int) -> list[str]:
        """The symbols of the code; what the optimiser appends to the name of a variant comes after a dot."""
        names = [name for low, high, name in self._symbols if low <= pc < high]
        return list(dict.fromkeys(each for name in names for each in (name, name.partition(".")[0]) if each))

    @cached_property
    def _symbols(self) -> list[tuple[int, int, str]]:
        try:
            with open_regular(os.fspath(self._program.path)) as stream:
                return list(_function_symbols(ELFFile(BytesIO(stream.read()))))
        except MALFORMED_DEBUG:
            return []


def _function_symbols(file: Any) -> Iterator[tuple[int, int, str]]:
    for section in file.iter_sections():
        if isinstance(section, SymbolTableSection):
            for symbol in section.iter_symbols():
                if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"]:
                    yield symbol["st_value"], symbol["st_value"] + symbol["st_size"], symbol.name


def _with_inlined(unit: UnitFacts, symbol: str) -> set[CalledFunction]:
    """The function of a unit with a symbol, and all that may have been inlined into it."""
    numbers = {facts.linkage_name: number for number, facts in enumerate(unit.functions)}
    aliases: Mapping[str, str] = dict(unit.aliases)
    found: set[CalledFunction] = set()
    work = [symbol]
    while work:
        name = work.pop()
        number = numbers.get(aliases.get(name, name))
        if number is None or (unit.id, number) in found:
            continue
        found.add((unit.id, number))
        facts = unit.functions[number]
        if unit.stage == "early" and not facts.keeps_calls:
            work += _callees(unit, facts)
    return found


def _callees(unit: UnitFacts, facts: FunctionFacts) -> Iterator[str]:
    """The functions that are called; indirectly any of those whose address is used."""
    for block in facts.features.blocks:
        for call in block.calls:
            yield from (call.callee,) if call.callee else unit.taken
            yield from (symbol for _, symbol in call.passes)
