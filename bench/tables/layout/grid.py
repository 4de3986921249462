"""A section of a table, computed: rows of values, the means below them, and the rows of papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.measures.model import Figures, Json
from bench.support.errors import BenchError
from bench.tables.layout.model import Column, Programs, Section, Table
from bench.tables.layout.values import Value

MISSING = "–"


@dataclass(frozen=True)
class Row:
    """A label, and values by the names of columns, without those that are missing."""

    label: str
    values: dict[str, Value]


@dataclass(frozen=True)
class Grid:
    """All rows of a section: measured rows, their means, and rows of papers."""

    section: Section
    measured: tuple[Row, ...]
    means: tuple[Row, ...]
    paper: tuple[Row, ...]

    @property
    def empty(self) -> bool:
        """Whether nothing of it was measured."""
        return not any(row.values for row in self.measured)

    @property
    def rows(self) -> tuple[Row, ...]:
        """All of them, in the order of the page."""
        return (*self.measured, *self.means, *self.paper)

    @property
    def head(self) -> list[str]:
        """The heads of all columns."""
        return [self.section.first, *(column.head for column in self.section.columns)]

    def texts(self) -> list[list[str]]:
        """All rows as text."""
        columns = self.section.columns
        return [[row.label, *(self.text(row, column) for column in columns)] for row in self.rows]

    def text(self, row: Row, column: Column) -> str:
        """One cell as text; a missing value is marked in measured rows only."""
        value = row.values.get(column.name)
        if value is not None:
            return column.format(value)
        return MISSING if row in self.measured else ""


_WRONG = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
"""What is raised for figures that are not what a table expects, out of a file that was edited by hand."""


def checked_grid(table: Table, section: Section, programs: Programs, overall: Json) -> Grid:
    """A section of a table, from figures out of a file that may be broken."""
    try:
        return grid(section, programs, overall)
    except _WRONG as error:
        wrong = f"{table.name}.json: its figures do not make sense in {section.title!r} ({error})"
        raise BenchError(f"{wrong}; restore the file with git, or remove it and measure again") from error


def grid(section: Section, programs: Programs, overall: Json) -> Grid:
    """Compute a section from the figures of all programs."""
    rows = section.rows(programs, overall)
    measured = tuple(Row(label, _values(section.columns, figures)) for label, figures in rows.items())
    return Grid(section, measured, _means(section.columns, list(rows.values())), _paper(section))


def _values(columns: Sequence[Column], figures: Figures) -> dict[str, Value]:
    found = {column.name: column.cell(figures) for column in columns}
    return {name: value for name, value in found.items() if value is not None}


def _means(columns: Sequence[Column], rows: Sequence[Figures]) -> tuple[Row, ...]:
    """Means of the same label share a row."""
    labels = dict.fromkeys(mean.label for column in columns for mean in column.means)
    found: dict[str, dict[str, Value]] = {label: {} for label in labels}
    for column in columns:
        for mean in column.means:
            value = mean.of(column.cell, rows)
            if value is not None:
                found[mean.label][column.name] = value
    return tuple(Row(label, values) for label, values in found.items() if values)


def _paper(section: Section) -> tuple[Row, ...]:
    return tuple(Row(row.label, dict(row.cells)) for row in section.paper)
