"""The summary at the head of the page: the cost of each configuration, by the means of the first table."""

from __future__ import annotations

from collections.abc import Mapping

from bench.build.configurations import label_of
from bench.page.markdown import table
from bench.tables.layout.grid import MISSING, Grid
from bench.tables.layout.means import AVERAGE, GEOMETRIC, Mean
from bench.tables.rivals import OURS, THEIRS

_COLUMNS: tuple[tuple[str, str, Mean], ...] = (
    ("added instructions", "instructions", GEOMETRIC),
    ("added time", "time", GEOMETRIC),
    ("added memory", "memory", AVERAGE),
    ("build time", "build", GEOMETRIC),
    ("executable file", "file", GEOMETRIC),
    ("stored profile", "final", AVERAGE),
)
"""Heads, the sections that they are from, and which mean is shown."""


def summary(rivals: Mapping[str, Grid] | None) -> str:
    """One row a configuration; nothing if that table has not been measured."""
    if rivals is None:
        return ""
    rows = [
        [label_of(config), *(_mean(rivals[section], mean, config) for _, section, mean in _COLUMNS)]
        for config in (*OURS, *THEIRS)
    ]
    programs = len(rivals[_COLUMNS[0][1]].measured)
    note = (
        f"Geometric means over {programs} programs, averages of bytes; build time and executable file are "
        "divided by those of the plain build. Brackets say of how many programs a mean is if it is not of "
        "all; programs of one package are one build. The method, and all programs one by one, follow below."
    )
    head = ["configuration", *(head for head, _, _ in _COLUMNS)]
    return "\n\n".join(["## In short", note, table(head, rows, numbers=True)])


def _mean(grid: Grid, mean: Mean, config: str) -> str:
    """A mean as the table shows it below its column."""
    (column,) = (each for each in grid.section.columns if each.name == config)
    values = [row.values[config] for row in grid.means if row.label == mean.label and config in row.values]
    return column.format(values[0]) if values else MISSING
