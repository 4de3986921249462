"""The rivals' table: what its sections compute from made-up figures."""

from __future__ import annotations

import pytest

from bench.measures.model import Figures
from bench.tables.layout.grid import Grid, grid
from bench.tables.layout.values import FACTOR
from bench.tables.rivals import TABLE


def _grid(name: str, programs: dict[str, Figures]) -> Grid:
    (section,) = [each for each in TABLE.sections if each.name == name]
    return grid(section, programs, None)


def _times(edges: float, *clang: float) -> Figures:
    """Rounds with a plain run of 1, edges that always take the same, and given times of clang."""
    return {
        "times/long": {
            "rounds": [
                {"clang": [1.0, 1.0], "edges": [edges, edges], "clang-ir": [each, each]} for each in clang
            ]
        }
    }


def test_a_program_without_a_significant_overhead_of_clang_counts_only_in_the_sum() -> None:
    found = _grid(
        "time-beside",
        {
            "sure": _times(1.1, *[1.2] * 7),
            "noisy": _times(1.06, *[0.96] * 3, *[1.04] * 4),
        },
    )
    sure, noisy = found.measured
    assert sure.values["edges"] == pytest.approx(0.5)
    assert "edges" not in noisy.values
    geometric, together = found.means
    assert FACTOR(geometric.values["edges"]) == "0.50 (1 of 2)"
    assert together.label == "all together"
    assert together.values["edges"] == pytest.approx((0.1 + 0.06) / (0.2 + 0.04))
    assert "more than noise" in found.section.note


def test_zeroed_memory_is_what_is_added_to_the_baseline() -> None:
    sizes = {"clang": 4096, "gcc": 1024, "edges": 4096 + 2048, "gcc-arcs": 1024 + 512}
    found = _grid("zeroed", {"p": {f"build/{config}": {"zeroed": size} for config, size in sizes.items()}})
    assert found.measured[0].values == {"clang": 4096, "edges": 2048, "gcc-arcs": 512}
    assert found.means[0].label == "average"
    assert found.means[0].values == {"edges": 2048, "gcc-arcs": 512}
    (column,) = [each for each in found.section.columns if each.name == "edges"]
    assert found.text(found.measured[0], column) == "2.0 KiB"


def test_programs_of_one_package_are_one_build() -> None:
    seconds = {"bzip2": 2.0, "factor": 20.0, "split": 20.0, "threads": 1.0}
    figures: dict[str, Figures] = {
        name: {"build/clang": {"seconds": plain}, "build/edges": {"seconds": 2 * plain}}
        for name, plain in seconds.items()
    }
    found = _grid("build", figures)
    assert [row.label for row in found.measured] == ["bzip2", "factor, split", "threads"]
    assert found.means[0].values == {"edges": pytest.approx(2.0)}
