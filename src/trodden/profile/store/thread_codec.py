"""The threads of processes that did not end by returning, as documents, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from trodden.collect.endings import (
    MOST_FRAMES,
    MOST_INLINED,
    MOST_LAST_PATHS,
    LastPath,
    SourceFrame,
    StoppedFrame,
    StoppedThread,
)
from trodden.plan.probes import WORD
from trodden.program.checked import ColumnError, columns, ints, same_length, text, whole
from trodden.program.facts import UnitFacts

_NO_REGISTER = -1
_MOST_LINES = 1 << 32


def threads_to_documents(
    threads: Sequence[StoppedThread], units: Sequence[UnitFacts]
) -> list[dict[str, Any]]:
    """Threads as they are stored, with frames and last paths as columns."""
    numbers = {unit.id: number for number, unit in enumerate(units)}
    return [_to_document(thread, numbers) for thread in threads]


def _to_document(thread: StoppedThread, numbers: dict[str, int]) -> dict[str, Any]:
    document: dict[str, Any] = {"process": thread.process, "number": thread.number}
    if thread.tid is not None:
        document["tid"] = thread.tid
    document["frames"] = [
        [numbers[frame.unit] for frame in thread.frames],
        [frame.function for frame in thread.frames],
        [-1 if frame.block is None else frame.block for frame in thread.frames],
        [int(frame.interrupted) for frame in thread.frames],
        [_NO_REGISTER if frame.register is None else frame.register for frame in thread.frames],
    ]
    if any(frame.source for frame in thread.frames):
        document["source"] = [
            [[each.function, each.file, each.line] for each in frame.source] for frame in thread.frames
        ]
    if any(frame.position is not None for frame in thread.frames):
        document["positions"] = [frame.position for frame in thread.frames]
    if thread.left_out:
        document["left_out"] = thread.left_out
    if thread.last:
        document["last"] = [
            [numbers[last.unit] for last in thread.last],
            [last.function for last in thread.last],
            [last.path for last in thread.last],
        ]
    return document


def threads_from_documents(
    documents: Any, units: Sequence[UnitFacts], processes: int
) -> tuple[StoppedThread, ...]:
    """Threads from their stored form, with every number checked."""
    if type(documents) is not list:
        raise ColumnError("a list of threads was expected")
    return tuple(_from_document(document, units, processes) for document in documents)


def _from_document(document: Any, units: Sequence[UnitFacts], processes: int) -> StoppedThread:
    if type(document) is not dict:
        raise ColumnError("a thread was expected")
    tid = document.get("tid")
    frames = _with_source(_frames(document["frames"], units), document.get("source"))
    return StoppedThread(
        process=whole(document["process"], 0, processes),
        number=whole(document["number"], 0, 1 << 32),
        tid=None if tid is None else whole(tid, 0, 1 << 32),
        frames=tuple(_with_positions(frames, document.get("positions"))),
        left_out=whole(document.get("left_out", 0), 0, 1 << 62),
        last=tuple(_last_paths(document.get("last", [[], [], []]), units)),
    )


def _frames(document: Any, units: Sequence[UnitFacts]) -> list[StoppedFrame]:
    table = columns(document, 5, "frames")
    same_length(*table)
    where, functions, blocks, interrupted, registers = table
    _check_functions(where, functions, units, MOST_FRAMES)
    ints(blocks, -1)
    ints(interrupted, 0, 2)
    ints(registers, _NO_REGISTER, WORD)
    found = []
    for unit, function, block, stopped, register in zip(*table, strict=True):
        if block >= units[unit].functions[function].graph.exit:
            raise ColumnError("a frame is in a block that does not exist")
        found.append(
            StoppedFrame(
                units[unit].id,
                function,
                None if block < 0 else block,
                bool(stopped),
                None if register == _NO_REGISTER else register,
            )
        )
    return found


def _with_source(frames: list[StoppedFrame], document: Any) -> list[StoppedFrame]:
    """The frames with the functions of the source that they consist of; earlier files do not say these."""
    if document is None:
        return frames
    if type(document) is not list or len(document) != len(frames):
        raise ColumnError("the source locations of all frames were expected")
    return [replace(frame, source=_source(each)) for frame, each in zip(frames, document, strict=True)]


def _with_positions(frames: list[StoppedFrame], document: Any) -> list[StoppedFrame]:
    """The frames with their positions in their blocks; earlier files do not say these."""
    if document is None:
        return frames
    if type(document) is not list or len(document) != len(frames):
        raise ColumnError("the positions of all frames were expected")
    positions = [None if each is None else whole(each, -_MOST_LINES, _MOST_LINES) for each in document]
    return [replace(frame, position=each) for frame, each in zip(frames, positions, strict=True)]


def _source(document: Any) -> tuple[SourceFrame, ...]:
    if type(document) is not list or len(document) > MOST_INLINED + 1:
        raise ColumnError("the functions of a frame were expected")
    found = []
    for each in document:
        if type(each) is not list or len(each) != 3:
            raise ColumnError("a function with its file and line was expected")
        function, file, line = each
        found.append(SourceFrame(text(function), text(file), whole(line, 1, 1 << 32)))
    return tuple(found)


def _last_paths(document: Any, units: Sequence[UnitFacts]) -> list[LastPath]:
    table = columns(document, 3, "last paths")
    same_length(*table)
    where, functions, paths = table
    _check_functions(where, functions, units, MOST_LAST_PATHS)
    ints(paths, 0, WORD)
    found = []
    for unit, function, path in zip(*table, strict=True):
        plan = units[unit].functions[function].plan.paths
        if plan is None or path >= plan.number:
            raise ColumnError("a last path does not exist")
        found.append(LastPath(units[unit].id, function, path))
    return found


def _check_functions(where: Any, functions: Any, units: Sequence[UnitFacts], most: int) -> None:
    ints(where, 0, len(units))
    ints(functions, 0)
    if len(where) > most:
        raise ColumnError("a thread has more frames or paths than are ever kept")
    if any(f >= len(units[unit].functions) for unit, f in zip(where, functions, strict=True)):
        raise ColumnError("a thread was in a function that does not exist")
