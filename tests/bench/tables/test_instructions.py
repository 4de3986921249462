"""Executed instructions beside callgrind's: how the rows are made, and the bounds that the results keep."""

from __future__ import annotations

import pytest

from bench.measures.model import Json
from bench.support.directories import RESULTS
from bench.tables.instructions import TABLE
from bench.tables.layout.grid import grid
from bench.tables.layout.model import Programs
from bench.tables.layout.values import Value, number_of
from bench.tables.results import Results

_WHOLE, _HOTTEST = TABLE.sections
_EXECUTED: dict[str, Json] = {
    "executed/clang/ref": {"hot": 100, "cold": 10, "_start": 5},
    "executed/edges/ref": {"hot": [101, 100, 120], "cold": [9, 10, 12]},
    "executed/paths/ref": {"hot": [98, 100, 130], "cold": [10, 10, 12]},
}


def _deviation(value: Value) -> float:
    number = number_of(value)
    assert number is not None
    return abs(number - 1)


def test_functions_with_probes_are_compared() -> None:
    (row,) = grid(_WHOLE, {"lua": _EXECUTED}, None).measured
    assert (row.values["clang"], row.values["edges"], row.values["edges-own"]) == (110, 110, 1.0)
    rows = grid(_HOTTEST, {"lua": _EXECUTED}, None).measured
    assert [row.label for row in rows] == ["lua: hot", "lua: cold"]
    assert (rows[0].values["paths-own"], rows[0].values["edges-plain"]) == (0.98, 1.01)


@pytest.fixture(scope="module")
def measured() -> Programs:
    results = Results.load(RESULTS, TABLE.name)
    assert results is not None
    assert set(results.figures) == {"bzip2", "lua", "sqlite", "espresso", "evaluator"}
    return results.figures


@pytest.mark.parametrize("column", ["edges-own", "edges-plain", "paths-own"])
def test_what_was_measured_is_near_to_callgrind(measured: Programs, column: str) -> None:
    """Paths clone blocks, so that their code is not that of the plain program."""
    whole = grid(_WHOLE, measured, None).measured
    hottest = grid(_HOTTEST, measured, None).measured
    assert len(hottest) == 10 * len(whole)
    assert max(_deviation(row.values[column]) for row in whole) < 0.03
    assert max(_deviation(row.values[column]) for row in hottest) < 0.1
