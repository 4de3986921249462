"""What diff says, at a terminal and for other programs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.profile.making import function, profile_of, unit_of
from tests.profile.walking import facts_of, path_profile
from tests.report.printed import rows_of, text_of, wide_console
from tests.report.sample_paths import BAD, GOOD, run
from trodden.compare.difference import Basis
from trodden.errors import UsageError
from trodden.plan.counters.blocks import every_block
from trodden.profile.model import Filter, Profile
from trodden.report.render.difference import print_difference
from trodden.report.views import difference, difference_formats


def _difference(folder: Path | None, top: int | None = None) -> difference.DifferenceReport:
    profiles = run(GOOD, folder), run(BAD, folder)
    return difference.report_difference(profiles, ("good.trod", "bad.trod"), None, top)


def test_where_the_runs_diverge(tmp_path: Path) -> None:
    report = _difference(tmp_path)
    sentences = [difference.sentence(report, each, short=True) for _, each in report.shown]
    assert sentences[:3] == [
        "at a.c:2 `if (x < 0)` B branched to line 3 (x < 0: true), 1 of 1,000 times; A never in 1,000:"
        " only to line 4 (x < 0: false)",
        "at a.c:10 `if (classify(x) < 0)` B branched to line 11 (classify(x) < 0: true), 1 of 1,000 times;"
        " A never in 1,000: only to line 12 (classify(x) < 0: false)",
        "at a.c:19 B starts at the function entry (line 19), once; A never reached it",
    ]
    # That handle continued on line 12 less often follows from the second.
    assert sentences[3:] == [
        "at a.c:4 `if (x % 2)` branched to line 6 (x % 2: false) in A 40.0% (400 of 1,000), in B 37.9% (379"
        " of 999)"
    ]


def test_differences_for_programs(tmp_path: Path) -> None:
    rows = rows_of(difference_formats.to_plain(_difference(tmp_path, 2)))
    (common,) = [row for row in rows if row[0] == "common"]
    assert common[1:5] == ["paths", "5", "8", "5"]
    assert common[5] == "0.625000"
    assert common[-2:] == ["0", "3"]
    shown = [row for row in rows if row[0] == "difference"]
    assert [(row[1], row[2], row[3]) for row in shown[:2]] == [
        ("1", "parts", "classify"),
        ("2", "parts", "handle"),
    ]
    assert [row[2] for row in shown[2:]] == ["shifts"]
    assert shown[0][4:8] == ["0", "1000", "1", "1000"]


def test_differences_as_json(tmp_path: Path) -> None:
    document = json.loads(json.dumps(difference_formats.to_document(_difference(tmp_path))))
    assert (document["first"], document["second"], document["same"]) == ("good.trod", "bad.trod", False)
    assert document["common"]["paths"]["common"] == 5
    first = document["differences"][0]
    assert (first["rank"], first["kind"], first["function"]) == (1, "parts", "classify")
    assert first["second"] == {"count": 1, "of": 1000}
    assert first["branch"]["line"] == 2
    assert first["way"]["line"] == 3
    assert first["others"] == [
        {"line": 4, "block": "pos", "words": "to line 4 (x < 0: false)", "first": 1000, "second": 999}
    ]
    assert first["path"]["blocks"] == ["in", "neg", "out"]
    assert document["unpaired"] == document["compared_by_counts"] == []


def test_differences_at_a_terminal(tmp_path: Path) -> None:
    console = wide_console()
    print_difference(_difference(tmp_path, 2), console)
    text = text_of(console)
    assert text.index("   1 classify: at a.c:2 `if (x < 0)` B branched") < text.index(
        "   2 handle: at a.c:10"
    )
    for part in (
        "A good.trod  B bad.trod",
        "62.5%",
        "Where the runs diverge",
        "1 more difference; see --top",
    ):
        assert part in text
    assert "it may be chance" in text


def test_shares_that_changed_are_shown_if_they_convince() -> None:
    second = run({"classify": {"in pos odd out": 400, "in pos even out": 600}, "handle": GOOD["handle"]})
    report = difference.report_difference((run(GOOD), second), ("a", "b"))
    console = wide_console()
    print_difference(report, console)
    assert "Shares that changed by more than chance" in text_of(console)
    assert "in A 60.0% (600 of 1,000), in B 40.0% (400 of 1,000)" in text_of(console)


def test_nothing_to_report() -> None:
    console = wide_console()
    print_difference(difference.report_difference((run(GOOD), run(GOOD)), ("a", "b")), console)
    assert "No difference" in text_of(console)


def test_unrelated_programs_are_refused_and_the_reason_is_named() -> None:
    other = path_profile([facts_of("other", "a>exit")], {})
    with pytest.raises(UsageError, match="have no function in common; compare runs of one program"):
        difference.report_difference((run(GOOD), other), ("a", "b")).need_related()
    changed = path_profile([facts_of("classify", "a>exit")], {"classify": {"a": 1}})
    with pytest.raises(
        UsageError, match=r"no function can be compared.*\(classify\) have other control-flow"
    ):
        difference.report_difference((run(GOOD), changed), ("a", "b")).need_related()
    difference.report_difference((run(GOOD), run(BAD)), ("a", "b")).need_related()


def test_which_instructions_are_counted() -> None:
    report = difference.report_difference((run(GOOD), run(BAD)), ("a", "b"))
    console = wide_console()
    print_difference(report, console)
    assert "In common, and the IR instructions that B executed along it" in text_of(console)
    assert difference_formats.to_document(report)["instructions"] == "ir"
    assert ["instructions", "ir"] in rows_of(difference_formats.to_plain(report))


def test_functions_of_the_system_are_mentioned_unless_they_are_compared() -> None:
    shapes = [facts_of("own", "a>exit"), facts_of("sort", "a>exit")]

    def one(system: bool) -> Profile:
        files = ["/src/a.c", "/usr/include/sort.h"]
        found = path_profile(shapes, {"own": {"a": 1}, "sort": {"a": 3}}, files=files)
        functions = dict(found.functions)
        functions["sort"] = replace(functions["sort"], facts=replace(functions["sort"].facts, file=1))
        return replace(found, functions=functions, filter=Filter(system=system))

    hidden = difference.report_difference((one(False), one(False)), ("a", "b"))
    assert hidden.found.common[Basis.PATHS].second == 1
    assert hidden.notes == (
        "1 function of system headers and standard libraries (75.0% of the instructions) is not compared;"
        " --system compares it",
    )
    assert ["note", *hidden.notes] in rows_of(difference_formats.to_plain(hidden))
    shown = difference.report_difference((one(True), one(True)), ("a", "b"))
    assert shown.found.common[Basis.PATHS].second == 2
    assert shown.notes == ()


def test_a_source_that_is_missing_or_has_changed_is_named_once(tmp_path: Path) -> None:
    report = _difference(tmp_path)
    (tmp_path / "a.c").unlink()
    document = difference_formats.to_document(report)
    assert document["notes"] == [
        f"{tmp_path}/a.c: cannot be read, so the text of lines and conditions is not shown;"
        " --source-dir OLD=NEW says where sources are now"
    ]
    assert "`" not in document["differences"][0]["sentence"]
    console = wide_console()
    print_difference(report, console)
    assert " ".join(text_of(console).split()).count("cannot be read") == 1


def test_what_happened_once_at_the_only_opportunity() -> None:
    shape = function("f", "a>b a>c b>d c>d d>exit", {"a": [3], "b": [4], "c": [5], "d": [6]})
    first = profile_of(unit_of(shape), {"f": {"a>b": 1, "b>d": 1, "d>exit": 1}})
    second = profile_of(unit_of(shape), {"f": {"a>c": 1, "c>d": 1, "d>exit": 1}})
    report = difference.report_difference((first, second), ("a", "b"))
    (sentence,) = {difference.sentence(report, each, short=True) for _, each in report.shown}
    assert sentence == (
        "at a.c:3 B branched to line 5, the only time it came here;"
        " A did not the only time it came here: only to line 4"
    )


def test_edges_instead_of_paths_are_announced() -> None:
    shape = function("f", "a>b a>c b>d c>d d>exit", {"a": [3], "b": [4], "c": [5], "d": [6]})
    counts = {"a>b": 5, "b>d": 5, "d>exit": 5}
    first = profile_of(unit_of(shape), {"f": counts})
    second = profile_of(unit_of(shape), {"f": {"a>b": 4, "b>d": 4, "a>c": 1, "c>d": 1, "d>exit": 5}})
    report = difference.report_difference((first, second), ("a", "b"))
    console = wide_console()
    print_difference(report, console)
    text = text_of(console)
    assert "there are no paths to compare" in text
    assert "f: at a.c:3 B branched to line 5, 1 of 5 times; A never in 5: only to line 4" in text
    assert difference_formats.to_document(report)["differences"][0]["way"]["line"] == 5
    with_paths = path_profile([facts_of("f", "a>b a>c b>d c>d d>exit")], {"f": {"a b d": 5}})
    mixed = difference.report_difference((with_paths, second), ("a", "b"))
    assert mixed.found.by_counts == ("f",)
    console = wide_console()
    print_difference(mixed, console)
    assert "did not count the same paths: f" in text_of(console)


def test_blocks_instead_of_edges_are_compared_by_the_call() -> None:
    flow = "a>b a>c b>d b>e c>d c>e d>exit e>exit"
    unit = unit_of(function("f", flow, {"c": [5]}, planner=every_block))
    first = profile_of(unit, {"f": {"@a": 6, "a>b": 6, "b>d": 3, "b>e": 3, "d>exit": 3, "e>exit": 3}})
    swapped = {"a>b": 4, "a>c": 2, "b>d": 2, "b>e": 2, "c>d": 1, "c>e": 1, "d>exit": 3, "e>exit": 3}
    second = profile_of(unit, {"f": {"@a": 6, **swapped}})
    report = difference.report_difference((first, second), ("a", "b"))
    (_, each), *_ = report.shown
    assert (each.block, each.edge) == (2, None)
    words = difference.sentence(report, each, short=True)
    assert (
        words == "at a.c:5 A executed this block 0 times in 6 calls, B executed this block 2 times in 6 calls"
    )
    assert difference_formats.to_document(report)["differences"][0]["block"] == "c"


def test_blocks_that_are_executed_together_are_one_difference() -> None:
    # Of b and c one says what the other does; g and h are the iterations of a loop.
    flow = "a>b a>c b>d b>e c>d c>e d>f e>f f>g g>h h>g h>i i>exit"
    unit = unit_of(function("f", flow, planner=every_block))
    end = {"f>g": 3, "h>i": 3, "i>exit": 3}
    first = {"a>b": 3, "b>d": 1, "b>e": 2, "d>f": 1, "e>f": 2, "g>h": 3, **end}
    split = {"a>b": 1, "a>c": 2, "b>d": 1, "c>e": 2, "d>f": 1, "e>f": 2}
    second = {**split, "g>h": 9, "h>g": 6, **end}
    profiles = profile_of(unit, {"f": {"@a": 3, **first}}), profile_of(unit, {"f": {"@a": 3, **second}})
    report = difference.report_difference(profiles, ("a", "b"))
    assert set(report.found.common) == {Basis.BLOCKS}
    labels = [each.function.facts.graph.labels[each.block or 0] for _, each in report.shown]
    assert labels == ["c", "g"]


def test_a_pattern_must_select_something_in_one_of_the_runs() -> None:
    profiles, files = (run(GOOD), run(BAD)), ("a", "b")
    assert difference.report_difference(profiles, files, "hand*").shown
    with pytest.raises(UsageError, match="no function matches 'nix'"):
        difference.report_difference(profiles, files, "nix")
    other = path_profile([facts_of("other", "a>exit")], {})
    alone = difference.report_difference((run(GOOD), other), files, "other")
    assert [each.name for each in alone.found.unpaired] == ["other"]
