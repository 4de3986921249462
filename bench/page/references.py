"""Figures in prose: ``{table.section.row.column}`` stands for the text of that cell.

A name that no table has is an error; a row of a program or a mean that has not been measured is not.
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
    return _REFERENCE.sub(lambda found: _text(found.group(1), grids, programs, where), text)


def _text(
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
    return column.format(row.values[name]) if name in row.values else NOT_MEASURED


def _may_be_missing(label: str, column: Column, programs: Collection[str]) -> bool:
    """Whether a row depends on what was measured: that of a program, of a part of it, or a mean."""
    return label.partition(":")[0] in programs or label in {mean.label for mean in column.means}


def _of(known: Mapping[str, _T], name: str, kind: str, reference: str, where: str) -> _T:
    if name not in known:
        raise BenchError(f"{where}: {{{reference}}}: no {kind} {name!r}; there are {', '.join(known)}")
    return known[name]
