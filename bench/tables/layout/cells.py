"""Cells that are made of other cells: numbers out of the figures of a measure, and quotients."""

from __future__ import annotations

from bench.measures.model import Figures, Json, Measure
from bench.tables.layout.means import Cell
from bench.tables.layout.values import Value, number_of


def picked(measure: Measure, *names: str) -> Cell:
    """The value under these names, one nested in the other, in the figure of a measure."""

    def cell(figures: Figures) -> Value | None:
        found = figures.get(measure.key)
        for name in names:
            found = None if found is None else found.get(name)
        return found

    return cell


def quotient(dividend: Cell, divisor: Cell) -> Cell:
    """One number divided by another; nothing where either is missing or the divisor is zero."""

    def cell(figures: Figures) -> Value | None:
        one, other = number_of(dividend(figures)), number_of(divisor(figures))
        return None if one is None or not other else one / other

    return cell


def under(*keys: str) -> Cell:
    """What a row that is not a program has under these keys, one nested in the other."""

    def cell(row: Figures) -> Value | None:
        found: Json = row
        for key in keys:
            found = (found or {}).get(key)
        value: Value | None = found
        return value

    return cell
