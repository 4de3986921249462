"""From the traces that processes have left behind to those of a profile."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from trodden.collect.binary.program import Program
from trodden.collect.endings import Process, StoppedFrame
from trodden.collect.rawfile.model import TraceEnd
from trodden.collect.trace.chunk import Chunk
from trodden.collect.trace.chunks import spool_path
from trodden.collect.trace.traced import TracedRun
from trodden.profile.trace.model import (
    CallSites,
    Interruption,
    LastFrame,
    Piece,
    TraceChunk,
    TracedProcess,
    Traces,
)
from trodden.profile.trace.writing import PieceWriter
from trodden.program.facts import UnitFacts

_STOPPED = {
    TraceEnd.LIMIT: "it has as many bytes as it may have (--trace-limit)",
    TraceEnd.NO_SPACE: "there was no space left on the device",
    TraceEnd.TOO_LARGE: "the file had become as large as a file may be",
    TraceEnd.NOT_DRAINED: "nobody was reading it any more",
    TraceEnd.REMOVED: "the file was deleted",
    TraceEnd.FAILED: "the file could not be written",
    TraceEnd.NO_MEMORY: "there was no memory left",
}


def gather_traces(
    runs: Sequence[TracedRun], units: Sequence[UnitFacts], processes: Sequence[Process]
) -> Traces | None:
    """The traces of all processes; ``None`` if there are none."""
    if not runs:
        return None
    writer = PieceWriter()
    numbers = {unit.id: number for number, unit in enumerate(units)}
    order = {(process.pid, process.started): number for number, process in enumerate(processes)}
    sites: dict[str, int] = {}
    tables: list[CallSites] = []
    found = []
    for run in runs:
        assert run.raw.trace is not None
        modules = {}
        for index, program in run.modules.items():
            if program.path not in sites:
                sites[program.path] = len(tables)
                tables.append(_call_sites(program, writer))
            modules[run.raw.trace.number_of(index)] = sites[program.path]
        firsts = {
            unit.id: first
            for unit, first in zip(run.raw.units, run.raw.trace.first_functions, strict=True)
            if first is not None
        }
        found.append(
            TracedProcess(
                process=order.get((run.raw.pid, run.raw.started), -1),
                pid=run.raw.pid,
                units=tuple(sorted((first, numbers[name]) for name, first in firsts.items())),
                modules=modules,
                chunks=tuple(_stored(chunk, writer) for chunk in run.trace.chunks),
                ends={thread: tuple(_last_frames(frames, firsts)) for thread, frames in run.stacks.items()},
                interrupted=dict(_interruptions(run, {unit.id: unit for unit in units})),
                stopped=run.raw.trace.stopped is not TraceEnd.RUNNING,
                messages=tuple(_messages(run)),
                missing=_is_missing(run),
            )
        )
    return Traces(tuple(found), tuple(tables), writer.done())


def _stored(chunk: Chunk, writer: PieceWriter) -> TraceChunk:
    return TraceChunk(
        thread=chunk.thread,
        level=chunk.level,
        sequence=chunk.sequence,
        began=chunk.began,
        ended=chunk.ended,
        function=chunk.function,
        location=chunk.location,
        parent=chunk.parent,
        offset=chunk.offset,
        pc=chunk.pc,
        flags=chunk.flags,
        signal=chunk.signal,
        inherited=chunk.inherited,
        frames=tuple((frame.module, frame.address) for frame in chunk.frames),
        piece=writer.add(chunk.records()),
    )


def _call_sites(program: Program, writer: PieceWriter) -> CallSites:
    piece: Piece = writer.add(program.site_data)
    return CallSites(piece, tuple(program.code), tuple(program.functions))


def _last_frames(frames: Iterable[StoppedFrame], firsts: dict[str, int]) -> Iterable[LastFrame]:
    for frame in frames:
        if frame.unit in firsts:
            number = firsts[frame.unit] + frame.function
            yield LastFrame(number, frame.block, frame.interrupted, frame.register)


def _interruptions(run: TracedRun, units: Mapping[str, UnitFacts]) -> Iterable[tuple[int, Interruption]]:
    """Where the threads were whose innermost frame was in the middle of a block."""
    for thread, frames in run.stacks.items():
        for frame in frames[:1]:
            reached = _lines_reached(frame, units[frame.unit])
            if reached is not None or frame.source:
                file, line = (frame.source[0].file, frame.source[0].line) if frame.source else ("", 0)
                yield thread, Interruption(file, line, reached)


def _lines_reached(frame: StoppedFrame, unit: UnitFacts) -> int | None:
    """How many lines of its block a frame has reached, if that is known; only lines whose number is known."""
    if frame.block is None or frame.position is None:
        return None
    block = unit.functions[frame.function].blocks[frame.block]
    at = block.line_at(frame.position)
    return None if at is None else sum(ref.line > 0 for ref in block.lines[: at + 1])


def _is_missing(run: TracedRun) -> bool:
    """Whether nothing that it has executed is known."""
    assert run.raw.trace is not None
    none = bool(run.trace.missing) or run.raw.trace.stopped is not TraceEnd.RUNNING
    return none and not run.trace.chunks


def _messages(run: TracedRun) -> Iterable[str]:
    assert run.raw.trace is not None
    name = f"process {run.raw.pid}"
    if run.trace.missing:
        beside = spool_path(run.raw.path)
        yield (
            f"{name}: {run.trace.missing}: keep {os.path.basename(beside)} beside {run.raw.path}; "
            + ("only the last part is there" if run.trace.chunks else "what was only traced is not known")
        )
    yield from run.trace.damage
    threads = run.trace.threads()
    middle = [thread for thread, chunks in threads.items() if chunks[0].sequence]
    if middle:
        one = f"the trace of 1 of {len(threads):,} threads begins"
        of = one if len(middle) == 1 else f"the traces of {len(middle):,} threads begin"
        of = "its trace begins" if len(threads) == 1 else of
        yield (
            f"{name}: {of} in the middle, since only the last part was kept (--trace-ring): blocks are"
            " numbered from there, and counts are those of that part"
        )
    if run.raw.trace.stopped is not TraceEnd.RUNNING:
        reason = _STOPPED[run.raw.trace.stopped]
        yield f"{name}: its trace ends before it does: {reason}"
    if run.raw.trace.lost:
        yield f"{name}: some records of its trace were lost"
