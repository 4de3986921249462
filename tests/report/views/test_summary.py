"""What the report says, at a terminal and for other programs."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest
from rich.console import Console

from tests.profile.making import function, profile_of, unit_counts_of, unit_of
from tests.profile.sample import sample
from trodden.plan.counters.blocks import every_block
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.program.facts import FunctionFacts
from trodden.report.render.brief import print_summary
from trodden.report.render.plain import to_plain
from trodden.report.render.terminal import print_tables
from trodden.report.views.summary import location_of, summarise
from trodden.weigh.features.block_features import BlockFeatures, CallFeatures, FunctionFeatures


def _contradiction() -> Profile:
    unit = unit_of(function("f", "a>b a>c b>exit c>exit", planner=every_block))
    return profile_of(unit, {"f": {"a>b": 1, "@a": 5}})


def test_functions_are_ranked_by_blocks_executed() -> None:
    summary = summarise(sample())
    assert [(row.name, row.place, row.entries) for row in summary.functions] == [
        ("main", "/src/a.c:3", 1),
        ("never", "/src/a.c:15", 0),
    ]
    main = summary.functions[0]
    assert main.executed == 1 + 1001 + 1000 + 900 + 100 + 1000 + 1 + 1
    assert main.share == 1.0
    assert (summary.walked, summary.total) == (1, 2)


def test_the_hottest_blocks_and_edges_come_first() -> None:
    summary = summarise(sample(), top=2)
    assert [(row.block, row.place, row.count) for row in summary.blocks] == [
        ("cond", "/src/a.c:5", 1001),
        ("body", "/src/a.c:6", 1000),
    ]
    assert [(row.src, row.dst, row.src_place, row.dst_place, row.count) for row in summary.edges] == [
        ("cond", "body", "/src/a.c:5", "/src/a.c:6", 1000),
        ("latch", "cond", "/src/a.c:5", "/src/a.c:5", 1000),
    ]


def test_all_rows_without_a_limit() -> None:
    summary = summarise(sample())
    assert len(summary.blocks) == 13
    counts = [row.count for row in summary.edges]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) == 17


def test_a_pattern_narrows_rows_but_not_shares() -> None:
    summary = summarise(sample(), pattern="nev*")
    assert [(row.name, row.share) for row in summary.functions] == [("never", 0.0)]
    assert {row.function for row in summary.blocks} == {"never"}


def test_locations() -> None:
    main = sample().functions["main"]
    label = main.facts.graph.labels.index
    assert location_of(main, label("then")) == "/src/a.h:2"
    assert location_of(main, label("then"), last=True) == "/src/a.c:7"
    assert location_of(main, main.facts.graph.exit) == ""


def test_plain_lines_hold_one_fact_each() -> None:
    lines = to_plain(summarise(sample())).splitlines()
    assert "function\tmain\t/src/a.c:3\t1\t4004\t1.000000\t12012\t1.000000" in lines
    assert "instructions\tir" in lines
    assert "block\tmain\tcond\t/src/a.c:5\t1001" in lines
    assert "edge\tmain\tbody\tthen\t/src/a.c:6\t/src/a.h:2\t900" in lines
    assert "skipped\tstart\tit is written in assembler" in lines
    assert "note\tone thread was killed" in lines
    headings = {line.split("\t")[0]: len(line.split("\t")) for line in lines if line.startswith("#")}
    for line in lines:
        kind, *rest = line.lstrip("#").split("\t")
        assert headings[f"#{kind}"] == 1 + len(rest)
    assert "\x1b" not in "".join(lines)


def test_plain_lines_survive_odd_names() -> None:
    profile = profile_of(unit_of(function("a\tb\nc\\", "x>exit")), {})
    rows = [line for line in to_plain(summarise(profile)).splitlines() if line.startswith("function")]
    assert rows == ["function\ta\\tb\\nc\\\\\t/src/a.c:1\t0\t0\t0.000000\t0\t0.000000"]


def test_the_json_form_holds_the_same() -> None:
    document = json.loads(json.dumps(summarise(sample()).to_document()))
    assert document["functions"][0]["name"] == "main"
    assert document["blocks"][0] == {
        "function": "main",
        "block": "cond",
        "place": "/src/a.c:5",
        "count": 1001,
    }
    assert document["skipped"] == [{"name": "start", "reason": "it is written in assembler"}]
    assert document["violations"] == []


def _calls() -> Profile:
    """Two files with a static function of one name each, that call it, a library and pointers."""

    def calling(name: str, *callees: str) -> FunctionFacts:
        features = FunctionFeatures((BlockFeatures(calls=tuple(CallFeatures(callee) for callee in callees)),))
        return replace(function(name, "x>exit"), features=features)

    one = unit_of(
        calling("main", "_Zhelp", "puts", "puts"), function("help()", "y>exit", linkage_name="_Zhelp")
    )
    two = unit_of(
        calling("other", "_Zhelp", "", "main"),
        function("help()", "z>exit", linkage_name="_Zhelp"),
        files=["/src/b.c"],
    )
    unit_counts = [
        unit_counts_of(one, {"main": {"x>exit": 1}}),
        unit_counts_of(two, {"other": {"x>exit": 1500}}),
    ]
    return assemble("/bin/prog", [one, two], unit_counts)


def test_calls() -> None:
    rows = [line for line in to_plain(summarise(_calls())).splitlines() if line.startswith("calls")]
    assert rows == [
        "calls\tother\t\t1500",
        "calls\tother\tb.c:help()\t1500",
        "calls\tother\tmain\t1500",
        "calls\tmain\tputs\t2",
        "calls\tmain\ta.c:help()\t1",
    ]
    document = json.loads(json.dumps(summarise(_calls(), top=1, pattern="main").to_document()))
    assert document["calls"] == [{"caller": "other", "callee": "main", "count": 1500}]
    console = Console(file=io.StringIO(), width=100)
    print_tables(summarise(_calls()), console)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "Most frequent calls" in shown
    assert re.search(r"1,500 +other +through pointers", shown)


def test_contradictions_are_reported() -> None:
    profile = _contradiction()
    assert profile.functions["f"].violations
    document = summarise(profile).to_document()
    assert document["violations"][0]["function"] == "f"
    assert "violation\tf\t" in to_plain(summarise(profile))


def _printed(profile: Profile, width: int = 100) -> str:
    out = io.StringIO()
    print_tables(summarise(profile, top=5), Console(file=out, width=width))
    return out.getvalue()


def test_tables_at_a_terminal() -> None:
    text = _printed(sample())
    for part in ("1 of 2 functions ran", "100.0%", "4,004", "main", "1,001", "cond → body", "a.c:5 → a.c:6"):
        assert part in text
    assert "it is written in assembler" in text
    assert "note one thread was killed" in text
    assert "contradiction f:" in _printed(_contradiction())


def test_markup_in_names_is_only_text() -> None:
    profile = profile_of(unit_of(function("f[bold]", "x[/]>exit")), {"f[bold]": {"x[/]>exit": 1}})
    text = _printed(profile)
    assert "f[bold]" in text
    assert "x[/]" in text


def test_what_a_run_prints_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    print_summary(sample(), "out.trod")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "out.trod" in captured.err
    assert "main" in captured.err
