"""What coverage says, at a terminal and for other programs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.profile.making import function, profile_of, unit_of
from tests.profile.walking import facts_of, path_profile
from tests.report.printed import rows_of, text_of, wide_console
from tests.report.sample_paths import GOOD, run
from trodden.profile.model import Filter
from trodden.report.render.brief import print_brief
from trodden.report.render.coverage import print_coverage
from trodden.report.render.terminal import print_tables
from trodden.report.views import coverage
from trodden.report.views.summary import summarise
from trodden.source.optimised import OPTIMISED


def _coverage(folder: Path, top: int | None = None, pattern: str | None = None) -> coverage.CoverageReport:
    return coverage.report_coverage([run(GOOD, folder)], ["good.trod"], pattern, top)


def test_the_next_input_to_write(tmp_path: Path) -> None:
    report = _coverage(tmp_path)
    classify = next(each for each in report.found.functions if each.name == "classify")
    assert coverage.sentence(report.branches, classify.function, classify.near[0], short=True) == (
        "at a.c:2 `if (x < 0)` branched only to line 4 (x < 0: false), never to line 3 (x < 0: true)"
    )


def test_without_its_source_a_branch_has_lines_all_the_same() -> None:
    report = coverage.report_coverage([run(GOOD)], ["good.trod"])
    classify = next(each for each in report.found.functions if each.name == "classify")
    assert coverage.sentence(report.branches, classify.function, classify.near[0]) == (
        "at /src/a.c:2 branched only to line 4, never to line 3"
    )


def test_a_combination_says_that_it_is_one() -> None:
    shape = "a>b a>c b>d c>d d>e d>f e>g f>g g>exit"
    lines = {label: [number] for number, label in enumerate("abcdefg", 1)}
    profile = path_profile([facts_of("f", shape, lines)], {"f": {"a b d e g": 5, "a c d f g": 2}})
    report = coverage.report_coverage([profile], ["x"])
    (each,) = report.found.functions
    assert coverage.sentence(report.branches, each.function, each.near[0]) == (
        "at /src/a.c:4 branched only to line 5 on this path, and to line 6 only on other paths"
    )


def test_a_path_that_never_continued() -> None:
    profile = path_profile([facts_of("f", "a>b a>c b>exit c>exit", {"a": [4]})], {"f": {"a!": 5}})
    report = coverage.report_coverage([profile], ["x"])
    (each,) = report.found.functions
    assert coverage.sentence(report.branches, each.function, each.near[0]).startswith(
        "at /src/a.c:4 execution never continued; a successor leads to "
    )


def test_lines_of_an_optimised_program_are_those_that_are_left(tmp_path: Path) -> None:
    profile = run(GOOD, tmp_path)
    optimised = {
        name: replace(each, facts=replace(each.facts, optimised=True))
        for name, each in profile.functions.items()
    }
    for functions, times in ((profile.functions, 0), (optimised, 1)):
        shown = replace(profile, functions=functions)
        report = coverage.report_coverage([shown], ["good.trod"])
        console = wide_console()
        print_coverage(report, console)
        assert text_of(console).count(OPTIMISED) == times
        console = wide_console()
        print_tables(summarise(shown), console)
        assert text_of(console).count(OPTIMISED) == times
        console = wide_console()
        print_brief(summarise(shown), console, "good.trod", 160, 24)
        assert text_of(console).count(OPTIMISED) == times


@pytest.mark.parametrize("markers", [True, False])
def test_a_source_that_is_missing_is_named_once(tmp_path: Path, markers: bool) -> None:
    profile = replace(run(GOOD, tmp_path), filter=Filter(markers=markers))
    (tmp_path / "a.c").unlink()
    report = coverage.report_coverage([profile], ["good.trod"])
    document = coverage.to_document(report)
    assert [problem.partition(": ")[0] for problem in document["problems"]] == [f"{tmp_path}/a.c"]
    assert "--source-dir OLD=NEW" in document["problems"][0]


def test_coverage_for_programs(tmp_path: Path) -> None:
    rows = rows_of(coverage.to_plain(_coverage(tmp_path, 1)))
    assert [
        "function",
        "classify",
        f"{tmp_path}/a.c:1",
        "2",
        "3",
        "0.666667",
        "0",
        "5",
        "6",
        "6",
        "8",
    ] in rows
    near = next(row for row in rows if row[:2] == ["near", "classify"])
    assert near[2:5] == ["1", "1000", "never"]
    assert near[5] == f"{tmp_path}/a.c:2 `if (x < 0)`"
    assert near[-1] == "2: x < 0: true → 3: return -1;"
    assert [row[0] for row in rows if row[0] == "total"] == ["total"]


def test_coverage_as_json(tmp_path: Path) -> None:
    document = json.loads(json.dumps(coverage.to_document(_coverage(tmp_path, 1, "classify"))))
    assert document["files"] == ["good.trod"]
    assert document["paths"] == {"covered": 2, "total": 3, "share": 2 / 3}
    (classify,) = document["functions"]
    (near,) = classify["near_misses"]
    assert near["edge_never_taken"]
    assert near["times"] == 1000
    assert not near["outcome_in_other_copies"]
    copy = {"inlined_at": [], "copy": 1, "copies": 1}
    at = {"file": f"{tmp_path}/a.c", "line": 2, "text": "if (x < 0)", "block": "in"}
    assert near["branch"] == {**at, **copy}
    assert near["never"] == {"line": 3, "block": "neg", "words": "to line 3 (x < 0: true)"}
    assert near["went"] == [{"line": 4, "block": "pos", "words": "to line 4 (x < 0: false)", "count": 1000}]
    assert [(step["line"], step["outcome"]) for step in near["steps"]] == [(2, "x < 0: true"), (3, None)]
    assert near["blocks"] == ["in", "neg", "out"]
    executed = run({"classify": {"in neg out": 1}}).functions["classify"].paths or ()
    assert near["id"] == executed[0].id


def test_coverage_at_a_terminal(tmp_path: Path) -> None:
    console = wide_console()
    print_coverage(_coverage(tmp_path, 2), console, most=2)
    text = text_of(console)
    for part in (
        "possible paths",
        "66.7% (2 of 3)",
        "Inputs to write next",
        "1,000 classify: at a.c:2 `if (x < 0)` branched only to line 4 (x < 0: false),"
        " never to line 3 (x < 0: true)",
        "2: x < 0: true → 3: return -1;",
        "1 more function;",
    ):
        assert part in text


def test_what_could_not_be_joined_is_listed(tmp_path: Path) -> None:
    other = path_profile([facts_of("classify", "a>exit")], {"classify": {"a": 1}})
    edges = profile_of(unit_of(function("e", "a>exit")), {})
    report = coverage.report_coverage([run(GOOD), other, edges], ["a", "b", "c"])
    assert coverage.to_document(report)["left_out"] == [
        {"function": "classify", "file": "b", "reason": "its control-flow graph differs there"}
    ]
    assert coverage.to_document(report)["without_paths"] == ["e"]
    rows = rows_of(coverage.to_plain(report))
    assert ["left", "classify", "b", "its control-flow graph differs there"] in rows
    assert ["without", "e"] in rows
    console = wide_console()
    print_coverage(report, console)
    assert "left out classify of b: its control-flow graph differs there" in text_of(console)
    assert "no paths were counted in 1 function: e" in text_of(console)
