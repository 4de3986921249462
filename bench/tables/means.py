"""The rows below a column: means of several kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bench.measures.model import Figures
from bench.tables.values import Partial, Value, number_of
from bench.textual import geometric_mean

Cell: TypeAlias = Callable[[Figures], Value | None]
"""Computes the value of a row from its figures; ``None`` where they do not have it."""


@dataclass(frozen=True)
class Mean:
    """A row below a column: its label, and how it is computed from the cells of the column.

    It gets the figures of all rows too, for what does not follow from the cells alone; ``None`` says that
    there is no such mean.
    """

    label: str
    of: Callable[[Cell, Sequence[Figures]], Value | None]


def numbers(cell: Cell, rows: Sequence[Figures]) -> list[float]:
    """The numbers in a column, those that are missing left out."""
    found = [number_of(cell(row)) for row in rows]
    return [number for number in found if number is not None]


def _geometric(cell: Cell, rows: Sequence[Figures]) -> Value | None:
    """Of the positive ones; if there are others, it is said how many are in it."""
    every = numbers(cell, rows)
    positive = [number for number in every if number > 0]
    if not positive:
        return None
    mean = geometric_mean(positive)
    return mean if len(positive) == len(every) else Partial(mean, len(positive), len(every))


def _average(cell: Cell, rows: Sequence[Figures]) -> Value | None:
    every = numbers(cell, rows)
    return sum(every) / len(every) if every else None


GEOMETRIC = Mean("geometric mean", _geometric)
AVERAGE = Mean("average", _average)


def of_sums(label: str, above: Cell, below: Cell) -> Mean:
    """One sum over another, over the rows that have both, so that no row with a small one decides."""

    def mean(cell: Cell, rows: Sequence[Figures]) -> Value | None:
        pairs = [(number_of(above(row)), number_of(below(row))) for row in rows]
        both = [(one, other) for one, other in pairs if one is not None and other is not None]
        total = sum(other for _, other in both)
        return sum(one for one, _ in both) / total if total else None

    return Mean(label, mean)
