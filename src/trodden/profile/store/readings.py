"""What the counters of a unit held, as columns of numbers, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from trodden.plan.probes import WORD
from trodden.program.checked import ColumnError, ints
from trodden.program.facts import UnitFacts
from trodden.recover.counts import Counts, nonzero
from trodden.recover.reading import Reading

MOST_FRAMES = 1 << 62
MOST_COUNT = 1 << 128
"""More than any number of runs can count to, and few enough for all that is computed from counts."""
_NO_CELL = -1

_K = TypeVar("_K")
_V = TypeVar("_V")


def readings_to_columns(readings: Sequence[Reading]) -> dict[str, Any]:
    """One list a unit for each of the things that were read; those of paths only if there is any."""
    document: dict[str, Any] = {
        "counts": [_without_zeros(reading.counts) for reading in readings],
        "active": [
            [x for (function, block), frames in reading.active.items() for x in (function, block, frames)]
            for reading in readings
        ],
    }
    if any(reading.prefixes or reading.sparse for reading in readings):
        document["prefixes"] = [
            [
                x
                for (function, block, cell), times in reading.prefixes.items()
                for x in (function, block, _NO_CELL if cell is None else cell, times)
            ]
            for reading in readings
        ]
        document["sparse"] = [
            [x for (function, path), counted in reading.sparse.items() for x in (function, path, *counted)]
            for reading in readings
        ]
    return document


def readings_from_columns(document: Any, units: Sequence[UnitFacts]) -> list[Reading]:
    """The readings of ``units``, every index of them checked."""
    none: list[list[int]] = [[] for _ in units]
    return [
        Reading(
            unit=unit.id,
            counts=_with_zeros(counts, unit.slots),
            active=_active(active, unit),
            prefixes=_prefixes(prefixes, unit),
            sparse=_sparse(sparse, unit),
        )
        for unit, counts, active, prefixes, sparse in zip(
            units,
            document["counts"],
            document["active"],
            document.get("prefixes", none),
            document.get("sparse", none),
            strict=True,
        )
    ]


def _without_zeros(counts: Sequence[int]) -> list[int]:
    """The numbers as they are, but ``-n`` in place of ``n`` zeros: few of all paths are ever walked."""
    column: list[int] = []
    position = 0
    for index, value in nonzero(counts):
        if index > position:
            column.append(position - index)
        column.append(value)
        position = index + 1
    if position < len(counts):
        column.append(position - len(counts))
    return column


def _with_zeros(column: Any, slots: int) -> Counts:
    held: dict[int, int] = {}
    position = 0
    for value in ints(column, None, MOST_COUNT):
        if value < 0:
            position -= value
        else:
            held[position] = value
            position += 1
    if position != slots:
        raise ColumnError("counters and slots differ in number")
    return Counts(slots, held)


def _table(data: Any, width: int) -> list[list[int]]:
    """The columns of a table that was written row by row."""
    if len(ints(data)) % width:
        raise ColumnError("a table ends inside a row")
    return [data[column::width] for column in range(width)]


def _check_blocks(unit: UnitFacts, functions: list[int], blocks: list[int]) -> None:
    ints(functions, 0, len(unit.functions))
    ints(blocks, 0)
    if any(b >= unit.functions[f].graph.exit for f, b in zip(functions, blocks, strict=True)):
        raise ColumnError("an active call is in a block that does not exist")


def _check_paths(unit: UnitFacts, functions: list[int]) -> None:
    counted = set(ints(functions, 0, len(unit.functions)))
    if any(unit.functions[function].plan.paths is None for function in counted):
        raise ColumnError("paths were counted in a function without paths")


def _active(data: Any, unit: UnitFacts) -> dict[tuple[int, int], int]:
    functions, blocks, frames = _table(data, 3)
    _check_blocks(unit, functions, blocks)
    ints(frames, -MOST_FRAMES, MOST_FRAMES)
    return _once(dict(zip(zip(functions, blocks, strict=True), frames, strict=True)), frames)


def _prefixes(data: Any, unit: UnitFacts) -> dict[tuple[int, int, int | None], int]:
    functions, blocks, cells, amounts = _table(data, 4)
    _check_blocks(unit, functions, blocks)
    _check_paths(unit, functions)
    ints(cells, _NO_CELL, WORD)
    ints(amounts, -MOST_FRAMES, MOST_FRAMES)
    kept = [None if cell == _NO_CELL else cell for cell in cells]
    return _once(dict(zip(zip(functions, blocks, kept, strict=True), amounts, strict=True)), amounts)


def _sparse(data: Any, unit: UnitFacts) -> dict[tuple[int, int], tuple[int, int]]:
    functions, paths, counts, ticks = _table(data, 4)
    _check_paths(unit, functions)
    ints(paths, 0, WORD)
    ints(counts, 0, MOST_COUNT)
    ints(ticks, 0, MOST_COUNT)
    counted = list(zip(counts, ticks, strict=True))
    return _once(dict(zip(zip(functions, paths, strict=True), counted, strict=True)), counted)


def _once(found: dict[_K, _V], rows: Sequence[object]) -> dict[_K, _V]:
    if len(found) != len(rows):
        raise ColumnError("two rows are about the same")
    return found
