"""Tables as text, for whoever has just measured them."""

from __future__ import annotations

from bench.support.statistics import table as as_text
from bench.tables.layout.grid import checked_grid
from bench.tables.layout.model import Table
from bench.tables.results import Results


def text_of(table: Table, results: Results) -> str:
    """All sections of a table, and what is missing from it."""
    parts = [f"{table.title} ({table.name})"]
    for section in table.sections:
        found = checked_grid(table, section, results.figures, results.whole)
        if found.measured:
            parts += [f"{section.title}\n\n{as_text(found.head, found.texts())}"]
    parts += [f"{program}: {reason}" for program, reasons in results.failed.items() for reason in reasons]
    return "\n\n".join(parts) + "\n"
