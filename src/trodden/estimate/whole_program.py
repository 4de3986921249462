"""The functions of a program, each once, with what only the whole program tells of their calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trodden.profile.estimated import one_of_each
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.weigh.interprocedural.call_features import foreseen
from trodden.weigh.interprocedural.callgraph import Known, Symbols


def whole_program(units: Sequence[UnitFacts]) -> list[tuple[FunctionFacts, Known]]:
    """Every function and what is known of it; of copies that several units carry the first one."""
    functions = one_of_each(units)
    known = known_functions(units, functions)
    return [
        (replace(facts, clues=clues), replace(each, clues=clues))
        for (_, facts), each, clues in zip(functions, known, foreseen(known), strict=True)
    ]


def known_functions(
    units: Sequence[UnitFacts], functions: Sequence[tuple[int, FunctionFacts]]
) -> list[Known]:
    """The functions of a program with their other names, and whether any unit uses their addresses."""
    plain = [Known(unit, facts.linkage_name, facts.graph, facts.clues) for unit, facts in functions]
    aliases: list[dict[str, None]] = [{} for _ in plain]
    resolve = Symbols(plain)
    for number, unit in enumerate(units):
        for alias, symbol in unit.aliases:
            function = resolve(number, symbol)
            if function is not None:
                aliases[function][alias] = None
    named = [replace(each, aliases=tuple(names)) for each, names in zip(plain, aliases, strict=True)]
    taken = _meant(named, [unit.taken for unit in units])
    return [replace(each, taken=number in taken) for number, each in enumerate(named)]


def started_functions(units: Sequence[UnitFacts], functions: Sequence[Known]) -> list[int]:
    """The constructors and destructors of a program, each once, also if several units carry a copy."""
    return sorted(_meant(functions, [unit.started for unit in units]))


def _meant(functions: Sequence[Known], said: Sequence[Sequence[str]]) -> set[int]:
    """The functions that the symbols stand for which each unit says."""
    resolve = Symbols(functions)
    found = {resolve(unit, symbol) for unit, symbols in enumerate(said) for symbol in symbols}
    return {number for number in found if number is not None}
