"""Figures in prose: ``{table.section.row.column}`` stands for what the page shows in that cell.

A name that no table has is a mistake; a row that was not measured, of a program of the suite or of a mean,
is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TypeVar

from bench.support.errors import BenchError
from bench.tables.layout.grid import Grid
from bench.tables.layout.model import Column

_REFERENCE = re.compile(r"\{([^{}\n]+)\}")
_T = TypeVar("_T")

NOT_MEASURED = "(not measured)"


def filled(text: str, grids: Mapping[str, Mapping[str, Grid]], programs: Collection[str], where: str) -> str:
    """A text with all references replaced; ``grids`` are sections by table and name."""
    return _REFERENCE.sub(lambda found: _shown(found.group(1), grids, programs, where), text)


def _shown(
    reference: str, grids: Mapping[str, Mapping[str, Grid]], programs: Collection[str], where: str
) -> str:
    table, _, rest = reference.partition(".")
    section, _, cell = rest.partition(".")
    label, _, name = cell.rpartition(".")
    sections = _of(grids, table, "table", reference, where)
    grid = _of(sections, section, "section", reference, where)
    column = _of({each.name: each for each in grid.section.columns}, name, "column", reference, where)
    rows = {row.label: row for row in grid.rows}
    if label not in rows and (not grid.measured or _may_be_missing(label, column, programs)):
        return NOT_MEASURED
    row = _of(rows, label, "row", reference, where)
    return column.show(row.values[name]) if name in row.values else NOT_MEASURED


def _may_be_missing(label: str, column: Column, programs: Collection[str]) -> bool:
    """Whether a row is there as soon as something was measured: of a program, of its part, or a mean."""
    return label.partition(":")[0] in programs or label in {mean.label for mean in column.means}


def _of(known: Mapping[str, _T], name: str, kind: str, reference: str, where: str) -> _T:
    if name not in known:
        raise BenchError(f"{where}: {{{reference}}}: no {kind} {name!r}; there are {', '.join(known)}")
    return known[name]
