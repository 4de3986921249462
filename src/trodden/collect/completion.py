"""Making the counts of a process fit together again that could not say where it was when it ended."""

from __future__ import annotations

from trodden.collect.unit_tally import UnitTally
from trodden.recover.function_reading import FunctionReading, function_readings, touched
from trodden.recover.killed.flow import complete_flow
from trodden.recover.killed.paths import complete_paths


def complete_unit(tally: UnitTally) -> list[int]:
    """Enter what is missing in a unit's counts; the answer are the functions for which something was."""
    reading = tally.reading()
    functions = function_readings(tally.facts, reading, touched(tally.facts, reading))
    return [each.number for each in functions if _complete(tally, each)]


def _complete(tally: UnitTally, told: FunctionReading) -> bool:
    facts = told.facts
    if facts.plan.paths is not None:
        return _complete_paths(tally, told)
    calls = {vertex for vertex, block in enumerate(facts.blocks) if block.calls}
    found = complete_flow(facts.graph, facts.plan, list(told.counters), told.early, calls)
    if found is None:
        return False
    for slot, amount in found.owed.items():
        tally.owed(facts.first_slot + slot, amount)
    for block, times in found.stops.items():
        tally.stopped(told.number, block, None, times)
    return True


def _complete_paths(tally: UnitTally, told: FunctionReading) -> bool:
    facts = told.facts
    found = complete_paths(facts.graph, facts.plan, told.counters, told.sparse, told.cut_short, told.resumed)
    if found is None:
        return False
    for (block, register), times in found.prefixes.items():
        tally.stopped(told.number, block, register, times)
    for path, times in found.ended.items():
        tally.ended(told.number, path, times, 0)
    for slot, amount in found.owed.items():
        tally.owed(facts.first_slot + slot, amount)
    return True
