"""Results of a table out of the store: what was measured now replaces what was there before.

Programs that were not requested stay in the file.  Everything that another processor or other tools have
measured is dropped when something new is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from bench.build.machine import description, identity
from bench.cli.failures import EXPECTED, SOURCES, Failures
from bench.measures.model import Json
from bench.measures.store import Store
from bench.suite import SUITE
from bench.suite.model import SuiteProgram
from bench.tables.layout.model import Overall, Programs, Table
from bench.tables.results import Results

_T = TypeVar("_T")


def gather_results(
    table: Table, programs: Sequence[SuiteProgram], store: Store, failures: Failures, before: Results | None
) -> Results:
    """The results of a table after some programs were measured.

    A program of which nothing could be measured keeps its previous figures, with the reason.
    """
    results = Results(table.name, identity())
    if before is not None and before.machine == results.machine:
        results.programs |= before.programs
        results.failed |= before.failed
        results.overall, results.overall_by = before.overall, before.overall_by
    measured = description()
    if results.overall_by != measured["trodden"]:
        # An old figure among new rows would be taken for a new one.
        results.overall, results.overall_by = None, ""
    for program in programs:
        reasons = failures.reasons(program.name, _parts_of(table))
        results.failed.pop(program.name, None)
        if reasons:
            results.failed[program.name] = reasons
        figures = figures_of(table, program, store)
        if figures:
            dates = [each.date for key in figures if (each := store.get(program.name, key)) is not None]
            results.programs[program.name] = {
                "version": program.version,
                "about": program.about,
                "measured": {**measured, "date": max(dates)},
                "figures": figures,
            }
    results.programs = _in_order(results.programs, table)
    results.failed = _in_order(results.failed, table)
    if table.overall is not None:
        found = _overall(table.overall, programs, results.figures, failures, table.name)
        if found is not None:
            results.overall, results.overall_by = found, str(measured["trodden"])
    return results


def _overall(
    overall: Overall, programs: Sequence[SuiteProgram], figures: Programs, failures: Failures, table: str
) -> Json:
    """The figure of all programs together, or nothing if that fails, which is recorded."""
    try:
        return overall(programs, {each.name: figures.get(each.name, {}) for each in programs})
    except EXPECTED as error:
        failures.add(table, "all programs together", error)
        return None


def figures_of(table: Table, program: SuiteProgram, store: Store) -> dict[str, Json]:
    """The raw figures that a table uses of a program, as far as they are kept and current."""
    found = {}
    try:
        for measure in table.measures:
            kept = store.current(program.name, measure.key, measure.fingerprint(program))
            if kept is not None:
                found[measure.key] = measure.part(program, kept)
    except EXPECTED:
        # Fingerprints cannot be computed without the sources, so nothing is known to be current.
        return {}
    return found


def _parts_of(table: Table) -> set[str]:
    """Everything that may fail for a table."""
    builds = {f"build/{config}" for measure in table.measures for config in measure.configs}
    return {SOURCES, *builds, *(measure.key for measure in table.measures)}


def _in_order(programs: dict[str, _T], table: Table) -> dict[str, _T]:
    """In the order of the suite, then the extra programs; what the table no longer covers is dropped."""
    every = [each for each in (*SUITE, *table.extra_programs) if table.covers(each)]
    return {each.name: programs[each.name] for each in every if each.name in programs}
