"""Files of results: what a table was made of, with the machine, the tools and the dates.

A file holds the figures of one machine.  Programs that were not asked for stay in it; all that another
processor or other tools have measured goes when something new comes in.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from bench.build.machine import description, identity
from bench.cli.schedule import FAILURES, SOURCES, Failures
from bench.measures.model import Json
from bench.measures.store import Store
from bench.suite import SUITE
from bench.suite.model import SuiteProgram
from bench.support.atomic_files import write_whole
from bench.support.errors import BenchError
from bench.tables.layout.model import Programs, Table, Whole

_T = TypeVar("_T")


@dataclass
class Results:
    """The results of one table.

    ``programs`` have ``version``, ``about``, ``measured`` (where, with what and when) and ``figures``;
    ``failed`` says of programs what is missing and why; ``whole`` is of all programs together, by the version
    of trodden ``whole_by``.
    """

    table: str
    machine: dict[str, Any]
    programs: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: dict[str, list[str]] = field(default_factory=dict)
    whole: Json = None
    whole_by: str = ""

    @property
    def figures(self) -> Programs:
        """The raw figures of all programs."""
        return {name: entry["figures"] for name, entry in self.programs.items()}

    @staticmethod
    def load(directory: Path, table: str) -> Results | None:
        """The results of a table, if there are some."""
        path = directory / f"{table}.json"
        if not path.is_file():
            return None
        try:
            found = json.loads(path.read_text())
            for entry in found["programs"].values():
                _ = entry["version"], entry["about"], entry["measured"]["date"], entry["figures"].items()
            return Results(
                table,
                found["machine"],
                found["programs"],
                found["failed"],
                found["whole"],
                found.get("whole by", ""),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            hint = "bring it back by git, or remove it and measure again"
            raise BenchError(f"{path}: no results ({error}); {hint}") from error

    def only(self, names: Collection[str]) -> Results:
        """The results of some programs alone."""
        return replace(
            self,
            programs={name: entry for name, entry in self.programs.items() if name in names},
            failed={name: reasons for name, reasons in self.failed.items() if name in names},
        )

    def save(self, directory: Path) -> None:
        """Write them; what was there stays until the new file is complete."""
        document = {
            "table": self.table,
            "machine": self.machine,
            "programs": self.programs,
            "failed": self.failed,
            "whole": self.whole,
            "whole by": self.whole_by,
        }
        write_whole(directory / f"{self.table}.json", json.dumps(document, indent=1) + "\n")


def gathered(
    table: Table, programs: Sequence[SuiteProgram], store: Store, failures: Failures, before: Results | None
) -> Results:
    """The results of a table, with what was measured now in place of what was there before.

    A program of which nothing could be measured keeps what it had before, with the reason beside it.
    """
    results = Results(table.name, identity())
    if before is not None and before.machine == results.machine:
        results.programs |= before.programs
        results.failed |= before.failed
        results.whole, results.whole_by = before.whole, before.whole_by
    measured = description()
    if results.whole_by != measured["trodden"]:
        # What is old among rows that are new would be taken for new.
        results.whole, results.whole_by = None, ""
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
    if table.whole is not None:
        found = _of_all(table.whole, programs, results.figures, failures, table.name)
        if found is not None:
            results.whole, results.whole_by = found, str(measured["trodden"])
    return results


def _of_all(
    whole: Whole, programs: Sequence[SuiteProgram], figures: Programs, failures: Failures, table: str
) -> Json:
    """What is computed of all programs at once, or nothing if that fails, which is noted."""
    try:
        return whole(programs, {each.name: figures.get(each.name, {}) for each in programs})
    except FAILURES as error:
        failures.add(table, "all programs together", error)
        return None


def figures_of(table: Table, program: SuiteProgram, store: Store) -> dict[str, Json]:
    """The raw figures that a table uses of a program: those that are kept and current."""
    found = {}
    try:
        for measure in table.needs:
            kept = store.current(program.name, measure.key, measure.fingerprint(program))
            if kept is not None:
                found[measure.key] = measure.part(program, kept)
    except FAILURES:
        # What it follows from cannot be had, so that nothing is known to be current.
        return {}
    return found


def _parts_of(table: Table) -> set[str]:
    """Everything that may fail for a table."""
    builds = {f"build/{way}" for measure in table.needs for way in measure.ways}
    return {SOURCES, *builds, *(measure.key for measure in table.needs)}


def _in_order(programs: dict[str, _T], table: Table) -> dict[str, _T]:
    """In the order of the suite, then those of the table alone; what a table is no longer about goes."""
    every = [each for each in (*SUITE, *table.also) if table.is_about(each)]
    return {each.name: programs[each.name] for each in every if each.name in programs}
