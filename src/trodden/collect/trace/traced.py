"""A process that has recorded a trace: what is needed to read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trodden.collect.binary.program import Program
from trodden.collect.early_ends import EarlyEndFinder, LocatorOf
from trodden.collect.endings import StoppedFrame
from trodden.collect.rawfile.model import Ending, Raw
from trodden.collect.trace.chunks import ProcessTrace, read_chunks


@dataclass(frozen=True)
class TracedRun:
    """The trace of the process of a raw file.

    ``modules`` are its modules that have probes.  ``stacks`` are the frames that were active at its end, by
    thread and innermost first.
    """

    raw: Raw
    modules: Mapping[int, Program]
    stacks: Mapping[int, list[StoppedFrame]]
    trace: ProcessTrace


def traced_run(raw: Raw, modules: Mapping[int, Program], locator_of: LocatorOf) -> TracedRun | None:
    """The trace of a process, if it has recorded one."""
    if raw.trace is None:
        return None
    midway = raw.ending in (Ending.SIGNAL, Ending.EXEC) or any(frame.interrupted for frame in raw.frames)
    active = EarlyEndFinder(modules, locator_of).active(raw, with_source=midway)
    return TracedRun(raw, modules, active.stacks, read_chunks(raw.path, raw.pid, raw.started))
