"""Parts of the page: its summary, its contents, and its remarks about sources and rounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.measures.model import Figures
from bench.page.contents import contents
from bench.page.how import how_measured
from bench.page.markdown import grid_table
from bench.page.sources import newest_sources, older_sources
from bench.page.summary import summary
from bench.page.write import page
from bench.tables.layout.grid import Grid, grid
from bench.tables.layout.model import PaperRow, Section
from bench.tables.results import Results
from bench.tables.rivals import TABLE


def _results(sources: dict[str, tuple[str, str]], figures: Figures | None = None) -> Results:
    """Programs with their date and the sources that they were measured with."""
    programs = {
        name: {
            "version": "1",
            "about": "does something",
            "measured": {"date": date, "trodden": trodden},
            "figures": figures or {},
        }
        for name, (date, trodden) in sources.items()
    }
    return Results("rivals", {}, programs)


_OLD, _NEW = "0.1.0, sources aa", "0.1.0, sources bb"


def test_programs_that_were_measured_with_older_sources_are_named() -> None:
    one = _results({"lua": ("2026-01-02", _NEW), "gzip": ("2026-01-01", _OLD), "wc": ("2026-01-01", _OLD)})
    other = _results({"lua": ("2026-01-02", _NEW)})
    third = _results({"sum": ("2026-01-01", _OLD), "ed": ("2025-01-01", "0.0.9, sources cc")})
    newest = newest_sources([other, third, one])
    assert newest == _NEW
    assert older_sources(one, newest) == "Measured with older sources: gzip, wc (sources aa)."
    assert older_sources(other, newest) == ""
    assert older_sources(third, newest) == (
        "Measured with older sources: sum (sources aa); ed (0.0.9, sources cc)."
    )
    old = _results({"sum": ("2026-01-01", _OLD), "ed": ("2026-01-01", _OLD)})
    assert older_sources(old, newest) == "All of it was measured with older sources (sources aa)."
    assert newest_sources([]) == ""


def _rounds(*numbers: int) -> Results:
    """One program for each number of rounds."""
    results = _results({str(number): ("2026-01-01", _NEW) for number in numbers})
    for number in numbers:
        rounds = [{"clang": [1.0, 1.0], "edges": [1.1, 1.1]}] * number + [{"clang": [1.0, 1.0]}]
        results.programs[str(number)]["figures"] = {"times/long": {"rounds": rounds}}
    return results


@pytest.mark.parametrize(
    ("numbers", "line"),
    [
        ((9, 3, 7, 8), "Ratios of times are of 7 to 9 rounds; those of fewer than 7 are omitted."),
        ((9, 9), "Ratios of times are of 9 rounds; those of fewer than 7 are omitted."),
        ((3,), ""),
    ],
)
def test_rounds_are_counted(numbers: tuple[int, ...], line: str) -> None:
    text = how_measured([(TABLE, _rounds(*numbers))])
    found = [each for each in text.splitlines() if each.startswith("Ratios of")]
    assert found == ([line] if line else [])


def test_headings_have_the_anchors_of_github() -> None:
    text = "# Page\n## In short\n### Time\n## A & B: 2 to 8, `-O2`\nno # heading\n## Time\n## Time\n"
    assert contents(text).splitlines() == [
        "- [In short](#in-short)",
        "- [A & B: 2 to 8, `-O2`](#a--b-2-to-8--o2)",
        "- [Time](#time-1)",
        "- [Time](#time-2)",
    ]


def _cost(edges: int | None, file: int) -> Figures:
    found: Figures = {
        "instructions/clang/ref": 1000,
        "build/clang": {"seconds": 2.0, "file": 100},
        "build/edges": {"seconds": 3.0, "file": file},
        "memory/clang/ref": {"most": [1024]},
        "memory/edges/ref": {"most": [3072]},
        "profile size/edges/ref": {"final": 4096},
    }
    return found if edges is None else {**found, "instructions/edges/ref": edges}


def _grids(programs: dict[str, Figures]) -> dict[str, Grid]:
    return {section.name: grid(section, programs, None) for section in TABLE.sections}


def test_the_summary_has_the_means_of_the_first_table() -> None:
    text = summary(_grids({"a": _cost(1210, 400), "b": _cost(1000, 100), "c": _cost(None, 200)}))
    assert "over 3 programs" in text
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in text.splitlines() if line[0:1] == "|"}
    edges = "| trodden edges | +10.0% (2 of 3) | – | 2.0 KiB | 1.50 | 2.00 | 4.0 KiB |"
    assert rows["trodden edges"] == edges
    assert rows["clang IR"] == "| clang IR | – | – | – | – | – | – |"
    assert list(rows)[2:7] == [
        *("trodden edges", "trodden blocks", "trodden paths", "trodden paths, guided", "clang IR"),
    ]
    assert summary(None) == ""


def test_the_page_begins_with_the_summary_and_its_contents(tmp_path: Path) -> None:
    entry = _results({"lua": ("2026-01-02", _NEW), "gzip": ("2026-01-01", _OLD)}, _cost(1100, 100)).programs
    document = {"machine": {}, "programs": entry, "failed": {}, "whole": None}
    (tmp_path / "rivals.json").write_text(json.dumps(document))
    text = page(tmp_path, [TABLE], {"after.md": "## After"})["benchmarks.md"]
    positions = [
        text.index(each)
        for each in (
            "# Benchmarks\n",
            "## In short\n",
            "- [In short](#in-short)\n",
            "- [trodden compared with clang and gcc](#trodden-compared-with-clang-and-gcc)\n",
            "- [After](#after)\n",
            "## How it was measured\n",
            f"## {TABLE.title}\n",
            "Measured with older sources: gzip (sources aa).\n",
            "### Added instructions\n",
            "## After\n",
        )
    ]
    assert positions == sorted(positions)
    assert text.count("Measured with older sources") == 1


def test_rows_of_papers_are_grouped_by_their_sources() -> None:
    labels = (("099.go, BL96", "BL96 Table 1"), ("own", "BL94 §6"), ("130.li, BL96", "BL96 Table 1"))
    paper = [PaperRow(label, source, {}) for label, source in labels]
    text = grid_table(grid(Section("s", "S", (), paper=tuple(paper)), {}, None))
    assert text.splitlines()[-1] == "BL96 Table 1: 099.go, 130.li. BL94 §6: own."
    mean = PaperRow("SPEC, mean, BL96", "BL96 Table 1", {})
    text = grid_table(grid(Section("s", "S", (), paper=(paper[0], mean)), {}, None))
    assert text.splitlines()[-1] == "BL96 Table 1: 099.go; SPEC, mean."
