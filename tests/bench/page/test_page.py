from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.page import write
from bench.page.references import NOT_MEASURED
from bench.page.scale import scale
from bench.page.svg import Picture, Point, bars, lines
from bench.page.write import page
from bench.support.directories import PROJECT, RESULTS
from bench.support.errors import BenchError
from bench.tables.layout.means import GEOMETRIC
from bench.tables.layout.model import Column, PaperRow, Plot, Section, Table
from bench.tables.layout.ratios import instruction_ratio
from bench.tables.layout.values import ADDED
from bench.tables.registry import tables

_TABLE = Table(
    name="small",
    title="A small table",
    description="What it is about.",
    measures=(),
    sections=(
        Section(
            "cost",
            "What it costs",
            (
                Column("edges", "our edges", partial(instruction_ratio, config="edges"), ADDED, (GEOMETRIC,)),
                Column("clang-ir", "clang's", partial(instruction_ratio, config="clang-ir"), ADDED),
            ),
            "About this part.",
            (PaperRow("BL94", "BL94 Table 2", {"edges": 1.5}),),
        ),
    ),
    plots=(Plot("cost", "What it costs <here>", "cost", ("edges", "clang-ir"), "added", base=1.0),),
)


def _results(directory: Path) -> None:
    def entry(edges: int, date: str) -> dict[str, object]:
        figures = {
            "instructions/clang/ref": 1000,
            "instructions/edges/ref": edges,
            "instructions/clang-ir/ref": 1200,
        }
        measured = {"date": date, "processor": "P", "trodden": "0.1.0"}
        return {"version": "1", "about": "does something", "measured": measured, "figures": figures}

    document = {
        "table": "small",
        "machine": {"processor": "P"},
        "programs": {
            "bzip2": entry(1210, "2026-01-02T00:00:00+00:00"),
            "gzip": entry(1000, "2026-01-03T00:00:00+00:00"),
        },
        "failed": {"zstd": ["zstd, edges: cc failed\nmore"]},
        "whole": None,
    }
    (directory / "small.json").write_text(json.dumps(document))


def _page(directory: Path, behind: str = "## Behind") -> dict[str, str]:
    _results(directory)
    return page(directory, [_TABLE], {"behind.md": behind})


def test_the_page_shows_the_results(tmp_path: Path) -> None:
    files = _page(tmp_path)
    assert sorted(files) == ["benchmarks.md", "benchmarks/small-cost.svg"]
    text = files["benchmarks.md"]
    for line in (
        "| processor | P |",
        "| measured | 2026-01-02 to 2026-01-03 |",
        "| bzip2 | 1 | does something |",
        "## A small table",
        "| program | our edges | clang's |",
        "| bzip2 | +21.0% | +20.0% |",
        "| **geometric mean** | **+10.0%** |  |",
        "| BL94 | +50.0% |  |",
        "BL94 Table 2: BL94.",
        "![What it costs <here>](benchmarks/small-cost.svg)",
        "- zstd: zstd, edges: cc failed",
    ):
        assert line in text.splitlines()
    assert text.endswith("## Behind\n")


def test_the_same_results_are_the_same_bytes(tmp_path: Path) -> None:
    assert _page(tmp_path) == _page(tmp_path)


def test_figures_in_prose_come_from_the_results(tmp_path: Path) -> None:
    prose = (
        "bzip2 {small.cost.bzip2.edges}, {small.cost.geometric mean.edges}, zstd {small.cost.zstd.edges}, "
        "its main {small.cost.zstd: main.edges}"
    )
    text = _page(tmp_path, prose)["benchmarks.md"]
    assert text.endswith(f"bzip2 +21.0%, +10.0%, zstd {NOT_MEASURED}, its main {NOT_MEASURED}\n")


def test_a_mean_in_prose_says_of_how_many_programs_it_is(tmp_path: Path) -> None:
    _results(tmp_path)
    path = tmp_path / "small.json"
    document = json.loads(path.read_text())
    del document["programs"]["gzip"]["figures"]["instructions/edges/ref"]
    path.write_text(json.dumps(document))
    text = page(tmp_path, [_TABLE], {"behind.md": "{small.cost.geometric mean.edges}"})["benchmarks.md"]
    assert "| **geometric mean** | **+21.0% (1 of 2)** |  |" in text.splitlines()
    assert text.endswith("\n+21.0% (1 of 2)\n")


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("{large.cost.bzip2.edges}", "no table 'large'; there are small"),
        ("{small.price.bzip2.edges}", "no section 'price'; there are cost"),
        ("{small.cost.bzip2.corners}", "no column 'corners'; there are edges, clang-ir"),
        ("{small.cost.word.edges}", "no row 'word'; there are bzip2, gzip, geometric mean, BL94"),
        ("{whatever}", "no table 'whatever'"),
    ],
)
def test_a_reference_to_nothing_is_an_error(tmp_path: Path, reference: str, reason: str) -> None:
    with pytest.raises(BenchError) as error:
        _page(tmp_path, f"as {reference} says")
    assert str(error.value).startswith(f"behind.md: {reference}: {reason}")


def test_prose_may_refer_to_tables_that_were_not_measured(tmp_path: Path) -> None:
    text = page(tmp_path, [_TABLE], {"behind.md": "then {small.cost.bzip2.edges}"})["benchmarks.md"]
    assert "Nothing has been measured yet" in text
    assert text.endswith(f"then {NOT_MEASURED}\n")


def test_missing_figures_are_not_plotted(tmp_path: Path) -> None:
    _results(tmp_path)
    path = tmp_path / "small.json"
    path.write_text(path.read_text().replace("instructions/edges/ref", "something else"))
    picture = page(tmp_path, [_TABLE], {})["benchmarks/small-cost.svg"]
    assert "our edges" not in picture
    assert "clang's" in picture
    path.write_text(path.read_text().replace("instructions/clang/ref", "something else"))
    assert list(page(tmp_path, [_TABLE], {})) == ["benchmarks.md"]


def test_a_broken_file_of_results_is_named(tmp_path: Path) -> None:
    (tmp_path / "small.json").write_text("{}")
    with pytest.raises(BenchError, match=r"small\.json: not a file of results"):
        page(tmp_path, [_TABLE], {})


def test_plots_are_well_formed() -> None:
    series = (("a & b", (Point(1.2, 1.1, 1.3), None)), ("c", (Point(0.9), Point(1.0))))
    picture = Picture("<title>", "axis", ("x", "y"), series, lambda value: f"{value:.1f}", 1.0)
    space = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(bars(picture))
    coloured = [each for each in root.iter(f"{space}rect") if "fill" in each.attrib]
    assert len(coloured) == 2 + 3, "two in the legend and a bar for each point"
    assert {each.text for each in root.iter(f"{space}text")} >= {"<title>", "a & b", "x", "y", "1.0", "axis"}
    drawn = ElementTree.fromstring(lines(picture))
    assert len(list(drawn.iter(f"{space}polyline"))) == 2
    assert len(list(drawn.iter(f"{space}circle"))) == 3


def test_a_bar_ends_at_its_value() -> None:
    picture = Picture("t", "a", ("x",), (("s", (Point(2.0),)),), str)
    space = "{http://www.w3.org/2000/svg}"
    bar = list(ElementTree.fromstring(bars(picture)).iter(f"{space}rect"))[-1]
    assert float(bar.attrib["height"]) == 260, "2 is the highest tick"


@pytest.mark.parametrize(
    ("values", "base", "ticks"),
    [
        ([0.0, 5.5], 0.0, [0, 1, 2, 3, 4, 5, 6]),
        ([0.97, 1.2], 1.0, [0.95, 1.0, 1.05, 1.1, 1.15, 1.2]),
        ([], 0.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
    ],
)
def test_ticks_are_round_and_enclose_everything(values: list[float], base: float, ticks: list[float]) -> None:
    assert scale(values, base).ticks == pytest.approx(ticks)


def test_the_page_in_the_docs_is_generated_from_the_results() -> None:
    files = page(RESULTS, tables(), {path.name: path.read_text() for path in write.PROSE})
    docs = PROJECT / "docs"
    pictures = {f"benchmarks/{path.name}" for path in (docs / "benchmarks").glob("*.svg")}
    assert pictures == set(files) - {"benchmarks.md"}
    for name, text in files.items():
        assert (docs / name).read_text() == text, f"docs/{name}: generate it with trodden-bench page"


def test_writing_the_page_removes_obsolete_plots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _results(tmp_path)
    monkeypatch.setattr(write, "RESULTS", tmp_path)
    monkeypatch.setattr(write, "_DOCS", tmp_path / "docs")
    monkeypatch.setattr(write, "tables", lambda: (_TABLE,))
    old = tmp_path / "docs" / "benchmarks" / "old.svg"
    old.parent.mkdir(parents=True)
    old.write_text("<svg/>")
    (tmp_path / "behind.md").write_text("## Behind\n")
    monkeypatch.setattr(write, "PROSE", (tmp_path / "behind.md",))
    write.write_page()
    assert [path.name for path in old.parent.iterdir()] == ["small-cost.svg"]
    assert (tmp_path / "docs" / "benchmarks.md").is_file()
