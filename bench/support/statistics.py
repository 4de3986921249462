"""Figures for people: text tables, percentages, means and spreads."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import median, quantiles


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A text table, the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [_line(head, widths), "  ".join("-" * width for width in widths)]
    return "\n".join([*lines, *(_line(row, widths) for row in rows)])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    others = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "  ".join([first, *others]).rstrip()


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of positive numbers."""
    return exp(sum(map(log, values)) / len(values))


def added(ratio: float) -> str:
    """What a ratio to the plain run adds, in percent."""
    return f"{100 * (ratio - 1):+.1f}%"


def middle(values: Sequence[float]) -> tuple[float, float, float]:
    """The median of some measurements and their quartiles."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, _, high = quantiles(values, n=4, method="inclusive")
    return median(values), low, high
