"""Processes as documents, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trodden.collect.endings import Process, named_processes
from trodden.collect.rawfile.model import Ending
from trodden.profile.store.unit_counts_codec import (
    MOST_COUNT,
    unit_counts_from_columns,
    unit_counts_to_columns,
)
from trodden.program.checked import ColumnError, ints, text, whole
from trodden.program.facts import UnitFacts
from trodden.recover.unit_counts import UnitCounts

_WORD = 1 << 64


def to_documents(processes: Sequence[Process], units: Sequence[UnitFacts]) -> list[dict[str, Any]]:
    """The processes as they are stored; their names follow from the rest."""
    numbers = {unit.id: number for number, unit in enumerate(units)}
    return [_to_document(process, numbers, units) for process in processes]


def _to_document(process: Process, numbers: dict[str, int], units: Sequence[UnitFacts]) -> dict[str, Any]:
    document: dict[str, Any] = {
        "pid": process.pid,
        "parent": process.parent,
        "started": process.started,
        "program": process.program,
        "ending": process.ending.value,
    }
    if process.signal:
        document["signal"] = process.signal
    if process.executed is not None:
        document["executed"] = process.executed
    if process.completed:
        document["completed"] = [x for unit, function in process.completed for x in (numbers[unit], function)]
    if process.unit_counts:
        held = [numbers[counted.unit] for counted in process.unit_counts]
        columns = unit_counts_to_columns(process.unit_counts, [units[number] for number in held])
        document["held"] = {"in": held, **columns}
    return document


def from_documents(documents: Any, units: Sequence[UnitFacts]) -> tuple[Process, ...]:
    """Processes from their stored form, with every number checked."""
    if type(documents) is not list:
        raise ColumnError("a list of processes was expected")
    return named_processes([_from_document(document, units) for document in documents])


def _from_document(document: Any, units: Sequence[UnitFacts]) -> Process:
    if type(document) is not dict:
        raise ColumnError("a process was expected")
    executed = document.get("executed")
    return Process(
        name="",
        pid=whole(document["pid"], 0, _WORD),
        parent=whole(document["parent"], 0, _WORD),
        started=whole(document["started"], 0, _WORD),
        program=text(document["program"]),
        ending=Ending(text(document["ending"])),
        signal=whole(document.get("signal", 0), 0, 1 << 32),
        executed=None if executed is None else whole(executed, 0, MOST_COUNT),
        unit_counts=_unit_counts(document["held"], units) if "held" in document else (),
        completed=tuple(_functions(document.get("completed", []), units)),
    )


def _unit_counts(document: Any, units: Sequence[UnitFacts]) -> tuple[UnitCounts, ...]:
    held = ints(document["in"], 0, len(units))
    if len(set(held)) != len(held):
        raise ColumnError("a process has counted twice in a unit")
    return tuple(unit_counts_from_columns(document, [units[number] for number in held]))


def _functions(column: Any, units: Sequence[UnitFacts]) -> list[tuple[str, int]]:
    flat = ints(column, 0)
    found = list(zip(flat[::2], flat[1::2], strict=True))
    if any(unit >= len(units) or function >= len(units[unit].functions) for unit, function in found):
        raise ColumnError("a function that does not exist was completed")
    return [(units[unit].id, function) for unit, function in found]
