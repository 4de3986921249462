"""From the raw files of one or several runs, and the programs that wrote them, to a profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trodden.collect.endings import Process
from trodden.collect.executed import Executed
from trodden.collect.gather import Gathered, Path, gather_all
from trodden.collect.left_out import LeftOutRaws
from trodden.collect.programs import ProgramFile, with_blocks_executed
from trodden.gc_pause import no_garbage
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.profile.trace.gathering import gather_traces


@dataclass(frozen=True)
class Collected:
    """A profile, and which raw files are not part of it: they are damaged, or their programs are gone."""

    profile: Profile
    left_out: LeftOutRaws


def collect(raws: Sequence[Path], programs: Sequence[Path] = ()) -> Profile:
    """Add up the counts of all ``raws`` and make a profile of them; see :func:`collect_all`."""
    return collect_all(raws, programs).profile


def collect_all(raws: Sequence[Path], programs: Sequence[Path] = ()) -> Collected:
    """Add up the counts of all ``raws`` and make a profile of them; see :func:`gather_all`."""
    with no_garbage():
        found, left_out = gather_all(raws, programs)
        profile = assemble(found.program, found.units, found.unit_counts, found.messages, found.call_paths)
        processes, files = _with_blocks_executed(found)
        profile = replace(profile, programs=files, processes=processes, threads=found.threads)
        traces = gather_traces(found.traced, profile.units, processes)
        if traces is not None:
            messages = (each for process in traces.processes for each in process.messages)
            profile = replace(profile, traces=traces, messages=(*profile.messages, *messages))
        return Collected(profile, left_out)


def _with_blocks_executed(found: Gathered) -> tuple[tuple[Process, ...], tuple[ProgramFile, ...]]:
    """Processes and programs with the number of blocks that each executed.

    That of a single process is known from its program.
    """
    executed = Executed({unit.id: unit for unit in found.units})
    processes = [replace(each, executed=executed.blocks(each.unit_counts)) for each in found.processes]
    files = with_blocks_executed(found.programs, processes, found.unit_counts, executed)
    if len(processes) == 1:
        processes = [replace(processes[0], executed=None, unit_counts=())]
    return tuple(processes), files
