"""Tables for programs and for people: what the reports have in common in how they look."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table


def tabbed(rows: Iterable[Sequence[object]]) -> str:
    """One row a line with tabs between its parts; what would be taken for a tab or an end is escaped."""
    return "".join("\t".join(map(_part, row)) + "\n" for row in rows)


def _part(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def table(title: str, numbers: Sequence[str], words: Sequence[str]) -> Table:
    """A table for a terminal: columns of numbers, then columns of words."""
    found = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in numbers:
        found.add_column(heading, justify="right")
    for heading in words:
        found.add_column(heading, overflow="fold")
    return found


def percent(share: float) -> str:
    """Rounded to a tenth, but only all is 100% and only nothing is 0%."""
    rounded = f"{100 * share:.1f}%"
    if rounded == "100.0%" and share < 1:
        return ">99.9%"
    if rounded == "0.0%" and share > 0:
        return "<0.1%"
    return rounded


def short(place: str) -> str:
    """A place is known by the last part of its path; the full one is in the plain report."""
    return os.path.basename(place)
