"""What was counted in units, as columns of numbers, and back.

A profile stores the counts as they were counted, before anything is recovered from them.  Path registers are
stored as the stack slots of :mod:`trodden.recover.path_prefix`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

from trodden.plan.probes import WORD
from trodden.profile.store.crossing_codec import crossings_from_document, crossings_to_document
from trodden.program.checked import ColumnError, ints
from trodden.program.facts import UnitFacts
from trodden.recover.function_counts import PathTotals
from trodden.recover.path_prefix import register_from_slot, slot_from_register
from trodden.recover.sparse_counters import SparseCounters, nonzero
from trodden.recover.unit_counts import UnitCounts

_MOST_FRAME_COUNT = 1 << 62
MOST_COUNT = 1 << 128
"""More than any number of runs can count to, and few enough for all that is computed from counts."""
_MOST_POSITION = 1 << 32
_NO_SLOT = -1

_K = TypeVar("_K")
_V = TypeVar("_V")


def unit_counts_to_columns(counted: Sequence[UnitCounts], units: Sequence[UnitFacts]) -> dict[str, Any]:
    """One list for each unit and kind of count; ``counted[i]`` belongs to ``units[i]``.

    The columns of paths are left out if there is nothing in any of them.
    """
    document: dict[str, Any] = {
        "counts": [_without_zeros(each.counters) for each in counted],
        "active": [
            [x for (function, block), frames in each.active.items() for x in (function, block, frames)]
            for each in counted
        ],
    }
    if any(each.prefixes or each.sparse for each in counted):
        document["prefixes"] = [
            _prefixes_to_column(each, unit) for each, unit in zip(counted, units, strict=True)
        ]
        document["sparse"] = [
            [x for (function, path), totals in each.sparse.items() for x in (function, path, *totals)]
            for each in counted
        ]
    if any(each.stops for each in counted):
        document["stops"] = [_stops_to_column(each, unit) for each, unit in zip(counted, units, strict=True)]
    if any(each.unlocated for each in counted):
        document["unlocated"] = [[x for row in each.unlocated.items() for x in row] for each in counted]
    if any(each.crossings for each in counted):
        document["crossings"] = crossings_to_document(counted)
    return document


def unit_counts_from_columns(document: Any, units: Sequence[UnitFacts]) -> list[UnitCounts]:
    """The counts of ``units``, with every index checked."""
    none: list[list[int]] = [[] for _ in units]
    return [
        UnitCounts(
            unit=unit.id,
            counters=_with_zeros(counters, unit.slots),
            active=_active(active, unit),
            prefixes=_prefixes(prefixes, unit),
            sparse=_sparse(sparse, unit),
            stops=_stops(stops, unit),
            unlocated=_unlocated(unlocated, unit),
            crossings=crossings,
        )
        for unit, counters, active, prefixes, sparse, stops, unlocated, crossings in zip(
            units,
            document["counts"],
            document["active"],
            document.get("prefixes", none),
            document.get("sparse", none),
            document.get("stops", none),
            document.get("unlocated", none),
            crossings_from_document(document.get("crossings"), units),
            strict=True,
        )
    ]


def _prefixes_to_column(counted: UnitCounts, unit: UnitFacts) -> list[int]:
    column: list[int] = []
    for (function, block, register), times in counted.prefixes.items():
        slot = slot_from_register(unit.functions[function], block, register)
        column += (function, block, _NO_SLOT if slot is None else slot, times)
    return column


def _stops_to_column(counted: UnitCounts, unit: UnitFacts) -> list[int]:
    column: list[int] = []
    for (function, block, register, position), times in counted.stops.items():
        slot = slot_from_register(unit.functions[function], block, register)
        column += (function, block, _NO_SLOT if slot is None else slot, position, times)
    return column


def _without_zeros(counters: Sequence[int]) -> list[int]:
    """The counters as they are, but ``-n`` in place of ``n`` zeros: most paths are never executed."""
    column: list[int] = []
    position = 0
    for index, value in nonzero(counters):
        if index > position:
            column.append(position - index)
        column.append(value)
        position = index + 1
    if position < len(counters):
        column.append(position - len(counters))
    return column


def _with_zeros(column: Any, slots: int) -> SparseCounters:
    values: dict[int, int] = {}
    position = 0
    for value in ints(column, None, MOST_COUNT):
        if value < 0:
            position -= value
        else:
            values[position] = value
            position += 1
    if position != slots:
        raise ColumnError("counters and slots differ in number")
    return SparseCounters(slots, values)


def _table(data: Any, width: int) -> list[list[int]]:
    """The columns of a table that was written row by row."""
    if len(ints(data)) % width:
        raise ColumnError("a table ends inside a row")
    return [data[column::width] for column in range(width)]


def _check_blocks(unit: UnitFacts, functions: list[int], blocks: list[int]) -> None:
    ints(functions, 0, len(unit.functions))
    ints(blocks, 0)
    if any(b >= unit.functions[f].graph.exit for f, b in zip(functions, blocks, strict=True)):
        raise ColumnError("an active frame is in a block that does not exist")


def _check_paths(unit: UnitFacts, functions: list[int]) -> None:
    counted = set(ints(functions, 0, len(unit.functions)))
    if any(unit.functions[function].plan.paths is None for function in counted):
        raise ColumnError("paths were counted in a function without paths")


def _active(data: Any, unit: UnitFacts) -> dict[tuple[int, int], int]:
    functions, blocks, frames = _table(data, 3)
    _check_blocks(unit, functions, blocks)
    ints(frames, -_MOST_FRAME_COUNT, _MOST_FRAME_COUNT)
    return _once(dict(zip(zip(functions, blocks, strict=True), frames, strict=True)), frames)


def _prefixes(data: Any, unit: UnitFacts) -> dict[tuple[int, int, int | None], int]:
    functions, blocks, slots, amounts = _table(data, 4)
    _check_blocks(unit, functions, blocks)
    _check_paths(unit, functions)
    ints(slots, _NO_SLOT, WORD)
    ints(amounts, -_MOST_FRAME_COUNT, _MOST_FRAME_COUNT)
    rows = zip(zip(functions, blocks, slots, strict=True), amounts, strict=True)
    found: Counter[tuple[int, int, int | None]] = Counter()
    for (function, block, slot), times in _once(dict(rows), amounts).items():
        register = register_from_slot(unit.functions[function], block, None if slot == _NO_SLOT else slot)
        found[function, block, register] += times
    return dict(found)


def _stops(data: Any, unit: UnitFacts) -> dict[tuple[int, int, int | None, int], int]:
    functions, blocks, slots, positions, amounts = _table(data, 5)
    _check_blocks(unit, functions, blocks)
    ints(slots, _NO_SLOT, WORD)
    ints(positions, -_MOST_POSITION, _MOST_POSITION)
    ints(amounts, -_MOST_FRAME_COUNT, _MOST_FRAME_COUNT)
    rows = zip(zip(functions, blocks, slots, positions, strict=True), amounts, strict=True)
    found: Counter[tuple[int, int, int | None, int]] = Counter()
    for (function, block, slot, position), times in _once(dict(rows), amounts).items():
        facts = unit.functions[function]
        known = None if slot == _NO_SLOT else slot
        register = None if facts.plan.paths is None else register_from_slot(facts, block, known)
        found[function, block, register, position] += times
    return dict(found)


def _unlocated(data: Any, unit: UnitFacts) -> dict[int, int]:
    functions, frames = _table(data, 2)
    ints(functions, 0, len(unit.functions))
    ints(frames, 1, _MOST_FRAME_COUNT)
    return _once(dict(zip(functions, frames, strict=True)), frames)


def _sparse(data: Any, unit: UnitFacts) -> dict[tuple[int, int], PathTotals]:
    functions, paths, counts, cycles = _table(data, 4)
    _check_paths(unit, functions)
    ints(paths, 0, WORD)
    ints(counts, 0, MOST_COUNT)
    ints(cycles, 0, MOST_COUNT)
    totals = list(zip(counts, cycles, strict=True))
    return _once(dict(zip(zip(functions, paths, strict=True), totals, strict=True)), totals)


def _once(found: dict[_K, _V], rows: Sequence[object]) -> dict[_K, _V]:
    if len(found) != len(rows):
        raise ColumnError("two rows have the same key")
    return found
