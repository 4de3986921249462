"""The processes of a profile: their names, their family, one of them alone, and how they are stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from trodden.collect.endings import Process
from trodden.collect.rawfile.model import Ending
from trodden.errors import UsageError
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile, Reading, UnitFacts
from trodden.profile.store.readings import MOST_COUNT, readings_from_columns, readings_to_columns
from trodden.program.checked import ColumnError, ints, text, whole
from trodden.recover.counts import Counts

_WORD = 1 << 64
_MOST_LISTED = 8


def named(processes: Sequence[Process]) -> tuple[Process, ...]:
    """The same processes, each with a name of its own; they are in the order of their starts."""
    times = Counter(process.pid for process in processes)
    seen: Counter[int] = Counter()
    found = []
    for process in processes:
        seen[process.pid] += 1
        own = f"{process.pid}.{seen[process.pid]}" if times[process.pid] > 1 else str(process.pid)
        found.append(replace(process, name=own))
    return tuple(found)


def family(processes: Sequence[Process]) -> list[tuple[int, int]]:
    """The processes as a tree: the depth and the index of each, parents before their children.

    What a process has become by ``exec`` stands below what it was.  A pid may have been used again, so a
    parent is the last process of that pid that had started before.
    """
    latest: dict[int, int] = {}
    children: dict[int | None, list[int]] = {}
    for index, process in enumerate(processes):
        before = latest.get(process.pid)
        became = before is not None and processes[before].ending is Ending.EXEC
        above = before if became else latest.get(process.parent)
        children.setdefault(above, []).append(index)
        latest[process.pid] = index
    found: list[tuple[int, int]] = []
    work = [(0, index) for index in reversed(children.get(None, []))]
    while work:
        depth, index = work.pop()
        found.append((depth, index))
        work += [(depth + 1, child) for child in reversed(children.get(index, []))]
    return found


def only(profile: Profile, name: str, where: str) -> Profile:
    """What one process has counted; ``where`` is the file that the profile comes from."""
    if not profile.processes:
        raise UsageError(
            f"{where}: does not tell processes apart (it was merged, or made by an earlier trodden)"
        )
    index = _find(profile, name, where)
    process = profile.processes[index]
    threads = tuple(replace(each, process=0) for each in profile.threads if each.process == index)
    notes = [note for note in profile.notes if not _is_of_other(note, profile.processes, index)]
    if len(profile.processes) == 1:
        return profile
    if profile.call_paths:
        notes.append("call paths are told of all processes together only")
    held = {reading.unit: reading for reading in process.readings}
    readings = [held.get(unit.id) or Reading(unit.id, Counts(unit.slots, {})) for unit in profile.units]
    chosen = assemble(process.program, profile.units, readings, notes)
    return replace(chosen, processes=(replace(process, readings=()),), threads=threads)


def _find(profile: Profile, name: str, where: str) -> int:
    names = [process.name for process in profile.processes]
    if name in names:
        return names.index(name)
    images = [process.name for process in profile.processes if str(process.pid) == name]
    if images:
        raise UsageError(f"{where}: {name} is the pid of several processes: name one of {_listed(images)}")
    raise UsageError(f"{where}: there is no process {name}; it has {_listed(names)}")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _is_of_other(note: str, processes: Sequence[Process], index: int) -> bool:
    first, _, rest = note.partition(" ")
    whose = rest.partition(" ")[0].rstrip(":")
    names = {process.name for number, process in enumerate(processes) if number != index}
    return first == "process" and whose in names


def to_documents(processes: Sequence[Process], units: Sequence[UnitFacts]) -> list[dict[str, Any]]:
    """The processes as they are stored; names follow from the rest."""
    numbers = {unit.id: number for number, unit in enumerate(units)}
    return [_to_document(process, numbers) for process in processes]


def _to_document(process: Process, numbers: dict[str, int]) -> dict[str, Any]:
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
    if process.readings:
        held = [numbers[reading.unit] for reading in process.readings]
        document["held"] = {"in": held, **readings_to_columns(process.readings)}
    return document


def from_documents(documents: Any, units: Sequence[UnitFacts]) -> tuple[Process, ...]:
    """Processes that were stored, every number of them checked."""
    if type(documents) is not list:
        raise ColumnError("a list of processes was expected")
    return named([_from_document(document, units) for document in documents])


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
        readings=_readings(document["held"], units) if "held" in document else (),
        completed=tuple(_functions(document.get("completed", []), units)),
    )


def _readings(document: Any, units: Sequence[UnitFacts]) -> tuple[Reading, ...]:
    held = ints(document["in"], 0, len(units))
    if len(set(held)) != len(held):
        raise ColumnError("a process has counted twice in a unit")
    return tuple(readings_from_columns(document, [units[number] for number in held]))


def _functions(column: Any, units: Sequence[UnitFacts]) -> list[tuple[str, int]]:
    flat = ints(column, 0)
    found = list(zip(flat[::2], flat[1::2], strict=True))
    if any(unit >= len(units) or function >= len(units[unit].functions) for unit, function in found):
        raise ColumnError("a function that does not exist was completed")
    return [(units[unit].id, function) for unit, function in found]
