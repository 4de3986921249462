"""A profile that was derived from another one is of the same runs: what is known of these belongs to it too.

Its units have other plans, and so other ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trodden.collect.endings import Process, StoppedThread
from trodden.collect.executed import Executed
from trodden.collect.programs import with_blocks_executed
from trodden.profile.model import Profile
from trodden.recover.sparse_counters import nonzero
from trodden.recover.unit_counts import UnitCounts


def with_runs(derived: Profile, original: Profile, counted: Mapping[int, Sequence[UnitCounts]]) -> Profile:
    """``derived`` with processes, threads and programs; both profiles have the same units in the same order.

    Of units without functions nothing is known any more: they have no frames and belong to no program.
    ``counted`` is what each process has counted, by its index; of a process that is alone it is not needed.
    """
    ids = {
        old.id: new.id
        for old, new in zip(original.units, derived.units, strict=True)
        if len(old.functions) == len(new.functions)
    }
    executed = Executed({unit.id: unit for unit in derived.units})
    processes = []
    for index, process in enumerate(original.processes):
        own = tuple(filter(_has_counts, counted.get(index, ())))
        blocks = None if process.executed is None else executed.blocks(own)
        completed = tuple((ids[unit], function) for unit, function in process.completed if unit in ids)
        processes.append(replace(process, executed=blocks, unit_counts=own, completed=completed))
    programs = [
        replace(each, units=tuple(ids[unit] for unit in each.units if unit in ids))
        for each in original.programs
    ]
    return replace(
        derived,
        processes=tuple(processes),
        threads=tuple(_thread(thread, ids) for thread in original.threads),
        programs=with_blocks_executed(
            programs, _counting(processes, derived, executed), derived.unit_counts, executed
        ),
        merged=original.merged,
    )


def _counting(processes: Sequence[Process], derived: Profile, executed: Executed) -> Sequence[Process]:
    """The processes, each with the number of blocks that it executed."""
    if len(processes) != 1:
        return processes
    return [replace(processes[0], executed=executed.blocks(derived.unit_counts))]


def _has_counts(counted: UnitCounts) -> bool:
    return any(nonzero(counted.counters)) or bool(counted.active or counted.prefixes or counted.sparse)


def _thread(thread: StoppedThread, ids: Mapping[str, str]) -> StoppedThread:
    """Its path registers are those of the plans that its units had."""
    return replace(
        thread,
        frames=tuple(
            replace(each, unit=ids[each.unit], register=None) for each in thread.frames if each.unit in ids
        ),
        last=(),
    )
