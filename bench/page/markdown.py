"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bench.tables.layout.grid import Grid
from bench.tables.layout.model import PaperRow


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: bool = False) -> str:
    """A table; if it is of numbers, all columns but the first are aligned to the right."""
    lines = [_line(head), "|" + "|".join(["---", *["---:" if numbers else "---"] * (len(head) - 1)]) + "|"]
    return "\n".join([*lines, *map(_line, rows)])


def grid_table(grid: Grid) -> str:
    """A section: means in bold, and below the table the sources of the rows of papers."""
    rows = []
    for row, texts in zip(grid.rows, grid.texts(), strict=True):
        bold = row in grid.means
        rows.append([f"**{text}**" if bold and text else text for text in texts])
    return f"{table(grid.head, rows, numbers=True)}\n\n{_sources(grid.section.paper)}".strip()


def _sources(paper: Sequence[PaperRow]) -> str:
    """Each source once, with its rows, without the name of the paper in them."""
    found: dict[str, dict[str, None]] = {}
    for row in paper:
        name = row.source.partition(" ")[0]
        found.setdefault(row.source, {})[row.label.removesuffix(f", {name}")] = None
    return " ".join(f"{source}: {_listed(labels)}." for source, labels in found.items())


def _listed(labels: Collection[str]) -> str:
    """A list of labels, with a separator that none of them contains."""
    return ("; " if any("," in label for label in labels) else ", ").join(labels)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
