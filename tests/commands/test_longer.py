"""Longer paths of programs: the examples of TZG04 through the whole chain, and what all sources say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import trodden
from tests.commands.calling import click, process
from tests.native.building import PROGRAMS, must
from tests.native.building import trodden as command
from trodden.api.longer import counted_pairs
from trodden.errors import UsageError
from trodden.profile.longer.model import Crossing, CrossingFlow, LongerKind, LongerPaths, PathPart, Source
from trodden.profile.longer.overlaps import CountedCalls
from trodden.profile.model import Profile

TABLE_5 = """
static volatile int sink;
__attribute__((noinline)) void loop(const char *kinds) {
    do {
        if (*kinds == '1')
            sink = 1;
        else if (*kinds == '2')
            sink = 2;
        else
            sink = 3;
    } while (*++kinds);
}
int main(void) {
    for (int i = 0; i < 250; i++) {
        loop("113");
        loop("223");
    }
    return 0;
}
"""
SECTION_3_2_3 = """
typedef void Callee(int);
static volatile int sink;
__attribute__((noinline)) void g(int n) {
    if (n == 1) { sink = 1; return; }
    sink = 2;
    if (n < 4) { sink = 3; if (n == 3) sink = 4; sink = 5; }
    else if (n == 5) sink = 6;
    sink = 7;
}
__attribute__((noinline)) void other(int n) { sink = n; }
__attribute__((noinline)) void f(int n, Callee *callee, int m) {
    if (n == 1) sink = 1;
    else if (n == 2) sink = 2;
    else sink = 3;
    callee(m);
    sink = 8;
}
int main(void) {
    for (int i = 0; i < 100; i++) {
        f(1, g, 1);
        f(1, other, 1);
        g(1);
        for (int n = 2; n < 4; n++) { f(n, other, 1); f(n, other, 1); }
        for (int m = 2; m < 6; m++) { g(m); g(m); }
    }
    return 0;
}
"""


def longer(folder: Path, name: str, *options: str) -> dict[str, Any]:
    """What the JSON export says of the longer paths of a source, run with these options."""
    must("run", "-q", *options, "-o", f"{name}.trod", f"{name}.c", "-O0", cwd=folder)
    return json.loads(must("export", f"{name}.trod", "--longer", cwd=folder))  # type: ignore[no-any-return]


def flows(document: dict[str, Any], kind: str, function: str) -> list[tuple[int, int, int, str]]:
    return [
        (each["definite_flow"], each["executed"]["lower"], each["potential_flow"], each["source"])
        for each in document["crossings"]
        if (each["kind"], each["function"]) == (kind, function)
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--profile=paths",), (0, 1000, 2000, "paths")),
        (("--profile=paths", "--overlap=1"), (500, 1000, 1500, "overlaps")),
        (("--profile=paths", "--overlap=2"), (1000, 1000, 1000, "overlaps")),
        (("--profile=paths", "--overlap=max"), (1000, 1000, 1000, "overlaps")),
        (("--profile=paths", "--pairs"), (1000, 1000, 1000, "pairs")),
        (("--profile=trace",), (1000, 1000, 1000, "trace")),
    ],
)
def test_table_5(tmp_path: Path, options: tuple[str, ...], expected: tuple[int, int, int, str]) -> None:
    (tmp_path / "table5.c").write_text(TABLE_5)
    document = longer(tmp_path, "table5", *options)
    assert flows(document, "loop", "loop") == [expected]
    fixed = json.loads(must("export", "table5.trod", "--longer", "--bounds=fixed", cwd=tmp_path))
    assert flows(fixed, "loop", "loop") == [expected]
    if expected[0] == 1000:
        exact = [
            (len(each["first"]), len(each["second"]), each["lower"], each["upper"])
            for each in document["longer"]
            if each["function"] == "loop" and each["kind"] == "loop"
        ]
        assert sorted(count for *_, count, _ in exact) == [250, 250, 250, 250]
        assert all(lower == upper for *_, lower, upper in exact)


@pytest.mark.parametrize("options", [("--profile=paths", "--overlap=1"), ("--profile=trace",)])
def test_the_example_of_section_3_2_3(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "calls.c").write_text(SECTION_3_2_3)
    document = longer(tmp_path, "calls", *options)
    calls = [each for each in document["longer"] if each["function"] == "f" and each.get("callee") == "g"]
    entered = [each for each in calls if each["kind"] == "call"]
    assert [(each["lower"], each["upper"]) for each in entered] == [(100, 100)]
    (flow,) = [each for each in flows(document, "call", "f") if each[1] == 100]
    assert flow[:3] == (100, 100, 100)


def test_paths_alone_say_nothing_of_calls_through_pointers(tmp_path: Path) -> None:
    (tmp_path / "calls.c").write_text(SECTION_3_2_3)
    document = longer(tmp_path, "calls", "--profile=paths")
    assert not flows(document, "call", "f")
    assert {
        "function": "f",
        "kind": "call",
        "reason": "600 calls lead through pointers, and paths do not say to whom",
    } in document["not_told"]


# Every source of the same deterministic program.

Key = tuple[Crossing, PathPart, PathPart]


def found(folder: Path, name: str, *options: str) -> tuple[Profile, LongerPaths]:
    program = folder / f"{name}-{'-'.join(options).strip('-').replace('=', '')}"
    flags = [f"--trodden-{option}" for option in options]
    flags += ["--trodden-max-paths=none"] if "profile=paths" in options else []
    compiler = "c++" if name.endswith("cpp") else "cc"
    must(compiler, *flags, "-O1", "-g", PROGRAMS / name, "-o", program, "-lpthread", cwd=folder)
    out = program.with_suffix(".trod")
    command("run", "-q", "-o", out, program, cwd=folder)
    profile = counted_pairs(trodden.load(out))
    return profile, trodden.longer_paths(profile, most=100_000)


@pytest.fixture(scope="module", params=["longer.c", "longer.cpp"])
def truth(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("longer")
    return request.param, folder, *found(folder, request.param, "profile=trace")


def comparable(one: Profile, other: Profile) -> set[str]:
    """The functions that have the same paths in both."""

    def paths(profile: Profile, key: str) -> object:
        plan = profile.functions[key].facts.plan.paths
        return None if plan is None else replace(plan, number=0, dense=True), profile.functions[
            key
        ].facts.graph

    return {key for key in one.functions if key in other.functions and paths(one, key) == paths(other, key)}


def of_both(longer_paths: LongerPaths, same: set[str]) -> dict[Key, tuple[int, int]]:
    return {
        (each.crossing, each.first, each.second): (each.lower, each.upper)
        for each in longer_paths.paths
        if same.issuperset(each.crossing.owners)
    }


def contains(profile: Profile, bounds: LongerPaths, exact: LongerPaths, same: set[str]) -> int:
    """How many of the longer paths have bounds that meet; the truth has to be within them."""
    known, flows_of = of_both(bounds, same), {each.crossing: each for each in bounds.crossings}
    told = set(told_by_names(profile, bounds))
    wrong = []
    for key, (count, most) in of_both(exact, same).items():
        assert count == most
        flow: CrossingFlow | None = flows_of.get(key[0])
        if flow is None and key[0].function in told:
            continue
        low, high = known.get(key, (0, 0 if flow is None else flow.unlisted))
        if not low <= count <= high:
            wrong.append((key, count, low, high))
    assert not wrong
    executed = of_both(exact, same)
    assert not [key for key, (low, _) in known.items() if low and key not in executed]
    return sum(low == high for low, high in known.values())


def totals(longer_paths: LongerPaths) -> dict[tuple[LongerKind, str, str | None], tuple[int, int]]:
    """How often each function called each other one, and was returned to, at least and at most.

    Loops of one block, which end no paths, may be loops of several blocks where calls divide them.
    """
    found: dict[tuple[LongerKind, str, str | None], tuple[int, int]] = {}
    for each in longer_paths.crossings:
        if each.crossing.kind is not LongerKind.LOOP:
            key = each.crossing.kind, each.crossing.function, each.crossing.callee
            least, most = found.get(key, (0, 0))
            found[key] = least + each.least, most + each.most
    return found


def told_by_names(profile: Profile, bounds: LongerPaths) -> Iterator[str]:
    """The functions of which it is said that not everything is told."""
    return (each.function for each in bounds.not_told)


def test_paths_alone_give_bounds_that_contain_the_truth(truth: Any) -> None:
    *_, profile, exact = truth
    alone = replace(profile, traced_pairs=None)
    for bounds in ("tight", "fixed"):
        contains(alone, trodden.longer_paths(alone, bounds, most=100_000), exact, set(profile.functions))


@pytest.mark.parametrize(
    "options", [("overlap=1",), ("overlap=2",), ("overlap=max",), ("overlap=auto",), ("pairs=on",)]
)
def test_what_is_counted_agrees_with_the_trace(truth: Any, options: tuple[str, ...]) -> None:
    name, folder, traced, exact = truth
    profile, bounds = found(folder, name, "profile=paths", *options)
    same = comparable(traced, profile)
    assert 2 * len(same) > len(traced.functions)
    met = contains(profile, bounds, exact, same)
    assert met
    untold = {(each.kind, each.function) for each in bounds.not_told}
    for key, (least, most) in totals(exact).items():
        low, high = totals(bounds).get(key, (0, 0))
        assert least == most
        assert low <= least <= high or key[:2] in untold
    loops = [each.source for each in bounds.crossings if each.crossing.kind is LongerKind.LOOP]
    assert options != ("pairs=on",) or set(loops) == {Source.PAIRS}
    if options in (("overlap=max",), ("pairs=on",)):
        flows_of = [each for each in bounds.crossings if each.source is not Source.PATHS]
        assert flows_of
        assert {each.crossing.kind for each in flows_of} == set(LongerKind)


def test_a_trace_says_how_often_everything_was_crossed(truth: Any) -> None:
    *_, profile, exact = truth
    for each in exact.crossings:
        assert each.least == each.most == each.definite == each.potential
        if each.crossing.kind is LongerKind.LOOP:
            function = profile.functions[each.crossing.function]
            edges = function.facts.graph.edges
            back = function.facts.plan.paths.back_edges
            crossed = sum(function.edge_counts[e] for e in back if edges[e].dst == each.crossing.site)
            assert each.least == crossed


# The command line.


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table")
    (folder / "t.c").write_text(TABLE_5)
    (folder / "other.c").write_text(TABLE_5.replace('"223"', '"332"'))
    for name, options in (("edges", ()), ("paths", ("--profile=paths",)), ("trace", ("--profile=trace",))):
        must("run", "-q", *options, "-o", f"{name}.trod", "t.c", "-O0", cwd=folder)
    must("run", "-q", "--profile=paths", "-o", "one.trod", "t.c", "-O0", cwd=folder)
    must("run", "-q", "--profile=paths", "--overlap=max", "-o", "max.trod", "t.c", "-O0", cwd=folder)
    must("run", "-q", "--profile=paths", "--overlap=max", "-o", "max2.trod", "other.c", "-O0", cwd=folder)
    return folder


def test_a_report_of_longer_paths(table: Path) -> None:
    printed = click(
        "report", table / "trace.trod", "--longer", "--function", "loop", "--top", "9", "--format", "table"
    ).stdout
    assert "the trace" in printed
    assert "loop  t.c  around the loop at line 4" in printed
    assert "first 5: *kinds == '1': true → 6: sink = 1;" in " ".join(printed.split())
    bounded = click(
        "report", table / "paths.trod", "--longer", "--function", "loop", "--format", "table"
    ).stdout
    assert "0 – 500" in bounded
    assert "alone" in bounded


def test_rows_for_programs(table: Path) -> None:
    rows = [
        line.split("\t")
        for line in click(
            "report", table / "max.trod", "--longer", "--format", "tsv", "--function", "loop"
        ).stdout.splitlines()
    ]
    loops = [row for row in rows if row[0] == "longer" and row[2] == "loop"]
    assert [(row[6], row[7], row[8]) for row in loops] == [("250", "250", "overlaps")] * 4
    (flow,) = [row for row in rows if row[:2] == ["flow", "loop"]]
    assert flow[2:] == ["1", "1000", "1000", "1000", "1000", "4", "4", "4", "overlaps"]


def test_a_profile_without_paths_is_refused(table: Path) -> None:
    for verb in ("report", "coverage"):
        with pytest.raises(UsageError, match="no paths were counted; run with --profile paths, or trace"):
            click(verb, table / "edges.trod", "--longer")


def test_bounds_are_for_longer_paths_only(table: Path) -> None:
    with pytest.raises(UsageError, match="--bounds: is for --longer; add that, or leave it out"):
        click("report", table / "paths.trod", "--bounds", "fixed")
    with pytest.raises(UsageError, match="--longer: is for --format json, not for lcov; leave it out"):
        click("export", table / "paths.trod", "--longer", "--format", "lcov")
    with pytest.raises(UsageError, match="--longer: takes one profile"):
        click("coverage", table / "paths.trod", table / "max.trod", "--longer")


def test_two_runs_differ_where_bounds_do_not_overlap(table: Path) -> None:
    found_in = click("diff", table / "max.trod", table / "max2.trod", "--longer", "--format", "json")
    document = json.loads(found_in.stdout)
    assert document["unpaired"] == []
    loop = [each for each in document["differences"] if each["function"] == "loop"]
    assert len(loop) == 4
    assert {each["sentence"].partition(", B")[0] for each in loop} == {
        "A 25.0% (250 of 1,000)",
        "A never in 1,000",
    }
    same = click("diff", table / "max.trod", table / "max.trod", "--longer", "--exit-code", "--format=table")
    assert same.exit_code == 0
    assert "No longer path has certainly changed" in same.stdout
    differing = (table / f"{name}.trod" for name in ("max", "max2"))
    assert process("diff", *map(str, differing), "--longer", "--exit-code").returncode == 1


def test_bounds_that_overlap_are_no_difference(table: Path) -> None:
    for name, other in (("paths", "one"), ("one", "paths")):
        result = click("diff", *(table / f"{each}.trod" for each in (name, other)), "--longer", "--json")
        document = json.loads(result.stdout)
        assert document["differences"] == []
        assert document["unknown"] > 0


def test_functions_with_other_graphs_cannot_be_compared(table: Path) -> None:
    result = click("diff", table / "paths.trod", table / "max.trod", "--longer", "--json")
    unpaired = json.loads(result.stdout)["unpaired"]
    assert {each["function"] for each in unpaired} == {"main"}
    assert all("control-flow graph differs" in each["reason"] for each in unpaired)


def test_coverage_of_longer_paths(table: Path) -> None:
    rows = [
        line.split("\t")
        for line in click(
            "coverage", table / "max.trod", "--longer", "--format", "tsv", "--function", "loop"
        ).stdout.splitlines()
    ]
    assert ["kind", "loop", "4", "0", "5", "9"] in rows
    bounded = [
        line.split("\t")
        for line in click(
            "coverage", table / "paths.trod", "--longer", "--format", "tsv", "--function", "loop"
        ).stdout.splitlines()
    ]
    assert ["kind", "loop", "0", "6", "3", "9"] in bounded


def test_counted_calls_are_those_with_call_sites(table: Path) -> None:
    profile = trodden.load(table / "max.trod")
    counted = CountedCalls(profile, {}, None)  # type: ignore[arg-type]
    assert counted.functions == {"loop", "main"}
    assert CountedCalls(trodden.load(table / "paths.trod"), {}, None).functions == set()  # type: ignore[arg-type]
