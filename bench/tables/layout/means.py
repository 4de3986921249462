"""Means of several kinds, which are rows below a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bench.measures.model import Figures
from bench.support.statistics import geometric_mean
from bench.tables.layout.values import Partial, Value, number_of

Cell: TypeAlias = Callable[[Figures], Value | None]
"""Computes the value of a cell from the figures of its row; ``None`` if they do not have it."""


@dataclass(frozen=True)
class Mean:
    """A row below a column: its label, and how it is computed from the cells of the column.

    It gets the figures of all rows, since some means do not follow from the cells alone; ``None`` means that
    there is no such mean.
    """

    label: str
    of: Callable[[Cell, Sequence[Figures]], Value | None]


def numbers(cell: Cell, rows: Sequence[Figures]) -> list[float]:
    """The numbers in a column, without missing ones."""
    found = [number_of(cell(row)) for row in rows]
    return [number for number in found if number is not None]


def of_rows(mean: float, used: int, rows: Sequence[Figures]) -> Value:
    """A mean that says of how many rows it is unless it is of all.

    Otherwise adjacent means could be of different programs without notice.
    """
    return mean if used == len(rows) else Partial(mean, used, len(rows))


def _geometric(cell: Cell, rows: Sequence[Figures]) -> Value | None:
    """Of the positive numbers: others have no logarithm."""
    positive = [number for number in numbers(cell, rows) if number > 0]
    return of_rows(geometric_mean(positive), len(positive), rows) if positive else None


def _average(cell: Cell, rows: Sequence[Figures]) -> Value | None:
    every = numbers(cell, rows)
    return of_rows(sum(every) / len(every), len(every), rows) if every else None


GEOMETRIC = Mean("geometric mean", _geometric)
AVERAGE = Mean("average", _average)


def of_sums(label: str, dividend: Cell, divisor: Cell) -> Mean:
    """A sum divided by another, over the rows that have both, so that no row with a small divisor decides."""

    def mean(cell: Cell, rows: Sequence[Figures]) -> Value | None:
        pairs = [(number_of(dividend(row)), number_of(divisor(row))) for row in rows]
        both = [(one, other) for one, other in pairs if one is not None and other is not None]
        total = sum(other for _, other in both)
        return of_rows(sum(one for one, _ in both) / total, len(both), rows) if total else None

    return Mean(label, mean)
