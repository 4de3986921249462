"""Instructions by function: the output of callgrind, and functions in which trodden is behind."""

from __future__ import annotations

from bench.measures.functions import Functions
from bench.measures.instructions import Instructions
from bench.measures.model import Figures
from bench.run.callgrind import by_function
from bench.tables.functions import TABLE, furthest_behind
from bench.tables.layout.grid import grid

WRITTEN = """\
# callgrind format
version: 1
events: Ir

fl=./a.c
fn=main
12 3
+1 4
cfn=walk
calls=2 30
14 900
15 1

fn=walk
30 500
* 400

fn=main
16 2
totals: 910
"""


def test_instructions_of_callees_are_not_included() -> None:
    assert by_function(WRITTEN.splitlines()) == {"main": 10, "walk": 900}


def figures(plain: dict[str, int], rival: dict[str, int], ours: dict[str, int]) -> Figures:
    by_config = {"clang": plain, "clang-ir": rival, "edges": ours, "paths": ours, "paths-guided": plain}
    found: dict[str, object] = {Functions(config).key: counts for config, counts in by_config.items()}
    return {**found, Instructions("clang").key: 1000}


def test_the_function_that_is_furthest_behind() -> None:
    one = figures({"f": 400, "g": 100, "h": 9}, {"f": 500, "g": 100}, {"f": 480, "g": 130, "h": 999})
    assert furthest_behind(one, "paths") == "g"
    assert furthest_behind(figures({"f": 4}, {"f": 6}, {"f": 5}), "paths") is None
    assert furthest_behind({}, "paths") is None


def test_rows_are_labelled_with_program_and_function() -> None:
    name = "ns::walk<" + "x" * 80 + ">(int, char*)"
    one = figures({name: 400}, {name: 410}, {name: 450})
    (section,) = [each for each in TABLE.sections if each.name == "paths"]
    found = grid(section, {"json": one, "lua": figures({"f": 4}, {"f": 6}, {"f": 5})}, None)
    (row,) = found.measured
    assert row.label == f"json: ns::walk<{'x' * 48}..."
    assert row.values == {
        "clang": 400,
        "share": 0.4,
        "clang-ir": 10,
        "edges": 50,
        "paths": 50,
        "paths-guided": 0,
    }
