"""The head of the page in figures: what each way costs, as the means of the rivals' table say it."""

from __future__ import annotations

from collections.abc import Mapping

from bench.build.configurations import known
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
    ("profile kept", "final", AVERAGE),
)
"""Heads, the sections that they are from, and which of the means is taken."""


def in_short(rivals: Mapping[str, Grid] | None) -> str:
    """A row a way; nothing if the rivals have not been measured."""
    if rivals is None:
        return ""
    rows = [
        [known(way).shown, *(_mean(rivals[section], mean, way) for _, section, mean in _COLUMNS)]
        for way in (*OURS, *THEIRS)
    ]
    programs = len(rivals[_COLUMNS[0][1]].measured)
    about = (
        f"Geometric means over {programs} programs, averages where there are bytes; build time and "
        "executable file are for each second and byte of the plain build. Brackets say of how many programs "
        "a mean is if it is not of all; programs that are made together are one build. How it was measured, "
        "and all programs one by one, follow below."
    )
    head = ["way to build", *(head for head, _, _ in _COLUMNS)]
    return "\n\n".join(["## In short", about, table(head, rows, numbers=True)])


def _mean(grid: Grid, mean: Mean, way: str) -> str:
    """A mean as the table shows it below its column."""
    (column,) = (each for each in grid.section.columns if each.name == way)
    values = [row.values[way] for row in grid.means if row.label == mean.label and way in row.values]
    return column.show(values[0]) if values else MISSING
