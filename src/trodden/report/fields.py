"""Rows, numbers and locations as all reports write them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from trodden.profile.count_text import amount
from trodden.profile.model import Count
from trodden.visible_text import visible


def tabbed(rows: Iterable[Sequence[object]]) -> str:
    """One row a line with tabs between its fields; tabs, newlines and backslashes in a field are escaped."""
    return "".join("\t".join(map(_field, row)) + "\n" for row in rows)


def _field(value: object) -> str:
    return visible(str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n"))


def percent(share: float) -> str:
    """Rounded to a tenth, but only all of it is 100% and only none of it is 0%."""
    rounded = f"{100 * share:.1f}%"
    if rounded == "100.0%" and share < 1:
        return ">99.9%"
    if rounded == "0.0%" and share > 0:
        return "<0.1%"
    return rounded


def counted(number: Count, what: str) -> str:
    """``1 path``, ``2,000 paths``."""
    return f"{amount(number)} {what}{'' if number == 1 else 's'}"


def short(location: str) -> str:
    """A location with the last part of its path; the plain report has the full one."""
    return os.path.basename(location)
