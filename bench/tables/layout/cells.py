"""Cells out of cells: numbers picked from the figures of a measure, and one for each of another."""

from __future__ import annotations

from bench.measures.model import Figures, Measure
from bench.tables.layout.means import Cell
from bench.tables.layout.values import Value, number_of


def picked(measure: Measure, *names: str) -> Cell:
    """The number that stands under these names, one inside the other, in what a measure has found."""

    def cell(figures: Figures) -> Value | None:
        found = figures.get(measure.key)
        for name in names:
            found = None if found is None else found.get(name)
        return found

    return cell


def quotient(above: Cell, below: Cell) -> Cell:
    """One number for each of another; nothing where either is missing or the other is zero."""

    def cell(figures: Figures) -> Value | None:
        one, other = number_of(above(figures)), number_of(below(figures))
        return None if one is None or not other else one / other

    return cell
