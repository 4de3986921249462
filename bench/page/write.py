"""Generates docs/benchmarks.md and its plots from the files of results; no figure is typed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.page.contents import contents
from bench.page.how import how_measured, opening
from bench.page.markdown import grid_table
from bench.page.plots import drawn
from bench.page.references import filled
from bench.page.sources import newest_sources, older_sources
from bench.page.summary import summary
from bench.suite import SUITE
from bench.support.atomic_files import write_atomically
from bench.support.directories import BENCH, PROJECT, RESULTS
from bench.tables import rivals
from bench.tables.layout.grid import Grid, checked_grid
from bench.tables.layout.model import Table
from bench.tables.registry import tables
from bench.tables.results import Results

PROSE = (BENCH / "page" / "behind.md", BENCH / "page" / "decisions.md")
"""Texts at the end of the page, whose figures are references to cells of the tables."""

_DOCS = PROJECT / "docs"
_PAGE = "benchmarks.md"
_PLOTS = "benchmarks"


def write_page() -> None:
    """Write the page and its plots, and remove plots that it no longer has."""
    files = page(RESULTS, tables(), {path.name: path.read_text() for path in PROSE})
    for path in (_DOCS / _PLOTS).glob("*.svg"):
        if f"{_PLOTS}/{path.name}" not in files:
            path.unlink()
    for name, text in files.items():
        write_atomically(_DOCS / name, text)


def page(results: Path, known: Sequence[Table], prose: Mapping[str, str]) -> dict[str, str]:
    """The files of the page by their names below docs, from the results of some tables."""
    found = [(table, each) for table in known if (each := Results.load(results, table.name)) is not None]
    grids = {
        table.name: {
            each.name: checked_grid(table, each, results.figures, results.overall) for each in table.sections
        }
        for table, results in found
    }
    # Prose may refer to tables that have not been measured.
    empty = {
        table.name: {each.name: Grid(each, (), (), ()) for each in table.sections}
        for table in known
        if table.name not in grids
    }
    all_results = [each for _, each in found]
    newest = newest_sources(all_results)
    files: dict[str, str] = {}
    first = _joined([opening(all_results), summary(grids.get(rivals.TABLE.name))])
    parts = [how_measured(found)]
    for table, each in found:
        parts.append(_table(table, each, grids[table.name], files, older_sources(each, newest)))
    names = {program.name for program in SUITE} | {
        program.name for table in known for program in table.extra_programs
    }
    parts += [filled(text.strip(), grids | empty, names, name) for name, text in prose.items()]
    links = contents(_joined([first, *parts])) if found else ""
    return {_PAGE: _joined([first, links, *parts]) + "\n", **files}


def _table(table: Table, results: Results, grids: dict[str, Grid], files: dict[str, str], older: str) -> str:
    parts = [f"## {table.title}", table.description, f"`trodden-bench {table.name}`", older]
    for section in table.sections:
        found = grids[section.name]
        if found.empty:
            continue
        parts += [f"### {section.title}", section.note, grid_table(found)]
        for plot in table.plots:
            if plot.section == section.name:
                name = f"{_PLOTS}/{table.name}-{plot.name}.svg"
                if (picture := drawn(plot, found)) is not None:
                    files[name] = picture
                    parts.append(f"![{plot.title}]({name})")
    parts += _missing(results)
    return _joined(parts)


def _joined(parts: Sequence[str]) -> str:
    """Paragraphs, without empty ones."""
    return "\n\n".join(part for part in parts if part)


def _missing(results: Results) -> list[str]:
    """Programs of which something could not be measured, and why."""
    if not results.failed:
        return []
    lines = [f"- {name}: {_one_line(reason)}" for name, each in results.failed.items() for reason in each]
    return ["Not measured:", "\n".join(lines)]


def _one_line(text: str) -> str:
    return text.strip().splitlines()[0]
