"""What a table is: the measures that it needs of each program, and columns that are computed from them.

A table is one small file with a ``TABLE``; everything else (measuring, keeping, the text, the page and its
plots) follows from what it declares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from bench import suite
from bench.measures.model import Figures, Json, Measure
from bench.suite.model import SuiteProgram
from bench.tables.layout.means import Cell, Mean
from bench.tables.layout.values import Format, Value

Programs: TypeAlias = Mapping[str, Figures]
"""The figures of all programs, by name."""


@dataclass(frozen=True)
class Column:
    """A column: its name in references, its head, its cells and their format, and the means below it.

    Means of different columns with the same label are one row.
    """

    name: str
    head: str
    cell: Cell
    format: Format
    means: tuple[Mean, ...] = ()


@dataclass(frozen=True)
class PaperRow:
    """A row out of a paper, by the names of columns; ``source`` says where it is printed."""

    label: str
    source: str
    cells: Mapping[str, Value]


Rows: TypeAlias = Callable[[Programs, Json], Programs]
"""Makes the rows of a section, by label, from the figures of all programs and the overall figure."""


def by_program(programs: Programs, overall: Json) -> Programs:
    """One row a program."""
    return programs


@dataclass(frozen=True)
class Section:
    """A part of a table: its name in references, its title, its columns, and an explanation.

    ``rows`` turns the figures of all programs into rows, which need not be programs; the cells of a row are
    then computed from what ``rows`` returns under its label.  ``first`` is the head of the labels.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    note: str = ""
    paper: tuple[PaperRow, ...] = ()
    rows: Rows = by_program
    first: str = "program"


@dataclass(frozen=True)
class Plot:
    """A plot of some columns of a section: a group of bars for each row, or a line for each column.

    ``rows`` are the labels to plot, which may be those of means and of the paper; by default all measured
    rows.  ``series`` are names of columns.  The points of a line are the rows, in order.
    """

    name: str
    title: str
    section: str
    series: tuple[str, ...]
    axis: str
    kind: Literal["bars", "lines"] = "bars"
    rows: tuple[str, ...] = ()
    base: float = 0.0


Overall: TypeAlias = Callable[[Sequence[SuiteProgram], Programs], Json]
"""Computes a figure of all requested programs together; ``None`` leaves the previous one."""


@dataclass(frozen=True)
class Table:
    """A table: its name and title, the measures that it needs of each program, and what it shows.

    ``programs`` selects programs of the suite; ``extra_programs`` are others that are measured for this table
    alone and can be requested by name like those.  ``overall`` is computed when all measures are done, and is
    kept with them.
    """

    name: str
    title: str
    description: str
    measures: tuple[Measure, ...]
    sections: tuple[Section, ...]
    plots: tuple[Plot, ...] = ()
    programs: Callable[[SuiteProgram], bool] = field(default=lambda program: True)
    extra_programs: tuple[SuiteProgram, ...] = ()
    overall: Overall | None = None

    def covers(self, program: SuiteProgram) -> bool:
        """Whether it needs measures of a program."""
        return program in self.extra_programs or (program in suite.SUITE and self.programs(program))
