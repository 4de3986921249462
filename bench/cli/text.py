"""Tables as plain text, printed after they were measured."""

from __future__ import annotations

from collections.abc import Sequence

from bench.tables.layout.grid import checked_grid
from bench.tables.layout.model import Table
from bench.tables.results import Results


def text_of(table: Table, results: Results) -> str:
    """All sections of a table, and what is missing from it."""
    parts = [f"{table.title} ({table.name})"]
    for section in table.sections:
        found = checked_grid(table, section, results.figures, results.overall)
        if not found.empty:
            parts += [f"{section.title}\n\n{text_table(found.head, found.texts())}"]
    parts += [f"{program}: {reason}" for program, reasons in results.failed.items() for reason in reasons]
    return "\n\n".join(parts) + "\n"


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A text table, the first column aligned to the left, the others to the right."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [_line(head, widths), "  ".join("-" * width for width in widths)]
    return "\n".join([*lines, *(_line(row, widths) for row in rows)])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    others = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "  ".join([first, *others]).rstrip()
