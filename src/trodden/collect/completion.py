"""Completing the counts of a process that was killed, or whose frames could not all be located."""

from __future__ import annotations

from dataclasses import dataclass, field

from trodden.program.facts import FunctionFacts
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.killed.flow import complete_flow
from trodden.recover.killed.paths import CompletedPaths, complete_paths
from trodden.recover.unit_counts_builder import UnitCountsBuilder


@dataclass
class CompletedUnit:
    """The functions of a unit, by their indices, in whose counts something was missing.

    ``unreachable`` are functions and blocks whose self loop was iterated although no execution can have
    reached them; what was counted there is wrong in a way that no completion explains.
    """

    functions: list[int] = field(default_factory=list)
    unreachable: list[tuple[int, int]] = field(default_factory=list)


def complete_unit(builder: UnitCountsBuilder) -> CompletedUnit:
    """Add what is missing in the counts of a unit."""
    unit, counted = builder.facts, builder.result()
    found = CompletedUnit()
    for number, function in counted.functions(unit, counted.touched(unit)):
        completed = _completed(unit.functions[number], function)
        found.unreachable += [(number, block) for block in completed.unreachable]
        if completed.missing is not None:
            builder.add_function(number, completed.missing)
            found.functions.append(number)
    return found


def _completed(facts: FunctionFacts, counted: FunctionCounts) -> CompletedPaths:
    if facts.plan.paths is not None:
        return complete_paths(facts.graph, facts.plan, counted)
    calls = {vertex for vertex, block in enumerate(facts.blocks) if block.calls}
    return CompletedPaths(complete_flow(facts.graph, facts.plan, counted, calls))
