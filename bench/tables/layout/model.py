"""What a table is: which figures it needs of each program, and columns that are computed from them.

A table is one small file with a ``TABLE``; everything else (taking the figures, keeping them, the text, the
page and its plots) follows from what it declares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from bench import suite
from bench.measures.model import Figures, Json, Measure
from bench.suite.model import SuiteProgram
from bench.tables.layout.means import Cell, Mean
from bench.tables.layout.values import Show, Value

Programs: TypeAlias = Mapping[str, Figures]
"""The figures of all programs, by their names."""


@dataclass(frozen=True)
class Column:
    """A column: its name in references, its head, what stands in it and how that is shown.

    ``means`` say what stands below; rows of the same label are one row.
    """

    name: str
    head: str
    cell: Cell
    show: Show
    means: tuple[Mean, ...] = ()


@dataclass(frozen=True)
class PaperRow:
    """A row out of a paper, by the names of columns; ``source`` says where it stands there."""

    label: str
    source: str
    cells: Mapping[str, Value]


Rows: TypeAlias = Callable[[Programs, Json], Programs]
"""Makes the rows of a section, by their labels, from the figures of all programs and of the whole."""


def by_program(programs: Programs, whole: Json) -> Programs:
    """A row a program."""
    return programs


@dataclass(frozen=True)
class Section:
    """A part of a table: its name in references, its title, what there is to say of it, and its columns.

    ``rows`` turns the figures of all programs into rows, which may be something else than programs; a cell
    then gets what ``rows`` has put under its label.  ``first`` stands over the labels.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    about: str = ""
    paper: tuple[PaperRow, ...] = ()
    rows: Rows = by_program
    first: str = "program"


@dataclass(frozen=True)
class Plot:
    """A picture of some columns of a section: a group of bars for each row, or a line for each column.

    ``rows`` are the labels to show, those of means and of the paper included; all rows that are not from
    there if it is empty.  ``series`` are names of columns.  For lines the rows are the points, in order.
    """

    name: str
    title: str
    section: str
    series: tuple[str, ...]
    axis: str
    kind: Literal["bars", "lines"] = "bars"
    rows: tuple[str, ...] = ()
    base: float = 0.0


Whole: TypeAlias = Callable[[Sequence[SuiteProgram], Programs], Json]
"""Computes what needs all programs that were asked for at once; ``None`` leaves what is known from before."""


@dataclass(frozen=True)
class Table:
    """A table: what it is called and about, what it needs of each program, and what it shows.

    ``programs`` says which programs of the suite it is about, ``also`` are others that are measured for it
    alone and can be asked for by their names like those.  ``whole`` computes what needs all programs at once;
    it is called when their figures have been taken, and its answer is kept beside them.
    """

    name: str
    title: str
    about: str
    needs: tuple[Measure, ...]
    sections: tuple[Section, ...]
    plots: tuple[Plot, ...] = ()
    programs: Callable[[SuiteProgram], bool] = field(default=lambda program: True)
    also: tuple[SuiteProgram, ...] = ()
    whole: Whole | None = None

    def is_about(self, program: SuiteProgram) -> bool:
        """Whether it needs figures of a program; of what another table has for itself it needs none."""
        return program in self.also or (program in suite.SUITE and self.programs(program))
