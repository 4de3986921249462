"""The functions of a program, each once, with the features of calls that depend on the whole program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trodden.profile.estimated import one_of_each
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.weigh.interprocedural.call_features import with_call_features
from trodden.weigh.interprocedural.callgraph import KnownFunction, Symbols


def whole_program(units: Sequence[UnitFacts]) -> list[tuple[FunctionFacts, KnownFunction]]:
    """Every function and what is known of it; of COMDAT copies the first one."""
    functions = one_of_each(units)
    known = known_functions(units, functions)
    return [
        (replace(facts, features=features), replace(each, features=features))
        for (_, facts), each, features in zip(functions, known, with_call_features(known), strict=True)
    ]


def known_functions(
    units: Sequence[UnitFacts], functions: Sequence[tuple[int, FunctionFacts]]
) -> list[KnownFunction]:
    """The functions of a program with their aliases, and whether any unit takes their addresses."""
    plain = [
        KnownFunction(unit, facts.linkage_name, facts.graph, facts.features) for unit, facts in functions
    ]
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


def started_functions(units: Sequence[UnitFacts], functions: Sequence[KnownFunction]) -> list[int]:
    """The constructors and destructors of a program, each once, also if several units have a copy."""
    return sorted(_meant(functions, [unit.started for unit in units]))


def _meant(functions: Sequence[KnownFunction], said: Sequence[Sequence[str]]) -> set[int]:
    """The functions that the symbols of each unit resolve to."""
    resolve = Symbols(functions)
    found = {resolve(unit, symbol) for unit, symbols in enumerate(said) for symbol in symbols}
    return {number for number in found if number is not None}
