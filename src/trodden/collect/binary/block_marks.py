"""What debug information says of each instruction of a function: its program location, and its mark.

Program locations and marks are numbers that follow from the graph (:mod:`trodden.plan.paths.locations`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from trodden.collect.binary.dwarf import Variable
from trodden.collect.binary.dwarf_expressions import Frame, evaluate
from trodden.collect.binary.marked_functions import MarkedFunction

_LOCATION_SIZE = 8


def locations_at(addresses: Sequence[int], location: Variable) -> list[int | None]:
    """The value of a location variable at each address; None where it has none."""
    if location.constant is not None:
        return [location.constant] * len(addresses)
    values = {each.expression: _constant(each.expression) for each in location.ranges}
    ranges = sorted((each.low, each.high, values[each.expression]) for each in location.ranges)
    everywhere = _constant(location.everywhere) if location.everywhere is not None else None
    lows = [low for low, _, _ in ranges]
    locations: list[int | None] = []
    for address in addresses:
        number = bisect_right(lows, address) - 1
        known = number >= 0 and address < ranges[number][1]
        locations.append(ranges[number][2] if known else everywhere)
    return locations


def mark_codes(addresses: Sequence[int], marked: MarkedFunction) -> list[int]:
    """The mark in the line row of each address, in ascending order; 0 where there is none."""
    codes: list[int] = []
    rows = iter(marked.rows)
    row, following = None, next(rows, None)
    for address in addresses:
        while following is not None and following.address <= address:
            row, following = following, next(rows, None)
        codes.append(0 if row is None else row.line if marked.by_line else row.discriminator)
    return codes


def _constant(expression: bytes) -> int | None:
    """The value of an expression that needs no frame."""
    return evaluate(expression, Frame({}, lambda address, size: None), b"", _LOCATION_SIZE)
