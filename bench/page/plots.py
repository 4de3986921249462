"""Plots of the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence

from bench.page.svg import Picture, Point, bars, lines
from bench.tables.layout.grid import Grid, Row
from bench.tables.layout.model import Column, Plot
from bench.tables.layout.values import Spread, Value, number_of


def drawn(plot: Plot, grid: Grid) -> str | None:
    """A plot as SVG, unless it would be empty."""
    columns = {column.name: column for column in grid.section.columns}
    chosen = [columns[name] for name in plot.series]
    rows = _rows(plot, grid)
    every = [(column.head, _points(rows, column)) for column in chosen]
    series = tuple((name, points) for name, points in every if any(points))
    if not series:
        return None
    picture = Picture(
        title=plot.title,
        axis=plot.axis,
        groups=tuple(row.label for row in rows),
        series=series,
        format=chosen[0].format,
        base=plot.base,
    )
    return bars(picture) if plot.kind == "bars" else lines(picture)


def _rows(plot: Plot, grid: Grid) -> list[Row]:
    if not plot.rows:
        return list(grid.measured)
    return [row for label in plot.rows for row in grid.rows if row.label == label]


def _points(rows: Sequence[Row], column: Column) -> tuple[Point | None, ...]:
    return tuple(_point(row.values.get(column.name)) for row in rows)


def _point(value: Value | None) -> Point | None:
    number = number_of(value)
    if number is None:
        return None
    return Point(number, value.low, value.high) if isinstance(value, Spread) else Point(number)
