"""Markdown: tables, and text that has nothing in it by chance."""

from __future__ import annotations

from collections.abc import Sequence

from bench.tables.grid import Grid


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: bool = False) -> str:
    """A table; if it is of numbers, all columns but the first are to the right."""
    lines = [_line(head), "|" + "|".join(["---", *["---:" if numbers else "---"] * (len(head) - 1)]) + "|"]
    return "\n".join([*lines, *map(_line, rows)])


def grid_table(grid: Grid) -> str:
    """A section: means in bold, and below the table where the rows of papers come from."""
    rows = []
    for row, texts in zip(grid.rows, grid.texts(), strict=True):
        bold = row in grid.means
        rows.append([f"**{text}**" if bold and text else text for text in texts])
    sources = dict.fromkeys(f"{row.label}: {row.source}." for row in grid.section.paper)
    return f"{table(grid.head, rows, numbers=True)}\n\n{' '.join(sources)}".strip()


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
