"""Makes docs/benchmarks.md and its pictures from the files of results; nothing in them is typed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.page.contents import contents
from bench.page.how import how_measured, opening
from bench.page.markdown import grid_table
from bench.page.plots import drawn
from bench.page.references import filled
from bench.page.sources import newest_sources, older_sources
from bench.page.summary import in_short
from bench.suite import SUITE
from bench.support.atomic_files import write_whole
from bench.support.directories import BENCH, PROJECT, RESULTS
from bench.tables import rivals
from bench.tables.layout.grid import Grid, checked_grid
from bench.tables.layout.model import Table
from bench.tables.registry import tables
from bench.tables.results import Results

_DOCS = PROJECT / "docs"
_PAGE = "benchmarks.md"
_PICTURES = "benchmarks"
_BEHIND = BENCH / "page" / "behind.md"


def write_page() -> None:
    """Write the page and its pictures; pictures that it no longer has are removed."""
    files = page(RESULTS, tables(), _BEHIND.read_text())
    for path in (_DOCS / _PICTURES).glob("*.svg"):
        if f"{_PICTURES}/{path.name}" not in files:
            path.unlink()
    for name, text in files.items():
        write_whole(_DOCS / name, text)


def page(results: Path, known: Sequence[Table], behind: str) -> dict[str, str]:
    """The files that the results of some tables come to, by their names below docs."""
    found = [(table, each) for table in known if (each := Results.load(results, table.name)) is not None]
    grids = {
        table.name: {
            each.name: checked_grid(table, each, results.figures, results.whole) for each in table.sections
        }
        for table, results in found
    }
    # Prose may speak of tables that were not measured here.
    empty = {
        table.name: {each.name: Grid(each, (), (), ()) for each in table.sections}
        for table in known
        if table.name not in grids
    }
    all_results = [each for _, each in found]
    newest = newest_sources(all_results)
    files: dict[str, str] = {}
    first = _joined([opening(all_results), in_short(grids.get(rivals.TABLE.name))])
    parts = [how_measured(all_results)]
    for table, each in found:
        parts.append(_table(table, each, grids[table.name], files, older_sources(each, newest)))
    names = [program.name for program in SUITE]
    parts.append(filled(behind.strip(), grids | empty, names, _BEHIND.name))
    links = contents(_joined([first, *parts])) if found else ""
    return {_PAGE: _joined([first, links, *parts]) + "\n", **files}


def _table(table: Table, results: Results, grids: dict[str, Grid], files: dict[str, str], older: str) -> str:
    parts = [f"## {table.title}", table.about, f"`trodden-bench {table.name}`", older]
    for section in table.sections:
        found = grids[section.name]
        if not found.measured:
            continue
        parts += [f"### {section.title}", section.about, grid_table(found)]
        for plot in table.plots:
            if plot.section == section.name:
                name = f"{_PICTURES}/{table.name}-{plot.name}.svg"
                if (picture := drawn(plot, found)) is not None:
                    files[name] = picture
                    parts.append(f"![{plot.title}]({name})")
    parts += _missing(results)
    return _joined(parts)


def _joined(parts: Sequence[str]) -> str:
    """Paragraphs; those that are empty leave no gap."""
    return "\n\n".join(part for part in parts if part)


def _missing(results: Results) -> list[str]:
    """Programs of which something is not there, and why."""
    if not results.failed:
        return []
    lines = [f"- {name}: {_one_line(reason)}" for name, each in results.failed.items() for reason in each]
    return ["Not measured:", "\n".join(lines)]


def _one_line(text: str) -> str:
    return text.strip().splitlines()[0]
