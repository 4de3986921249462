"""The programs and shared libraries whose code a profile is of.

A run of a test-suite executes several programs, and libraries that some of them share.  Units belong to the
files that they were linked into: an object that is part of two programs is one unit of both.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from trodden.collect.endings import Process
from trodden.collect.executed import Executed
from trodden.recover.unit_counts import UnitCounts


@dataclass(frozen=True)
class ProgramFile:
    """An executable, or a shared ``library``, by its path.

    ``units`` are the ids of its units; an executable without probes that has loaded an instrumented library
    has none.  ``processes`` is the number of processes (of process images, if they called ``exec``) that have
    executed or loaded it.  ``executed`` is how many blocks they have executed: those of an executable in
    whatever code, those of a library in its own.
    """

    path: str
    library: bool
    units: tuple[str, ...]
    processes: int = 0
    executed: int = 0


def is_library(path: str) -> bool:
    """Whether a file is a shared library, by its name: ``x.so``, ``libx.so.1.2``."""
    return ".so" in os.path.basename(path)


def program_names(programs: Sequence[ProgramFile]) -> tuple[str, ...]:
    """A name for each: the last part of its path, and as many parts before it as distinguish it."""
    parts = [tuple(part for part in each.path.split(os.sep) if part) for each in programs]
    names: list[str] = []
    for own in parts:
        length = 1
        while length < len(own) and sum(other[-length:] == own[-length:] for other in parts) > 1:
            length += 1
        names.append(os.sep.join(own[-length:]))
    return tuple(names)


def joined_programs(programs: Iterable[ProgramFile]) -> tuple[ProgramFile, ...]:
    """One entry for each path: those of several processes or profiles are added up."""
    found: dict[tuple[str, bool], ProgramFile] = {}
    for each in programs:
        key = each.path, each.library
        before = found.get(key)
        if before is not None:
            same = before.units == each.units
            each = replace(
                before,
                units=before.units if same else tuple(dict.fromkeys((*before.units, *each.units))),
                processes=before.processes + each.processes,
                executed=before.executed + each.executed,
            )
        found[key] = each
    return tuple(found.values())


def with_blocks_executed(
    programs: Sequence[ProgramFile],
    processes: Sequence[Process],
    unit_counts: Iterable[UnitCounts],
    executed: Executed,
) -> tuple[ProgramFile, ...]:
    """The programs with the number of blocks that each executed.

    ``processes`` are those that have executed them, ``unit_counts`` the sums over all of these.
    """
    by_program: Counter[str] = Counter()
    for process in processes:
        by_program[process.program] += process.executed or 0
    counted = {each.unit: each for each in unit_counts}
    return tuple(
        replace(each, executed=executed.blocks(counted[unit] for unit in each.units if unit in counted))
        if each.library
        else replace(each, executed=by_program[each.path])
        for each in programs
    )


def shared_units(programs: Iterable[ProgramFile]) -> frozenset[str]:
    """The units that are part of several files."""
    times = Counter(unit for each in programs for unit in each.units)
    return frozenset(unit for unit, count in times.items() if count > 1)
