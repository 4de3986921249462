"""The table of agreement, from made-up figures."""

from __future__ import annotations

from bench import suite
from bench.measures.model import Json
from bench.oracles.line_differences import Reason
from bench.suite.sources import SourceFiles
from bench.tables.agreement import TABLE
from bench.tables.layout.grid import Grid, grid

_REASON = Reason.STARTS.value
DIFFERENCES = [
    {"file": "a.c", "line": 7, "ours": 1, "clang": 2, "gcc": None, "regions": 3, "reason": _REASON},
    {"file": "b.c", "line": 9, "ours": 4, "clang": 5, "gcc": 6, "regions": None, "reason": ""},
]
LINES = {
    "lines": 100,
    "ran": 40,
    "known": {"clang": 100, "gcc": 50, "regions": 0},
    "equal": {"clang": 98, "gcc": 49, "regions": 0},
    "apart": 50,
    "apart equal": 45,
    "against": 3,
    "differences": DIFFERENCES,
}
PATHS = {
    "functions": 3,
    "edges": 30,
    "taken": 20,
    "paths": 9,
    "differences": 0,
    "not profiled": ["f: naked"],
}


def _grid(name: str, figures: dict[str, Json]) -> Grid:
    (section,) = [each for each in TABLE.sections if each.name == name]
    return grid(section, {"p": figures}, None)


def test_shares_are_of_the_lines_that_both_know() -> None:
    (row,) = _grid("lines", {"agreement/lines": LINES}).texts()
    assert row == ["p", "100", "40", "98.00%", "98.00%", "–"]
    (row,) = _grid("summary", {"agreement/lines": LINES}).texts()
    assert row == ["p", "98.00%", "95.00%", "2", "90.00%", "3"]


def test_reasons_are_counted() -> None:
    (row,) = _grid("reasons", {"agreement/lines": LINES}).measured
    assert {name: value for name, value in row.values.items() if value} == {"starts": 1, "unknown": 1}


def test_every_line_that_agrees_with_no_tool_is_a_row() -> None:
    rows = _grid("differences", {"agreement/lines": LINES}).texts()
    assert rows[0] == ["p: a.c:7", "1", "2", "–", "3", _REASON]
    assert rows[1] == ["p: b.c:9", "4", "5", "6", "–", ""]


def test_functions_without_a_profile_are_counted() -> None:
    (row,) = _grid("paths", {"agreement/paths/paths-checked/ref": PATHS}).texts()
    assert row == ["p", "3", "30", "20", "9", "0", "1"]


def test_nothing_is_shown_of_what_was_not_measured() -> None:
    assert all(_grid(section.name, {}).empty for section in TABLE.sections)


def test_it_covers_programs_that_are_compiled_file_by_file() -> None:
    covered = [program for program in suite.SUITE if TABLE.covers(program)]
    assert {"bzip2", "lua", "evaluator"} <= {program.name for program in covered}
    assert all(isinstance(program.source, SourceFiles) for program in covered)
