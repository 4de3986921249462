"""The functions of a program, each once, with what only the whole program tells of their calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trodden.profile.estimated import one_of_each
from trodden.profile.model import FunctionFacts, UnitFacts
from trodden.weigh.callgraph import Known
from trodden.weigh.foresight import foreseen


def whole_program(units: Sequence[UnitFacts]) -> list[tuple[int, FunctionFacts]]:
    """Every function with the number of its unit; of copies that several units carry the first one."""
    functions = one_of_each(units)
    taken = taken_addresses(units)
    known = [
        Known(unit, facts.linkage_name, facts.graph, facts.clues, is_taken(unit, facts, taken))
        for unit, facts in functions
    ]
    return [
        (unit, replace(facts, clues=clues))
        for (unit, facts), clues in zip(functions, foreseen(known), strict=True)
    ]


def taken_addresses(units: Sequence[UnitFacts]) -> list[frozenset[str]]:
    """The functions whose address each unit uses, and behind them all that any unit does."""
    own = [frozenset(unit.taken) for unit in units]
    return [*own, frozenset().union(*own)]


def is_taken(unit: int, facts: FunctionFacts, taken: Sequence[frozenset[str]]) -> bool:
    """Whether the address of a function is used: by its own unit, or by any if others can name it."""
    return facts.linkage_name in taken[unit if facts.clues.local else -1]
