"""What coverage, stats and diff say, for people and for programs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from tests.profile.making import function, profile_of, unit_of
from tests.profile.walking import facts_of, path_profile
from tests.report.sample_paths import BAD, GOOD, run
from trodden.errors import UsageError
from trodden.plan.blocks import every_block
from trodden.report import coverage, difference, stats
from trodden.report.coverage_terminal import print_coverage
from trodden.report.describe_path import Describer
from trodden.report.difference_terminal import print_difference
from trodden.report.rows import percent
from trodden.report.stats_terminal import print_stats
from trodden.report.ways import Ways


def _rows(text: str) -> list[list[str]]:
    """The rows of a plain report, each checked against its heading."""
    rows = [line.split("\t") for line in text.splitlines()]
    headings = {row[0].removeprefix("#"): len(row) for row in rows if row[0].startswith("#")}
    assert all(len(row) == headings[row[0].removeprefix("#")] for row in rows)
    return [row for row in rows if not row[0].startswith("#")]


def _console() -> Console:
    return Console(file=io.StringIO(), width=200)


def _text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _coverage(folder: Path, top: int | None = None, pattern: str | None = None) -> coverage.CoverageReport:
    return coverage.report_coverage([run(GOOD, folder)], ["good.trod"], pattern, top)


def test_the_next_input_to_write(tmp_path: Path) -> None:
    report = _coverage(tmp_path)
    classify = next(each for each in report.found.functions if each.name == "classify")
    assert coverage.sentence(report.ways, classify.function, classify.near[0], short=True) == (
        "at a.c:2 `if (x < 0)` went only to line 4 (no), never to line 3 (yes)"
    )


def test_without_its_source_a_branch_has_lines_all_the_same() -> None:
    report = coverage.report_coverage([run(GOOD)], ["good.trod"])
    classify = next(each for each in report.found.functions if each.name == "classify")
    assert coverage.sentence(report.ways, classify.function, classify.near[0]) == (
        "at /src/a.c:2 went only to line 4, never to line 3"
    )


def test_a_combination_says_that_it_is_one() -> None:
    shape = "a>b a>c b>d c>d d>e d>f e>g f>g g>exit"
    lines = {label: [number] for number, label in enumerate("abcdefg", 1)}
    profile = path_profile([facts_of("f", shape, lines)], {"f": {"a b d e g": 5, "a c d f g": 2}})
    report = coverage.report_coverage([profile], ["x"])
    (each,) = report.found.functions
    assert coverage.sentence(report.ways, each.function, each.near[0]) == (
        "at /src/a.c:4 went only to line 5 when it came this way, and to line 6 only when it came another"
    )


def test_a_path_that_never_went_on_is_told() -> None:
    profile = path_profile([facts_of("f", "a>b a>c b>exit c>exit", {"a": [4]})], {"f": {"a!": 5}})
    report = coverage.report_coverage([profile], ["x"])
    (each,) = report.found.functions
    assert coverage.sentence(report.ways, each.function, each.near[0]).startswith(
        "at /src/a.c:4 never went on; one way is "
    )


def test_coverage_for_programs(tmp_path: Path) -> None:
    rows = _rows(coverage.to_plain(_coverage(tmp_path, 1)))
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
    assert near[-1] == "2: if (x < 0) yes → 3: return -1;"
    assert [row[0] for row in rows if row[0] == "total"] == ["total"]


def test_coverage_as_json(tmp_path: Path) -> None:
    document = json.loads(json.dumps(coverage.to_document(_coverage(tmp_path, 1, "classify"))))
    assert document["files"] == ["good.trod"]
    assert document["paths"] == {"covered": 2, "total": 3, "share": 2 / 3}
    (classify,) = document["functions"]
    (near,) = classify["near_misses"]
    assert near["edge_never_taken"]
    assert near["times"] == 1000
    assert near["branch"] == {"file": f"{tmp_path}/a.c", "line": 2, "text": "if (x < 0)", "block": "in"}
    assert near["never"] == {"line": 3, "block": "neg", "words": "to line 3 (yes)"}
    assert near["went"] == [{"line": 4, "block": "pos", "words": "to line 4 (no)", "count": 1000}]
    assert [(step["line"], step["outcome"]) for step in near["steps"]] == [(2, "yes"), (3, None)]
    assert near["blocks"] == ["in", "neg", "out"]
    walked = run({"classify": {"in neg out": 1}}).functions["classify"].paths or ()
    assert near["id"] == walked[0].id


def test_coverage_for_a_person(tmp_path: Path) -> None:
    console = _console()
    print_coverage(_coverage(tmp_path, 2), console, most=2)
    text = _text(console)
    for part in (
        "paths that the graphs allow",
        "66.7% (2 of 3)",
        "Inputs to write next",
        "1,000 classify: at a.c:2 `if (x < 0)` went only to line 4 (no), never to line 3 (yes)",
        "2: if (x < 0) yes → 3: return -1;",
        "1 more function;",
    ):
        assert part in text


def test_what_could_not_be_joined_is_told(tmp_path: Path) -> None:
    other = path_profile([facts_of("classify", "a>exit")], {"classify": {"a": 1}})
    edges = profile_of(unit_of(function("e", "a>exit")), {})
    report = coverage.report_coverage([run(GOOD), other, edges], ["a", "b", "c"])
    assert coverage.to_document(report)["left_out"] == [
        {"function": "classify", "file": "b", "reason": "it was compiled to another graph there"}
    ]
    assert coverage.to_document(report)["without_paths"] == ["e"]
    rows = _rows(coverage.to_plain(report))
    assert ["left", "classify", "b", "it was compiled to another graph there"] in rows
    assert ["without", "e"] in rows
    console = _console()
    print_coverage(report, console)
    assert "left out classify of b: it was compiled to another graph there" in _text(console)
    assert "no paths are told of 1 function: e" in _text(console)


def test_stats_in_all_forms() -> None:
    report = stats.report_stats(run(GOOD))
    assert list(report.functions) == ["handle", "classify"]
    (program,) = _rows(stats.to_plain(report, per_function=False))
    assert program[:2] == ["program", "/bin/prog"]
    rows = _rows(stats.to_plain(report, per_function=True))
    assert [row[:2] for row in rows[1:]] == [["function", "handle"], ["function", "classify"]]
    document = json.loads(json.dumps(stats.to_document(report, per_function=True)))
    assert document["functions"][1]["name"] == "classify"
    assert document["functions"][1]["paths"] == 2
    assert document["functions"][1]["correct"] == 0.5
    assert document["functions"][1]["predicted_average_edges"] == (600 * 4 + 400 * 1) / 1000
    assert document["whole"]["routines"] == 2
    assert "functions" not in stats.to_document(report, per_function=False)
    console = _console()
    print_stats(report, console, per_function=True)
    for part in ("Paths walked", "Predicted by the edge profile", "50.0%", "classify", "Routines"):
        assert part in _text(console)


def test_stats_name_what_tells_no_paths() -> None:
    edges = profile_of(unit_of(function("e", "a>exit")), {})
    report = stats.report_stats(edges)
    assert report.without == ("e",)
    assert ["without", "e"] in _rows(stats.to_plain(report, per_function=False))
    console = _console()
    print_stats(report, console, per_function=False)
    assert "no paths are told of 1 function" in _text(console)


def _difference(folder: Path | None, top: int | None = None) -> difference.DifferenceReport:
    profiles = run(GOOD, folder), run(BAD, folder)
    return difference.report_difference(profiles, ("good.trod", "bad.trod"), None, top)


def test_where_the_runs_part(tmp_path: Path) -> None:
    report = _difference(tmp_path)
    sentences = [difference.sentence(report.ways, each, short=True) for _, each in report.shown]
    assert sentences[:3] == [
        "at a.c:2 `if (x < 0)` B went to line 3 (yes), 1 of 1,000 times; A never in 1,000:"
        " only to line 4 (no)",
        "at a.c:10 `if (classify(x) < 0)` B went to line 11 (yes), 1 of 1,000 times; A never in 1,000:"
        " only to line 12 (no)",
        "at a.c:19 B enters at line 19, once; A never came there",
    ]
    assert sentences[3] == (
        "at a.c:10 `if (classify(x) < 0)` went to line 12 (no), having come this way, in A 100.0%"
        " (1,000 of 1,000), in B 99.9% (999 of 1,000)"
    )


def test_differences_for_programs(tmp_path: Path) -> None:
    rows = _rows(difference.to_plain(_difference(tmp_path, 2)))
    (common,) = [row for row in rows if row[0] == "common"]
    assert common[1:5] == ["paths", "5", "8", "5"]
    assert common[5] == "0.625000"
    assert common[-2:] == ["0", "3"]
    shown = [row for row in rows if row[0] == "difference"]
    assert [(row[1], row[2], row[3]) for row in shown[:2]] == [
        ("1", "parts", "classify"),
        ("2", "parts", "handle"),
    ]
    assert [row[2] for row in shown[2:]] == ["shifts", "shifts"]
    assert shown[0][4:8] == ["0", "1000", "1", "1000"]


def test_differences_as_json(tmp_path: Path) -> None:
    document = json.loads(json.dumps(difference.to_document(_difference(tmp_path))))
    assert (document["first"], document["second"], document["same"]) == ("good.trod", "bad.trod", False)
    assert document["common"]["paths"]["common"] == 5
    first = document["differences"][0]
    assert (first["rank"], first["kind"], first["function"]) == (1, "parts", "classify")
    assert first["second"] == {"count": 1, "of": 1000}
    assert first["branch"]["line"] == 2
    assert first["way"]["line"] == 3
    assert first["others"] == [
        {"line": 4, "block": "pos", "words": "to line 4 (no)", "first": 1000, "second": 999}
    ]
    assert first["path"]["blocks"] == ["in", "neg", "out"]
    assert document["unpaired"] == document["compared_by_counts"] == []


def test_differences_for_a_person(tmp_path: Path) -> None:
    console = _console()
    print_difference(_difference(tmp_path, 2), console)
    text = _text(console)
    assert text.index("   1 classify: at a.c:2 `if (x < 0)` B went") < text.index("   2 handle: at a.c:10")
    for part in ("A good.trod  B bad.trod", "62.5%", "Where the runs part", "1 more difference; see --top"):
        assert part in text
    assert "no more than chance" in text


def test_shares_that_moved_are_shown_if_they_convince() -> None:
    second = run({"classify": {"in pos odd out": 400, "in pos even out": 600}, "handle": GOOD["handle"]})
    report = difference.report_difference((run(GOOD), second), ("a", "b"))
    console = _console()
    print_difference(report, console)
    assert "Shares that moved by more than chance" in _text(console)
    assert "in A 60.0% (600 of 1,000), in B 40.0% (400 of 1,000)" in _text(console)


def test_nothing_to_tell() -> None:
    console = _console()
    print_difference(difference.report_difference((run(GOOD), run(GOOD)), ("a", "b")), console)
    assert "No difference" in _text(console)
    console = _console()
    other = path_profile([facts_of("other", "a>exit")], {})
    print_difference(difference.report_difference((run(GOOD), other), ("a", "b")), console)
    assert "Nothing can be compared" in _text(console)
    assert "classify of A cannot be compared: the other build has no such function" in _text(console)


def test_edges_in_place_of_paths_are_announced() -> None:
    shape = function("f", "a>b a>c b>d c>d d>exit", {"a": [3], "b": [4], "c": [5], "d": [6]})
    counts = {"a>b": 5, "b>d": 5, "d>exit": 5}
    first = profile_of(unit_of(shape), {"f": counts})
    second = profile_of(unit_of(shape), {"f": {"a>b": 4, "b>d": 4, "a>c": 1, "c>d": 1, "d>exit": 5}})
    report = difference.report_difference((first, second), ("a", "b"))
    console = _console()
    print_difference(report, console)
    text = _text(console)
    assert "there are no paths to compare" in text
    assert "f: at a.c:3 B went to line 5, 1 of 5 times; A never in 5: only to line 4" in text
    assert difference.to_document(report)["differences"][0]["way"]["line"] == 5
    with_paths = path_profile([facts_of("f", "a>b a>c b>d c>d d>exit")], {"f": {"a b d": 5}})
    mixed = difference.report_difference((with_paths, second), ("a", "b"))
    assert mixed.found.by_counts == ("f",)
    console = _console()
    print_difference(mixed, console)
    assert "does not tell the same paths: f" in _text(console)


def test_blocks_in_place_of_edges_are_told_by_the_call() -> None:
    flow = "a>b a>c b>d b>e c>d c>e d>exit e>exit"
    unit = unit_of(function("f", flow, {"c": [5]}, planner=every_block))
    first = profile_of(unit, {"f": {"@a": 6, "a>b": 6, "b>d": 3, "b>e": 3, "d>exit": 3, "e>exit": 3}})
    turned = {"a>b": 4, "a>c": 2, "b>d": 2, "b>e": 2, "c>d": 1, "c>e": 1, "d>exit": 3, "e>exit": 3}
    second = profile_of(unit, {"f": {"@a": 6, **turned}})
    report = difference.report_difference((first, second), ("a", "b"))
    (_, each), *_ = report.shown
    assert (each.block, each.edge) == (2, None)
    words = difference.sentence(report.ways, each, short=True)
    assert words == "at a.c:5 A ran this block 0 times in 6 calls, B ran this block 2 times in 6 calls"
    assert difference.to_document(report)["differences"][0]["block"] == "c"


def test_a_pattern_must_pick_something_in_one_of_the_runs() -> None:
    profiles, files = (run(GOOD), run(BAD)), ("a", "b")
    assert difference.report_difference(profiles, files, "hand*").shown
    with pytest.raises(UsageError, match="no function matches 'nix'"):
        difference.report_difference(profiles, files, "nix")
    other = path_profile([facts_of("other", "a>exit")], {})
    alone = difference.report_difference((run(GOOD), other), files, "other")
    assert [each.name for each in alone.found.unpaired] == ["other"]


def test_ways_without_lines() -> None:
    profile = path_profile([facts_of("f", "a>b a>exit b>exit")], {"f": {"a b": 1}})
    each, ways = profile.functions["f"], Ways(Describer(profile))
    assert ways.branch(each, 0) == "f, block a"
    assert ways.way(each, 0) == "to block b"
    assert ways.way(each, 1) == "out of the function"
    assert ways.way(each, 2) == "on"
    assert ways.branch_document(each, 0)["line"] is None
    assert ways.branch_document(each, 1) == {"file": None, "line": None, "text": None, "block": "b"}


def test_a_long_list_of_ways_is_cut() -> None:
    shape = " ".join(f"a>{c} {c}>exit" for c in "bcdefg")
    profile = path_profile([facts_of("f", shape)], {"f": {"a b": 1}})
    each, ways = profile.functions["f"], Ways(Describer(profile))
    assert (
        ways.several(each, each.facts.graph.out_edges[0])
        == "to block b, to block c, to block d and 3 other ways"
    )


def test_percentages_do_not_round_away_what_matters() -> None:
    assert [percent(x) for x in (0, 0.0001, 0.5, 0.99999, 1)] == [
        "0.0%",
        "<0.1%",
        "50.0%",
        ">99.9%",
        "100.0%",
    ]
