"""Completing the counts of a process that was killed, or whose frames could not all be located."""

from __future__ import annotations

from trodden.program.facts import FunctionFacts
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.killed.flow import complete_flow
from trodden.recover.killed.paths import complete_paths
from trodden.recover.unit_counts_builder import UnitCountsBuilder


def complete_unit(builder: UnitCountsBuilder) -> list[int]:
    """Add what is missing in the counts of a unit; returns the functions in which something was."""
    unit, counted = builder.facts, builder.result()
    found = []
    for number, function in counted.functions(unit, counted.touched(unit)):
        missing = _missing(unit.functions[number], function)
        if missing is not None:
            builder.add_function(number, missing)
            found.append(number)
    return found


def _missing(facts: FunctionFacts, counted: FunctionCounts) -> FunctionCounts | None:
    if facts.plan.paths is not None:
        return complete_paths(facts.graph, facts.plan, counted)
    calls = {vertex for vertex, block in enumerate(facts.blocks) if block.calls}
    return complete_flow(facts.graph, facts.plan, counted, calls)
