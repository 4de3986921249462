"""From the raw files of one or several runs, and the programs that wrote them, to a profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trodden.collect.endings import Process
from trodden.collect.executed import Executed
from trodden.collect.gather import Gathered, Path, gather_all
from trodden.gc_pause import no_garbage
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile


@dataclass(frozen=True)
class Collected:
    """A profile, and a message for each raw file that is not part of it because it is damaged."""

    profile: Profile
    left_out: tuple[str, ...]


def collect(raws: Sequence[Path], programs: Sequence[Path] = ()) -> Profile:
    """Add up the counts of all ``raws`` and make a profile of them; see :func:`collect_all`."""
    return collect_all(raws, programs).profile


def collect_all(raws: Sequence[Path], programs: Sequence[Path] = ()) -> Collected:
    """Add up the counts of all ``raws`` and make a profile of them; see :func:`gather_all`."""
    with no_garbage():
        found, left_out = gather_all(raws, programs)
        profile = assemble(found.program, found.units, found.unit_counts, found.messages, found.call_paths)
        profile = replace(profile, processes=_with_blocks_executed(found), threads=found.threads)
        return Collected(profile, left_out)


def _with_blocks_executed(found: Gathered) -> tuple[Process, ...]:
    """Each process with the number of blocks that it executed; not needed if there is only one."""
    if len(found.processes) == 1:
        return (replace(found.processes[0], unit_counts=()),)
    executed = Executed({unit.id: unit for unit in found.units})
    return tuple(replace(each, executed=executed.blocks(each.unit_counts)) for each in found.processes)
