"""The traces of a profile as columns of numbers, and back; their records lie behind the document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from trodden.collect.endings import Process
from trodden.profile.trace.model import (
    MOST_RECORDS,
    CallSites,
    Interruption,
    LastFrame,
    Piece,
    Pieces,
    TraceChunk,
    TracedProcess,
    Traces,
)
from trodden.program.checked import ColumnError, columns, differences, ints, same_length, sums, text, whole
from trodden.program.facts import UnitFacts
from trodden.program.trace_chunk import Flag

_WORD = 1 << 64
_MOST = 1 << 32
_MOST_LEVELS = 64
_COLUMNS = (
    *("thread", "level", "sequence", "began", "ended", "function", "location", "parent", "offset", "pc"),
    *("flags", "signal", "inherited", "frames", "at", "packed", "size", "blocks"),
)
_ASCENDING = frozenset({"sequence", "began", "ended", "at", "pc"})
"""Columns of which the differences are stored."""


def traces_to_document(traces: Traces, places: Mapping[Piece, int]) -> dict[str, Any]:
    """The document; ``places`` says where each piece is stored."""
    return {
        "sites": [
            [
                *(places[each.labels], each.labels.packed, each.labels.size),
                *(_ranges_to_column(each.code), _ranges_to_column(each.functions)),
            ]
            for each in traces.sites
        ],
        "processes": [_process_to_document(process, places) for process in traces.processes],
    }


def _process_to_document(process: TracedProcess, places: Mapping[Piece, int]) -> dict[str, Any]:
    rows = [
        (
            *(chunk.thread, chunk.level, chunk.sequence, chunk.began, chunk.ended),
            *(_or_less(chunk.function), chunk.location, _or_less(chunk.parent), chunk.offset, chunk.pc),
            *(int(chunk.flags), chunk.signal, chunk.inherited, len(chunk.frames)),
            *(places[chunk.piece], chunk.piece.packed, chunk.piece.size, _or_less(chunk.blocks)),
        )
        for chunk in process.chunks
    ]
    table = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in _COLUMNS]
    chunks = [
        differences(column) if name in _ASCENDING else column
        for name, column in zip(_COLUMNS, table, strict=True)
    ]
    frames = [frame for chunk in process.chunks for frame in chunk.frames]
    return {
        "process": process.process,
        "pid": process.pid,
        "units": [list(column) for column in zip(*process.units, strict=True)] or [[], []],
        "modules": [list(process.modules), list(process.modules.values())],
        "chunks": chunks,
        "frames": [[module for module, _ in frames], differences([address for _, address in frames])],
        "ends": [
            [
                thread,
                [frame.function for frame in frames],
                [_or_less(frame.block) for frame in frames],
                [int(frame.interrupted) for frame in frames],
                [_or_less(frame.register) for frame in frames],
            ]
            for thread, frames in process.ends.items()
        ],
        "interrupted": [
            [thread, where.file, where.line, _or_less(where.reached)]
            for thread, where in process.interrupted.items()
        ],
        "stopped": int(process.stopped),
        "messages": list(process.messages),
        **({"missing": 1} if process.missing else {}),
    }


def traces_from_document(
    document: Any, units: Sequence[UnitFacts], processes: Sequence[Process], pieces: Pieces
) -> Traces:
    """The traces, with every number checked."""
    if type(document) is not dict or type(document["processes"]) is not list:
        raise ColumnError("traces were expected")
    sites = []
    for each in document["sites"]:
        at, packed, size, code, functions = columns(each, 5, "call sites")
        sites.append(CallSites(_piece(at, packed, size), _ranges(code), _ranges(functions)))
    found = [_process(each, units, len(sites), len(processes)) for each in document["processes"]]
    return Traces(tuple(found), tuple(sites), pieces)


def end_of_pieces(document: Any) -> int:
    """How many bytes the pieces of a document take, as it says."""
    ends = [0]
    for each in document["sites"]:
        ends.append(whole(each[0], 0, _WORD) + whole(each[1], 0, _MOST))
    for process in document["processes"]:
        at, packed = (process["chunks"][_COLUMNS.index(name)] for name in ("at", "packed"))
        ends += [start + size for start, size in zip(sums(ints(at)), ints(packed, 0), strict=True)]
    return max(ends)


def _process(document: Any, units: Sequence[UnitFacts], sites: int, processes: int) -> TracedProcess:
    if type(document) is not dict:
        raise ColumnError("the trace of a process was expected")
    firsts, numbers = columns(document["units"], 2, "units")
    same_length(ints(firsts, 0, _MOST), ints(numbers, 0, len(units)))
    if any(
        start + len(units[unit].functions) > after
        for start, unit, after in zip(firsts, numbers, firsts[1:], strict=False)
    ):
        raise ColumnError("two functions have the same number")
    modules, tables = columns(document["modules"], 2, "modules")
    same_length(ints(modules, 0, _MOST), ints(tables, 0, sites))
    missing = bool(whole(document.get("missing", 0), 0, 2))
    if missing and not document["messages"]:
        raise ColumnError("a trace is missing for no reason")
    return TracedProcess(
        process=whole(document["process"], -1, processes),
        pid=whole(document["pid"], 0, _MOST),
        units=tuple(zip(firsts, numbers, strict=True)),
        modules=dict(zip(modules, tables, strict=True)),
        chunks=tuple(_chunks(document)),
        ends={
            whole(each[0], 0, _MOST): _last_frames(each, firsts, numbers, units) for each in document["ends"]
        },
        interrupted=dict(map(_interruption, document.get("interrupted", ()))),
        stopped=bool(whole(document.get("stopped", 0), 0, 2)),
        messages=tuple(map(text, document["messages"])),
        missing=missing,
    )


def _chunks(document: Any) -> list[TraceChunk]:
    table = columns(document["chunks"], len(_COLUMNS), "chunks")
    same_length(*map(ints, table))
    named = {
        name: ints(sums(column) if name in _ASCENDING else column, -1, _WORD)
        for name, column in zip(_COLUMNS, table, strict=True)
    }
    modules, addresses = columns(document["frames"], 2, "frames")
    same_length(ints(modules, 0, _MOST), ints(addresses))
    frames = list(zip(modules, ints(sums(addresses), 0, _WORD), strict=True))
    if sum(named["frames"]) != len(frames) or min(named["frames"], default=0) < 0:
        raise ColumnError("chunks and their frames differ in number")
    found = []
    first = 0
    for row in zip(*named.values(), strict=True):
        chunk = dict(zip(_COLUMNS, row, strict=True))
        number = chunk["frames"]
        function, parent, blocks = (
            None if chunk[name] < 0 else chunk[name] for name in ("function", "parent", "blocks")
        )
        found.append(
            TraceChunk(
                thread=whole(chunk["thread"], 0, _MOST),
                level=whole(chunk["level"], 0, _MOST_LEVELS),
                sequence=whole(chunk["sequence"], 0),
                began=whole(chunk["began"], 0),
                ended=whole(chunk["ended"], 0),
                function=function,
                location=whole(chunk["location"], 0, _MOST),
                parent=parent,
                offset=whole(chunk["offset"], 0),
                pc=whole(chunk["pc"], 0),
                flags=Flag(whole(chunk["flags"], 0, 1 << len(Flag))),
                signal=whole(chunk["signal"], 0, _MOST),
                inherited=whole(chunk["inherited"], 0, MOST_RECORDS),
                frames=tuple(frames[first : first + number]),
                piece=_piece(chunk["at"], chunk["packed"], chunk["size"]),
                blocks=blocks,
            )
        )
        first += number
    keys = [(chunk.thread, chunk.sequence) for chunk in found]
    if any(before >= after for before, after in pairwise(keys)):
        raise ColumnError("chunks are not in their order")
    return found


def _interruption(document: Any) -> tuple[int, Interruption]:
    if type(document) is not list or len(document) != 4:
        raise ColumnError("where a thread was interrupted was expected")
    thread, file, line, reached = document
    where = Interruption(text(file), whole(line, 0, _MOST), _or_none(whole(reached, -1, _MOST)))
    return whole(thread, 0, _MOST), where


def _last_frames(
    document: Any, firsts: Sequence[int], numbers: Sequence[int], units: Sequence[UnitFacts]
) -> tuple[LastFrame, ...]:
    _, functions, blocks, interrupted, registers = columns(document, 5, "frames")
    same_length(ints(functions, 0), ints(blocks, -1), ints(interrupted, 0, 2), ints(registers, -1, _WORD))
    known = {
        first + index: facts.graph.exit
        for first, unit in zip(firsts, numbers, strict=True)
        for index, facts in enumerate(units[unit].functions)
    }
    if any(block >= known.get(number, 0) for number, block in zip(functions, blocks, strict=True)):
        raise ColumnError("a frame is in a block that does not exist")
    return tuple(
        LastFrame(function, _or_none(block), bool(midway), _or_none(register))
        for function, block, midway, register in zip(functions, blocks, interrupted, registers, strict=True)
    )


def _piece(at: Any, packed: Any, size: Any) -> Piece:
    return Piece(whole(at, 0, _WORD), whole(packed, 0, _MOST), whole(size, 0, MOST_RECORDS))


def _ranges_to_column(ranges: Sequence[tuple[int, int]]) -> list[int]:
    return differences([edge for each in ranges for edge in each])


def _ranges(column: Any) -> tuple[tuple[int, int], ...]:
    edges = sums(ints(column))
    if len(edges) % 2:
        raise ColumnError("a range of addresses has no end")
    return tuple(zip(edges[::2], edges[1::2], strict=True))


def _or_less(number: int | None) -> int:
    return -1 if number is None else number


def _or_none(number: int) -> int | None:
    return None if number < 0 else number
