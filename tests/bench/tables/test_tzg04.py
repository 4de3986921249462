"""The tables of TZG04: rows of the paper, and cells from made-up figures."""

from __future__ import annotations

from typing import Any

import pytest

from bench.build.configurations import DEGREES, OVERLAP_KINDS, PAIRS, THIRD, overlap_config
from bench.figures.longer_agreement import COMPARED
from bench.papers import tzg04 as paper
from bench.tables import tzg04_bounds, tzg04_cost
from bench.tables.layout.grid import Grid, grid
from bench.tables.layout.model import Table
from bench.tables.layout.values import number_of


def _grid(table: Table, name: str, programs: dict[str, dict[str, Any]]) -> Grid:
    (section,) = [each for each in table.sections if each.name == name]
    return grid(section, programs, None)


def _known(definite: int, potential: int, pairs: int, exact: int) -> dict[str, Any]:
    loop = {
        "definite": definite,
        "potential": potential,
        "definite by equations": definite - 50,
        "potential by equations": potential + 50,
        "pairs": pairs,
        "exact": exact,
    }
    return {"loop": loop, "call": {}, "return": {"definite": 100, "potential": 100, "pairs": 1, "exact": 1}}


BOUNDS = {
    "paths": 2000,
    "turns": 400,
    "cut": 200,
    "exits": 300,
    "real": {"loop": 900, "call": 0, "return": 100},
    "largest": 5,
    "chosen": 2,
    "degrees": {
        "-1": _known(0, 2900, 9, 0),
        "0": _known(0, 2900, 9, 0),
        "1": _known(400, 1900, 9, 1),
        "2": _known(800, 1000, 6, 2),
        "3": _known(850, 950, 5, 3),
        "5": _known(900, 900, 4, 4),
    },
}
AGREEMENT = {
    config: {"compared": 8, "exact": 6, "executions": 1000, "pairs": 3, "differ": 0, "apart": 2}
    for config in COMPARED
}
FIGURES: dict[str, Any] = {
    "profiled/overlap-max-all/ref/longer bounds": BOUNDS,
    "profiled/overlap-auto-all/ref/bounds as counted": {"real": BOUNDS["real"], **_known(700, 1400, 7, 1)},
    "agreement/longer/ref": AGREEMENT,
}


@pytest.mark.parametrize("table", [tzg04_bounds.TABLE, tzg04_cost.TABLE], ids=lambda table: table.name)
def test_nothing_is_shown_of_what_was_not_measured(table: Table) -> None:
    for section in table.sections:
        assert grid(section, {"lua": {}}, None).empty
        assert grid(section, {}, None).empty


def test_shares_of_the_flow() -> None:
    found = _grid(tzg04_bounds.TABLE, "flow", {"lua": FIGURES})
    assert found.measured[0].values == {
        "loops": 0.65,
        "procedures": 0.05,
        "total": 0.7,
        "untold": 0.1,
        "cut": 0.1,
        "paths": 2000,
    }
    first = found.paper[0]
    assert first.label == "130.li, TZG04"
    assert number_of(first.values["total"]) == pytest.approx(0.901)


def test_bounds_at_a_third_of_the_largest_degree() -> None:
    found = _grid(tzg04_bounds.TABLE, "bounds", {"lua": FIGURES})
    values = found.measured[0].values
    assert (values["real"], values["k-chosen"], values["k-largest"]) == (1000, 2, 5)
    assert (values["paths-definite"], values["paths-potential"]) == (0.1, 3.0)
    assert (values["chosen-definite"], values["chosen-potential"]) == (0.9, 1.1)
    assert (values["chosen-definite-equations"], values["chosen-potential-equations"]) == (0.75, 1.05)
    assert (values["auto-definite"], values["auto-potential"]) == (0.8, 1.5)
    average = found.paper[-1].values
    assert number_of(average["chosen-potential-equations"]) == pytest.approx(1.08, abs=0.001)


def test_averages_of_flow_are_those_of_all_programs_together() -> None:
    small = {**BOUNDS, "real": {"loop": 100, "call": 0, "return": 0}, "degrees": {"-1": _known(0, 0, 0, 0)}}
    programs = {"lua": FIGURES, "wc": {"profiled/overlap-max-all/ref/longer bounds": small}}
    means = {row.label: row.values for row in _grid(tzg04_bounds.TABLE, "bounds", programs).means}
    assert means["average"]["chosen-definite"] == pytest.approx((0.9 + 1.0) / 2)
    assert means["all flow together"]["chosen-definite"] == pytest.approx(1000 / 1100)


def test_what_is_known_exactly() -> None:
    (row,) = _grid(tzg04_bounds.TABLE, "exact", {"lua": FIGURES}).measured
    assert row.values["possible"] == 10
    assert (row.values["paths"], row.values["chosen"], row.values["largest"]) == (0.1, 0.6, 1.0)
    assert row.values[f"{overlap_config(PAIRS)}-executed"] == 0.75


def test_every_degree_is_a_row_up_to_the_largest() -> None:
    found = _grid(tzg04_bounds.TABLE, "degrees", {"lua": FIGURES})
    rows = {row.label: row.values for row in found.measured}
    assert list(rows) == ["-1", "0", "1", "2", "3", "4", "largest"]
    assert (rows["-1"]["all-definite"], rows["-1"]["all-potential"]) == pytest.approx((0.1, 3.0))
    assert rows["4"] == rows["3"]
    assert (rows["largest"]["loops-potential"], rows["largest"]["exact"]) == pytest.approx((1.0, 1.0))


def test_longer_paths_are_compared_with_a_trace() -> None:
    (row,) = _grid(tzg04_bounds.TABLE, "agreement", {"lua": FIGURES}).measured
    config = overlap_config("max")
    assert [row.values[f"{config}-{what}"] for what in ("compared", "exact", "differ", "apart")] == [
        8,
        6,
        0,
        2,
    ]
    assert row.values[f"{overlap_config(PAIRS)}-pairs"] == 3


def _costs(added: dict[str, int]) -> dict[str, Any]:
    return {f"instructions/{config}/ref": 1000 + more for config, more in added.items()}


COSTS = _costs(
    {"clang": 0, "paths": 100}
    | {overlap_config(degree, kind): 300 for degree in (*DEGREES, PAIRS) for kind in OVERLAP_KINDS}
    | {overlap_config(THIRD, "loops"): 200, overlap_config(THIRD, "procedures"): 300}
    | {overlap_config(THIRD): 400}
)


def test_costs_at_a_third_of_the_largest_degree() -> None:
    (row,) = _grid(tzg04_cost.TABLE, "instructions", {"lua": COSTS}).measured
    assert row.values == pytest.approx(
        {
            "paths": 1.1,
            "loops": 1.2,
            "procedures": 1.3,
            "all": 1.4,
            "factor": 4.0,
            "auto": 1.3,
            "auto-factor": 3.0,
            "pairs": 1.3,
            "pairs-factor": 3.0,
        }
    )
    average = _grid(tzg04_cost.TABLE, "time", {"lua": {}}).paper[-1]
    assert average.label == "Average, TZG04"
    assert number_of(average.values["all"]) == pytest.approx(1.868)


def test_costs_by_degree_are_means_of_programs_that_have_all_degrees() -> None:
    partly = {key: value for key, value in COSTS.items() if "-max-" not in key}
    found = _grid(tzg04_cost.TABLE, "instructions-degrees", {"lua": COSTS, "wc": partly})
    rows = {row.label: row.values for row in found.measured}
    assert list(rows)[:4] == ["paths alone", "1", "2", "4"]
    assert rows["a third of the largest"] == pytest.approx({"loops": 1.2, "procedures": 1.3, "all": 1.4})


def test_averages_of_the_paper_are_those_of_its_rows() -> None:
    *rows, average = paper.TABLE_9
    for name in ("paths", "loops", "procedures", "together"):
        every = [getattr(row, name) for row in rows]
        assert sum(every) / len(every) == pytest.approx(getattr(average, name), abs=0.06)
    *flows, means = paper.TABLE_8
    for name in ("real", "definite_by_paths", "potential_by_paths", "definite", "potential"):
        every = [getattr(row, name) for row in flows]
        assert sum(every) / len(every) == pytest.approx(getattr(means, name), rel=0.001)
    for row in paper.TABLE_1:
        assert row.loops + row.procedures == pytest.approx(row.total)
