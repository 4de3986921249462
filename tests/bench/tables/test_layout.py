from __future__ import annotations

import pytest

from bench.measures.model import Figures
from bench.measures.times import FEWEST
from bench.support.statistics import geometric_mean, median_and_quartiles
from bench.tables.layout.cells import under
from bench.tables.layout.grid import grid
from bench.tables.layout.means import AVERAGE, GEOMETRIC, Mean, of_sums
from bench.tables.layout.model import Column, PaperRow, Section
from bench.tables.layout.ratios import (
    build_ratio,
    elapsed_ratio,
    instruction_ratio,
    peak_memory,
    relative_overhead,
    rounds_together,
    seconds,
    size_ratio,
    time_ratio,
)
from bench.tables.layout.values import (
    ADDED,
    BYTES,
    COUNT,
    FACTOR,
    MILLIONS,
    SECONDS,
    SHARE,
    TEXT,
    Spread,
    Value,
)

_FIGURES: Figures = {
    "instructions/clang/ref": 1000,
    "instructions/edges/ref": 1080,
    "instructions/clang-ir/ref": 1200,
    "instructions/gcc/ref": 500,
    "instructions/gcc-arcs/ref": 600,
    "times/long": {
        "rounds": [
            *([{"clang": [1.0, 1.1], "edges": [1.1, 1.2]}] * 2),
            *([{"clang": [2.0, 2.0], "edges": [2.6, 2.6]}] * 2),
            *([{"clang": [1.0, 1.0], "edges": [1.2, 1.2]}] * 3),
            *([{"gcc": [3.0, 3.0]}] * 7),
            {"edges": [9.0, 9.0]},
        ]
    },
    "memory/edges/ref": {"most": [30, 10, 20], "end": [1, 1, 1]},
    "build/clang": {"seconds": 2.0, "file": 100, "code": 10, "data": 40},
    "build/edges": {"seconds": 5.0, "file": 400, "code": 12, "data": 50},
}


def test_ratios_are_to_the_baseline_of_the_same_compiler() -> None:
    assert instruction_ratio(_FIGURES, "edges") == pytest.approx(1.08)
    assert instruction_ratio(_FIGURES, "gcc-arcs") == pytest.approx(1.2)
    assert instruction_ratio(_FIGURES, "paths") is None
    assert build_ratio(_FIGURES, "edges") == 2.5
    assert size_ratio(_FIGURES, "edges") == 1.25
    assert size_ratio(_FIGURES, "edges", "file") == 4
    assert peak_memory(_FIGURES, "edges") == 20


def test_ratios_of_times_are_computed_within_a_round() -> None:
    # 1.1, 1.3 and 1.2; some rounds have neither, the last has no plain run.
    found = time_ratio(_FIGURES, "edges")
    assert found is not None
    assert (found.median, found.low, found.high) == pytest.approx((1.2, 1.15, 1.25))
    assert seconds(_FIGURES, "gcc") == Spread(3.0, 3.0, 3.0)
    assert time_ratio(_FIGURES, "gcc-arcs") is None


def test_times_of_too_few_rounds_are_omitted() -> None:
    rounds = _FIGURES["times/long"]["rounds"]
    assert len(rounds_together(_FIGURES, "edges")) == FEWEST
    fewer: Figures = {"times/long": {"rounds": rounds[1:]}}
    assert len(rounds_together(fewer, "edges")) == FEWEST - 1
    assert time_ratio(fewer, "edges") is None
    assert elapsed_ratio(fewer, "edges") is None
    assert seconds(fewer, "clang") is None
    assert seconds(fewer, "edges") is not None, "the last round has edges alone"


def test_overhead_relative_to_another_profiler() -> None:
    def ours(figures: Figures) -> Value | None:
        return instruction_ratio(figures, "edges")

    def theirs(figures: Figures) -> Value | None:
        return instruction_ratio(figures, "clang-ir")

    assert relative_overhead(ours, theirs)(_FIGURES) == pytest.approx(0.4)
    assert relative_overhead(ours, theirs)({**_FIGURES, "instructions/clang-ir/ref": 1000}) is None
    assert relative_overhead(ours, theirs)({**_FIGURES, "instructions/edges/ref": 900}) == pytest.approx(-0.5)


@pytest.mark.parametrize(
    ("low", "ratio"),
    [(1.02, 2.0), (1.0, None), (0.98, None)],
)
def test_nothing_is_divided_by_noise(low: float, ratio: float | None) -> None:
    found = relative_overhead(lambda _: Spread(1.2, 1.1, 1.3), lambda _: Spread(1.1, low, 1.2))({})
    assert found == (None if ratio is None else pytest.approx(ratio))


def _cell(figures: Figures) -> Value | None:
    return figures.get("x")


def test_means_by_hand() -> None:
    rows: list[Figures] = [{"x": 2.0}, {"x": Spread(8.0, 7.0, 9.0)}]
    assert GEOMETRIC.of(_cell, rows) == pytest.approx(4.0)
    assert AVERAGE.of(_cell, rows) == pytest.approx(5.0)
    assert GEOMETRIC.of(_cell, [{}]) is None
    assert AVERAGE.of(_cell, []) is None


@pytest.mark.parametrize(
    ("mean", "rows", "text"),
    [
        (GEOMETRIC, [{"x": 2.0}, {"x": 8.0}, {}], "4.00 (2 of 3)"),
        (GEOMETRIC, [{"x": 2.0}, {"x": 8.0}, {"x": -1.0}], "4.00 (2 of 3)"),
        (GEOMETRIC, [{"x": 2.0}, {"x": 8.0}, {"x": -1.0}, {}], "4.00 (2 of 4)"),
        (AVERAGE, [{"x": 2.0}, {"x": -8.0}, {}], "-3.00 (2 of 3)"),
        (AVERAGE, [{"x": 2.0}, {"x": -8.0}], "-3.00"),
    ],
)
def test_a_mean_says_of_how_many_rows_it_is(mean: Mean, rows: list[Figures], text: str) -> None:
    found = mean.of(_cell, rows)
    assert found is not None
    assert FACTOR(found) == text


def test_no_positive_number_has_no_geometric_mean() -> None:
    assert GEOMETRIC.of(_cell, [{"x": -1.0}]) is None


def test_no_single_row_decides_a_quotient_of_sums() -> None:
    mean = of_sums("all together", lambda row: row.get("x"), lambda row: row.get("y"))
    # One row has a ratio of 20, but both add next to nothing there.
    rows: list[Figures] = [{"x": 0.1, "y": 0.2}, {"x": 0.02, "y": 0.001}, {"x": 5.0}]
    assert mean.of(_cell, rows[:2]) == pytest.approx(0.12 / 0.201)
    assert FACTOR(mean.of(_cell, rows) or 0) == "0.60 (2 of 3)"
    assert mean.of(_cell, [{"x": 1.0}]) is None


def test_values_as_text() -> None:
    assert ADDED(1.072) == "+7.2%"
    assert ADDED(Spread(1.1, 1.0, 1.2)) == "+10.0% (+0.0% .. +20.0%)"
    assert SHARE(0.125) == "12.5%"
    assert COUNT(1234567) == "1,234,567"
    assert MILLIONS(263_700_000) == "263.70M"
    assert BYTES(2048) == "2.0 KiB"
    assert BYTES(20 * 1048576) == "20.0 MiB"
    assert SECONDS(0.06) == "60.0 ms"
    assert SECONDS(2) == "2.00 s"
    assert TEXT("as it is") == "as it is"
    assert ADDED("text") == "text"


def test_a_grid_has_rows_means_and_papers() -> None:
    columns = (
        Column("x", "the x", _cell, FACTOR, (GEOMETRIC, AVERAGE)),
        Column("y", "the y", lambda figures: figures.get("y"), COUNT, (AVERAGE,)),
    )
    section = Section("s", "S", columns, paper=(PaperRow("paper", "Table 1", {"x": 3.0}),))
    found = grid(section, {"a": {"x": 2.0, "y": 10}, "b": {"x": 8.0}}, None)
    assert found.head == ["program", "the x", "the y"]
    assert found.texts() == [
        ["a", "2.00", "10"],
        ["b", "8.00", "–"],
        ["geometric mean", "4.00", ""],
        ["average", "5.00", "10 (1 of 2)"],
        ["paper", "3.00", ""],
    ]


def test_rows_need_not_be_programs() -> None:
    section = Section(
        "s",
        "S",
        (Column("x", "x", _cell, COUNT),),
        rows=lambda programs, overall: {"first": {"x": overall}, "second": {"x": len(programs)}},
    )
    assert grid(section, {"a": {}, "b": {}}, 7).texts() == [["first", "7"], ["second", "2"]]


def test_a_grid_without_values_is_empty() -> None:
    section = Section("s", "S", (Column("x", "x", _cell, COUNT),))
    assert grid(section, {"a": {}}, None).empty
    assert not grid(section, {"a": {}, "b": {"x": 1}}, None).empty


def test_cells_of_nested_figures() -> None:
    assert under("a", "b")({"a": {"b": 3}}) == 3
    assert under("a", "b")({"a": None}) is None
    assert under("a", "b")({}) is None


def test_means_and_quartiles() -> None:
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)
    assert median_and_quartiles([3.0, 1.0, 2.0]) == (2.0, 1.5, 2.5)
    assert median_and_quartiles([2.0]) == (2.0, 2.0, 2.0)
