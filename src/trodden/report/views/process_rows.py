"""How processes ended, and where their threads were at that time, as rows of the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from trodden.collect.call_paths import CalledFunction
from trodden.collect.endings import LastPath, Process, StoppedFrame, StoppedThread, signal_name
from trodden.collect.rawfile.model import Ending
from trodden.plan.routes import PathCount
from trodden.profile.analysis.frame_source import frame_source
from trodden.profile.analysis.unfinished import Unfinished
from trodden.profile.call_paths import function_names
from trodden.profile.model import FunctionProfile, Profile
from trodden.profile.processes import family
from trodden.profile.trace.threads import ThreadTrace
from trodden.program.trace_chunk import Flag
from trodden.report.narrate.paths import Describer, PathDescription
from trodden.report.views.last_lines import LastLines, LineRow, last_lines
from trodden.report.views.path_rows import step_document

_MOST_LINES = 10
_WORDS = {
    Ending.EXIT: "exit",
    Ending.DUMP: "dump",
    Ending.EXEC: "became another program (exec)",
    Ending.KILLED: "killed, or ended unseen",
}


@dataclass(frozen=True)
class ProcessRow:
    """A process; ``depth`` is the number of its ancestors that are listed, the nearest directly above it.

    ``executed`` and ``share``, its part of all executed blocks, are not given for a process that is alone.
    ``completed`` are functions whose counts had to be completed.
    """

    name: str
    pid: int
    parent: int
    started: int
    program: str
    ending: str
    how: str
    depth: int
    executed: int | None
    share: float | None
    completed: tuple[str, ...]


@dataclass(frozen=True)
class FrameRow:
    """An active function, and the lines that control was on one of (0: not known).

    A function that was inlined has no frame of its own: ``inlined_into`` is the function that has one.
    ``unfinished`` is the path that the frame was on, up to its block.
    """

    function: str
    block: str
    file: str
    line: int
    last_line: int
    interrupted: bool
    unfinished: PathDescription | None
    inlined_into: str | None = None

    def to_document(self) -> dict[str, Any]:
        """The row as dictionaries and lists."""
        document: dict[str, Any] = {
            "function": self.function,
            "block": self.block,
            "file": self.file,
            "line": self.line,
            "last_line": self.last_line,
            "interrupted": self.interrupted,
        }
        if self.inlined_into is not None:
            document["inlined_into"] = self.inlined_into
        if self.unfinished is not None:
            document["unfinished"] = _path_document(self.unfinished)
        return document


@dataclass(frozen=True)
class LastRow:
    """One of the last paths of a thread."""

    function: str
    id: int
    description: PathDescription

    def to_document(self) -> dict[str, Any]:
        """The row as dictionaries and lists."""
        return {
            "function": self.function,
            "id": self.id,
            **_path_document(self.description),
            "ends": self.description.ends,
        }


@dataclass(frozen=True)
class ThreadRow:
    """Where a thread was; ``last`` are the paths that it executed last, ``lines`` the lines, oldest first.

    ``lines_to_end`` is false if the trace that the lines are from ends before the thread does.
    """

    process: str
    number: int
    tid: int | None
    how: str
    ending: str
    frames: tuple[FrameRow, ...]
    left_out: int
    last: tuple[LastRow, ...]
    lines: tuple[LineRow, ...] = ()
    lines_to_end: bool = True

    def to_document(self) -> dict[str, Any]:
        """The row as dictionaries and lists."""
        return {
            "process": self.process,
            "number": self.number,
            "tid": self.tid,
            "frames": [frame.to_document() for frame in self.frames],
            "left_out": self.left_out,
            "last": [last.to_document() for last in self.last],
            "lines": [line.to_document() for line in self.lines],
            "lines_to_end": self.lines_to_end,
        }


def how_it_ended(process: Process) -> str:
    """How a process ended, in a few words."""
    return signal_name(process.signal) if process.ending is Ending.SIGNAL else _WORDS[process.ending]


def process_rows(profile: Profile) -> Iterator[ProcessRow]:
    """The processes of a profile as a tree."""
    names = function_names(profile) if any(each.completed for each in profile.processes) else {}
    everything = sum(process.executed or 0 for process in profile.processes)
    for depth, index in family(profile.processes):
        process = profile.processes[index]
        share = None
        if process.executed is not None and len(profile.processes) > 1:
            share = process.executed / everything if everything else 0.0
        yield ProcessRow(
            process.name,
            process.pid,
            process.parent,
            process.started,
            process.program,
            process.ending.value,
            how_it_ended(process),
            depth,
            process.executed,
            share,
            tuple(dict.fromkeys(names[each] for each in process.completed)),
        )


def thread_rows(profile: Profile, describer: Describer, top: int | None) -> Iterator[ThreadRow]:
    """The threads of a profile that were stopped; ``top`` limits the last paths and lines of each.

    Of a process that was killed they are those that its trace shows to have been running.
    """
    rows = _ThreadRows(profile, describer)
    for thread in profile.threads:
        yield rows.thread(thread, top)
    known = {thread.process for thread in profile.threads}
    for process, number in rows.traced:
        if process not in known and profile.processes[process].ending is Ending.KILLED:
            yield rows.killed(process, number, top)


class _ThreadRows:
    """Describes the frames and last paths of one profile."""

    def __init__(self, profile: Profile, describer: Describer) -> None:
        self._profile, self._describer = profile, describer
        self._names = function_names(profile)
        self._units = {unit.id: unit for unit in profile.units}
        self._unfinished = Unfinished(profile.units)
        self._views: dict[CalledFunction, FunctionProfile] = {}
        self._lasts: dict[LastPath, LastRow | None] = {}
        threads = () if profile.traces is None else profile.trace.threads
        self.traced = {
            (thread.process.process, thread.number): thread
            for thread in threads
            if thread.process.process >= 0 and not _has_exited(thread)
        }
        """The traces of threads that were running at the end, by process and number."""

    def thread(self, thread: StoppedThread, top: int | None) -> ThreadRow:
        process = self._profile.processes[thread.process]
        lasts = (self._last(each) for each in thread.last[-top if top else 0 :])
        lines = self._lines(thread.process, thread.number, top)
        return ThreadRow(
            process.name,
            thread.number,
            thread.tid,
            how_it_ended(process),
            process.ending.value,
            tuple(row for frame in thread.frames for row in self._frames(frame)),
            thread.left_out,
            tuple(each for each in lasts if each is not None),
            lines.rows,
            lines.up_to_end,
        )

    def killed(self, process: int, number: int, top: int | None) -> ThreadRow:
        """A thread of which no more is known than its trace."""
        own = self._profile.processes[process]
        lines = self._lines(process, number, top)
        how = how_it_ended(own)
        return ThreadRow(
            own.name, number, None, how, own.ending.value, (), 0, (), lines.rows, lines.up_to_end
        )

    def _lines(self, process: int, number: int, top: int | None) -> LastLines:
        trace = self.traced.get((process, number))
        if trace is None:
            return LastLines()
        return last_lines(trace, self._describer.index, top or _MOST_LINES)

    def _frames(self, frame: StoppedFrame) -> Iterator[FrameRow]:
        """The functions inlined into a frame, innermost first, and the function that the frame is of."""
        key = frame.unit, frame.function
        view, name = self._view(key), self._names[key]
        block = "" if frame.block is None else view.facts.graph.labels[frame.block]
        *inlined, own = frame_source(frame, view.facts, view.files)
        interrupted = frame.interrupted
        for each in inlined:
            yield FrameRow(
                each.function, block, each.file, each.line, each.last_line, interrupted, None, name
            )
            interrupted = False
        unfinished = None
        if frame.block is not None:
            unfinished = self._decided(self._describe(key, self._unfinished.prefix(frame)))
        yield FrameRow(name, block, own.file, own.line, own.last_line, interrupted, unfinished)

    @staticmethod
    def _decided(path: PathDescription | None) -> PathDescription | None:
        """Without the last line of its block, which a frame may not have reached."""
        if path is None:
            return None
        return replace(path, steps=tuple(step for step in path.steps if step.outcome is not None))

    def _last(self, last: LastPath) -> LastRow | None:
        if last not in self._lasts:
            key = last.unit, last.function
            path = self._describe(key, self._unfinished.last(last))
            self._lasts[last] = None if path is None else LastRow(self._names[key], last.path, path)
        return self._lasts[last]

    def _describe(self, key: CalledFunction, path: PathCount | None) -> PathDescription | None:
        return None if path is None else self._describer.describe(self._view(key), path)

    def _view(self, key: CalledFunction) -> FunctionProfile:
        """The function as its own unit has it: of COMDAT copies in several units the profile holds one."""
        if key not in self._views:
            unit = self._units[key[0]]
            facts = unit.functions[key[1]]
            none, untaken = [0] * len(facts.graph.labels), [0] * len(facts.graph.edges)
            self._views[key] = FunctionProfile(facts, unit.files, unit.id, none, untaken)
        return self._views[key]


def _has_exited(thread: ThreadTrace) -> bool:
    """Whether a thread had ended before its process did."""
    ended = any(chunk.flags & Flag.LAST for chunk in thread.chunks)
    return ended and thread.number not in thread.process.ends


def _path_document(path: PathDescription) -> dict[str, Any]:
    document: dict[str, Any] = {
        "starts": path.starts,
        "steps": [step_document(step) for step in path.steps],
    }
    if path.context:
        document["context"] = [step_document(step) for step in path.context]
    return document
