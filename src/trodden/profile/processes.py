"""The processes of a profile: which is the parent of which, and the profile of one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from trodden.collect.endings import Process
from trodden.collect.executed import Executed
from trodden.collect.process_messages import process_name_in
from trodden.collect.programs import ProgramFile, with_blocks_executed
from trodden.collect.rawfile.model import Ending
from trodden.errors import InputMissing, UsageError
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.recover.unit_counts import UnitCounts

_MOST_LISTED = 8


def family(processes: Sequence[Process]) -> list[tuple[int, int]]:
    """The processes as a tree: the depth and the index of each, parents before their children.

    The image that a process executes by ``exec`` is the child of the image before.  A pid may be used again,
    so that a parent is the last process with that pid that had started before.
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
    """The profile of one process; ``where`` is the file that the profile was read from."""
    if not profile.processes:
        raise UsageError(
            f"{where}: has no counts of single processes (it was merged, or made by an earlier version)"
        )
    index = _find(profile, name, where)
    process = profile.processes[index]
    if len(profile.processes) == 1:
        return profile
    if profile.traces is not None and any(
        each.missing and each.process == index for each in profile.traces.processes
    ):
        raise InputMissing(f"{where}: the trace of process {process.name} is missing: nothing is known of it")
    others = {each.name for each in profile.processes} - {process.name}
    messages = [each for each in profile.messages if process_name_in(each) not in others]
    threads = tuple(replace(each, process=0) for each in profile.threads if each.process == index)
    if profile.call_paths:
        messages.append("call paths are known of all processes together only")
    own = {counted.unit: counted for counted in process.unit_counts}
    unit_counts = [own.get(unit.id) or UnitCounts.zero(unit) for unit in profile.units]
    chosen = assemble(process.program, profile.units, unit_counts, messages)
    return replace(
        chosen,
        programs=_programs(profile, process),
        processes=(replace(process, unit_counts=()),),
        threads=threads,
        **traces_of(profile, {index: 0}),
    )


def traces_of(profile: Profile, places: Mapping[int, int]) -> dict[str, Any]:
    """The fields of a profile that are about traces, of some processes: new indices by old ones."""
    if profile.traces is None:
        return {}
    traced = tuple(
        replace(each, process=places[each.process])
        for each in profile.traces.processes
        if each.process in places
    )
    units = profile.traced_units or profile.units
    return {"traces": replace(profile.traces, processes=traced), "traced_units": units}


def _programs(profile: Profile, process: Process) -> tuple[ProgramFile, ...]:
    """The program of a process, and the libraries that it has executed."""
    executed = Executed({unit.id: unit for unit in profile.units})
    counted = {each.unit for each in process.unit_counts}
    files = [
        replace(each, processes=1)
        for each in profile.programs
        if (not counted.isdisjoint(each.units) if each.library else each.path == process.program)
    ]
    return with_blocks_executed(files, [process], process.unit_counts, executed)


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
