"""The tables of BL94 and BL96: rows of the papers, and cells from made-up figures."""

from __future__ import annotations

from typing import Any

import pytest

from bench.figures.placement import BLOCKS_BY_EDGES, BUILT, BY_NESTING, BY_RUN, EVERY_BLOCK, WORST_BY_RUN
from bench.papers import bl94 as paper94
from bench.papers import bl96 as paper96
from bench.tables import bl94, bl96_cost, bl96_paths
from bench.tables.layout.model import Section, Table
from bench.tables.layout.values import Spread, Value

TABLES = (bl94.TABLE, bl96_cost.TABLE, bl96_paths.TABLE)


def section(table: Table, name: str) -> Section:
    return next(each for each in table.sections if each.name == name)


def cell(table: Table, name: str, column: str, figures: dict[str, Any]) -> Value | None:
    found = next(each for each in section(table, name).columns if each.name == column)
    return found.cell(figures)


def text(table: Table, name: str, column: str, figures: dict[str, Any]) -> str:
    found = next(each for each in section(table, name).columns if each.name == column)
    value = found.cell(figures)
    return "" if value is None else found.format(value)


def placed(counters: int, jumping: int, increments: int, jumps: int) -> dict[str, int]:
    return {"counters": counters, "jumping": jumping, "increments": increments, "jumps": jumps}


PLACEMENTS = {
    "functions": 2,
    "edges": 50,
    "blocks": 1000,
    "instructions": 6500,
    "trips": 3,
    "placed": {
        EVERY_BLOCK: placed(30, 0, 1000, 0),
        BUILT: placed(20, 5, 200, 50),
        BY_NESTING: placed(20, 8, 250, 150),
        BLOCKS_BY_EDGES: placed(18, 6, 240, 50),
        BY_RUN: placed(20, 9, 200, 100),
        WORST_BY_RUN: placed(20, 9, 800, 100),
    },
}
FIGURES: dict[str, Any] = {
    "profiled/edges/ref/placements": PLACEMENTS,
    "profiled/paths/ref/increments": {"increments": 160, "hashed": 8, "cut": 16, "functions_cut": 1},
    "instructions/clang/ref": 4000,
    "instructions/paths/ref": 4800,
    "instructions/edges/ref": 4400,
    "times/long": {
        "rounds": [
            *([{"clang": [2.0, 2.0], "edges": [2.2, 2.2], "paths": [2.4, 2.4]}] * 2),
            *([{"clang": [2.0, 2.0], "edges": [2.1, 2.1], "paths": [2.6, 2.6]}] * 3),
            *([{"clang": [4.0, 4.0], "edges": [4.8, 4.8], "paths": [5.6, 5.6]}] * 2),
        ]
    },
}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rows_of_papers_and_plots_name_existing_columns(table: Table) -> None:
    names = {each.name: [column.name for column in each.columns] for each in table.sections}
    for each in table.sections:
        assert len(names[each.name]) == len(set(names[each.name]))
        for row in each.paper:
            assert set(row.cells) <= set(names[each.name])
    for plot in table.plots:
        assert set(plot.series) <= set(names[plot.section])
    keys = [measure.key for measure in table.measures]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_program_without_figures_has_empty_cells(table: Table) -> None:
    for each in table.sections:
        assert [column.cell({}) for column in each.columns] == [None] * len(each.columns)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rows_of_papers_can_be_formatted(table: Table) -> None:
    for each in table.sections:
        formats = {column.name: column.format for column in each.columns}
        for row in each.paper:
            assert all(formats[name](value) for name, value in row.cells.items())


def test_shares_of_counters() -> None:
    assert text(bl94.TABLE, "counters", "share", FIGURES) == "40.0%"
    assert cell(bl94.TABLE, "counters", "no-jump", FIGURES) == 15
    assert text(bl94.TABLE, "counters", "no-jump-share", FIGURES) == "75.0%"


def test_how_many_times_fewer_increments() -> None:
    assert cell(bl94.TABLE, "placements", "eprof", FIGURES) == pytest.approx(4.0)
    assert cell(bl94.TABLE, "placements", "built", FIGURES) == pytest.approx(5.0)
    assert cell(bl94.TABLE, "placements", "block-size", FIGURES) == pytest.approx(6.5)
    assert cell(bl94.TABLE, "weights", "run", FIGURES) == pytest.approx(5.0)
    assert cell(bl94.TABLE, "weights", "worst-run", FIGURES) == pytest.approx(1.25)
    assert text(bl94.TABLE, "weights", "lost", FIGURES) == "20.0%"


def test_an_increment_is_five_instructions_and_a_jump_one() -> None:
    assert cell(bl94.TABLE, "placements", "lighter-eprof", FIGURES) == pytest.approx(5000 / (1250 + 150))
    assert cell(bl94.TABLE, "placements", "lighter-vprof-edges", FIGURES) == pytest.approx(5000 / 1250)


def test_paths_compared_with_edges() -> None:
    assert text(bl96_cost.TABLE, "instructions", "paths", FIGURES) == "+20.0%"
    assert text(bl96_cost.TABLE, "instructions", "edges", FIGURES) == "+10.0%"
    assert cell(bl96_cost.TABLE, "instructions", "paths-edges", FIGURES) == pytest.approx(2.0)
    assert text(bl96_cost.TABLE, "time", "paths", FIGURES) == "+30.0% (+25.0% .. +35.0%)"
    assert cell(bl96_cost.TABLE, "time", "base", FIGURES) == Spread(2.0, 2.0, 3.0)
    assert text(bl96_cost.TABLE, "time", "paths-edges", FIGURES) == "3.00"


def test_differences_from_the_figures_of_bl96_are_explained() -> None:
    assert "BL96 has elapsed time" in section(bl96_cost.TABLE, "time").note
    between = "machine instructions of the whole plain process, libraries included, by the increments of"
    assert between in section(bl96_cost.TABLE, "increments").note


def test_increments_of_paths_compared_with_those_of_edges() -> None:
    assert cell(bl96_cost.TABLE, "increments", "edges", FIGURES) == pytest.approx(200 / 160)
    assert text(bl96_cost.TABLE, "increments", "hashed", FIGURES) == "5.0%"
    assert text(bl96_cost.TABLE, "increments", "cut", FIGURES) == "10.0%"
    assert cell(bl96_cost.TABLE, "increments", "between", FIGURES) == pytest.approx(25.0)
    assert cell(bl96_cost.TABLE, "increments", "guided-edges", FIGURES) is None


def test_statistics_of_paths() -> None:
    lengths = {
        "longest_edges": 9,
        "longest_instructions": 80,
        "edges": 300,
        "instructions": 900,
        "walks": 100,
    }
    walked = {"paths": 40, "predicted": 10, "predicted_walks": 60, "lengths": lengths, "routines": 8}
    figures = {
        "profiled/paths/ref/walked": {**walked, "hot": 5, "hot_instructions": 810},
        "profiled/paths/both/common": {"ref": 40, "common": 30, "walks": 100, "common_walks": 99},
    }
    assert cell(bl96_paths.TABLE, "paths", "average-edges", figures) == pytest.approx(3.0)
    assert cell(bl96_paths.TABLE, "paths", "average-paths", figures) == pytest.approx(5.0)
    assert text(bl96_paths.TABLE, "predicted", "correct", figures) == "25.0%"
    assert text(bl96_paths.TABLE, "predicted", "correct-walks", figures) == "60.0%"
    assert text(bl96_paths.TABLE, "hot", "share", figures) == "90.0%"
    assert text(bl96_paths.TABLE, "common", "static", figures) == "75.0%"
    assert text(bl96_paths.TABLE, "common", "dynamic", figures) == "99.0%"


def test_bl94_profiles_between_39_and_46_percent_of_edges() -> None:
    shares = [row.profiled / row.edges for row in paper94.TABLE_2]
    assert (round(100 * min(shares)), round(100 * max(shares))) == (39, 46)
    assert all(0.51 <= row.no_jump / row.profiled <= 0.585 for row in paper94.TABLE_2)


@pytest.mark.parametrize("rows", [paper96.TABLE_1, paper96.TABLE_2], ids=["Table 1", "Table 2"])
def test_rows_of_bl96_have_the_average_that_it_gives(rows: tuple[tuple[Any, ...], ...]) -> None:
    programs, average = rows[:8], next(row for row in rows if row[0] == paper96.INTEGER)
    for column, given in enumerate(average[1:], 1):
        if given is None:
            continue
        numbers = [row[column] for row in programs]
        step = 1.0 if isinstance(given, int) else 0.1
        assert sum(numbers) / len(numbers) == pytest.approx(given, abs=step), column


def test_common_paths_of_bl96_have_the_ranges_that_it_gives() -> None:
    static = [row.static for row in paper96.TABLE_3]
    assert (min(static), max(static)) == (41.8, 96.0)
    assert min(row.dynamic for row in paper96.TABLE_3) == 71.9
    assert min(row.instructions for row in paper96.TABLE_3) == 63.8
