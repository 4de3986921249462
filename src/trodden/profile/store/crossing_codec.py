"""Counts of paths over calls and returns as columns of numbers, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trodden.plan.probes import WORD
from trodden.program.checked import ColumnError, columns, ints, same_length, text
from trodden.program.facts import UnitFacts
from trodden.recover.crossings import NOT_COUNTED, CrossingKey
from trodden.recover.unit_counts import UnitCounts

_MOST_NUMBER = 1 << 32
_MOST_COUNT = 1 << 128


def crossings_to_document(counted: Sequence[UnitCounts]) -> dict[str, Any]:
    """The ids of the units that are named, and a table for each unit.

    Its columns: 1 over a return, 0 over a call; unit and number of the callee, unit and number of the call
    site; the numbers of the parts in callee and caller; the count.
    """
    names: dict[str, int] = {}
    tables = [
        [
            [
                int(key.returned),
                names.setdefault(key.callee[0], len(names)),
                key.callee[1],
                names.setdefault(key.site[0], len(names)),
                key.site[1],
                key.in_callee,
                key.in_caller,
                times,
            ]
            for key, times in each.crossings.items()
        ]
        for each in counted
    ]
    return {"units": list(names), "tables": [[[row[i] for row in rows] for i in range(8)] for rows in tables]}


def crossings_from_document(document: Any, units: Sequence[UnitFacts]) -> list[dict[CrossingKey, int]]:
    """The counts of each unit, with every number of it and of other ``units`` checked.

    A unit that is named may be missing, if what it has counted is not part of the profile.
    """
    if document is None:
        return [{} for _ in units]
    names = list(map(text, document["units"]))
    tables = document["tables"]
    if len(set(names)) != len(names) or len(tables) != len(units):
        raise ColumnError("paths over calls are of other units")
    known = {unit.id: unit for unit in units}
    return [_table(table, unit, names, known) for table, unit in zip(tables, units, strict=True)]


def _table(
    data: Any, own: UnitFacts, names: Sequence[str], units: dict[str, UnitFacts]
) -> dict[CrossingKey, int]:
    table = columns(data, 8, "paths over calls")
    same_length(*table)
    returned, callee_units, callees, site_units, sites, in_callee, in_caller, counts = table
    ints(returned, 0, 2)
    for column in (callee_units, site_units):
        ints(column, 0, len(names))
    for column in (callees, sites):
        ints(column, 0, _MOST_NUMBER)
    for column in (in_callee, in_caller):
        ints(column, 0, WORD)
    ints(counts, 1, _MOST_COUNT)
    found: dict[CrossingKey, int] = {}
    for row in zip(*table, strict=True):
        key = CrossingKey(bool(row[0]), (names[row[1]], row[2]), (names[row[3]], row[4]), row[5], row[6])
        if key.counted_in != own.id or key in found:
            raise ColumnError("a path over a call is counted in another unit, or twice")
        _check(key, units)
        found[key] = row[7]
    return found


def _check(key: CrossingKey, units: dict[str, UnitFacts]) -> None:
    callee, site = units.get(key.callee[0]), units.get(key.site[0])
    if callee is not None:
        known = callee.functions[key.callee[1] : key.callee[1] + 1]
        if not known or known[0].plan.calls is None:
            raise ColumnError("a path leads into a function that takes no calls")
    if key.in_callee != NOT_COUNTED and site is not None and key.site[1] not in site.crossed:
        raise ColumnError("a path leads over a call that does not exist")
