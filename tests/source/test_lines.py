"""Line counts, after cases that are data and after laws that hold for any flow."""

from __future__ import annotations

import random
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.making import Place, function, profile_of, unit_counts_of, unit_of
from trodden.plan.counters.blocks import every_block
from trodden.plan.counters.edges import every_edge
from trodden.profile.assemble import assemble
from trodden.program.facts import Subprogram
from trodden.source.lines import LineCount, line_counts, lines_of_function
from trodden.weigh.features.block_features import FunctionFeatures

CASES = tomllib.loads((Path(__file__).parents[1] / "cases" / "lines.toml").read_text())["case"]
FILES = ["/src/a.c", "/src/a.h"]


def _location(value: int | str) -> Place:
    """``7``, ``1:7`` in another file, ``1:7@2`` in an inlined instance."""
    if isinstance(value, int):
        return value
    where, _, instance = value.partition("@")
    file, line = where.split(":")
    return int(file), int(line), int(instance or 0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_case(case: dict[str, Any]) -> None:
    lines = {label: [_location(value) for value in values] for label, values in case["lines"].items()}
    inlined = [_location(value) for value in case.get("inlined", ())]
    unit = unit_of(function("f", case["shape"], lines, line=0, inlined=inlined), files=FILES)
    profile = profile_of(unit, {"f": case["flow"]})
    assert profile.functions["f"].violations == ()
    expected: dict[str, dict[int, LineCount]] = {}
    for name, count in case["count"].items():
        file, line = name.split(":")
        expected.setdefault(FILES[int(file)], {})[int(line)] = LineCount(count)
    assert line_counts(profile) == expected


def test_instances_of_a_line_are_added() -> None:
    unit = unit_of(
        function("swap<int>", "a>exit", {"a": [(1, 7)]}, file=1, line=7),
        function("swap<char>", "a>exit", {"a": [(1, 7)]}, file=1, line=7),
        function("main", "a>b b>exit", {"a": [1], "b": [(1, 7)]}),
        files=FILES,
    )
    flows = {"swap<int>": {"a>exit": 3}, "swap<char>": {"a>exit": 4}, "main": {"a>b": 1, "b>exit": 1}}
    lines = line_counts(profile_of(unit, flows))
    assert lines["/src/a.h"] == {7: LineCount(8)}
    assert lines["/src/a.c"] == {1: LineCount(1)}


def test_a_call_that_does_not_return_still_counts() -> None:
    unit = unit_of(function("f", "a>b b>b b>exit", {"a": [1], "b": [2]}))
    profile = assemble("p", [unit], [unit_counts_of(unit, {"f": {"a>b": 1, "b>b": 4}}, {(0, 1): 1})])
    assert line_counts(profile) == {"/src/a.c": {1: LineCount(1), 2: LineCount(5)}}


def test_without_edge_counts_a_line_has_the_count_of_its_busiest_block() -> None:
    lines = {"a": [1], "b": [2], "c": [2], "d": [3], "e": [4]}
    unit = unit_of(function("f", "a>b a>c b>d b>e c>d c>e d>exit e>exit", lines, planner=every_block))
    flow = {"a>b": 3, "a>c": 4, "b>d": 3, "c>e": 4, "d>exit": 3, "e>exit": 4, "@a": 7}
    counts = line_counts(profile_of(unit, {"f": flow}))["/src/a.c"]
    assert counts == {
        1: LineCount(7),
        2: LineCount(7),
        3: LineCount(3, exact=False),
        4: LineCount(4, exact=False),
    }


def _random_walks(seed: int, size: int, walks: int) -> tuple[str, dict[str, int]]:
    """A function of ``size`` blocks, and how often random walks through it take its edges."""
    chance = random.Random(seed)
    edges = {(v, chance.randrange(size)) for v in range(size) for _ in range(chance.randrange(1, 4))}
    edges |= {(v, v + 1) for v in range(size)}
    ordered = sorted(edges, key=lambda edge: edge != (0, 1))
    successors = {v: [dst for src, dst in ordered if src == v] + [v + 1] for v in range(size)}
    name = [*(f"b{v}" for v in range(size)), "exit"]
    flow: dict[str, int] = {}
    for _ in range(walks):
        here = 0
        while here != size:
            there = chance.choice(successors[here])
            flow[f"{name[here]}>{name[there]}"] = flow.get(f"{name[here]}>{name[there]}", 0) + 1
            here = there
    return " ".join(f"{name[src]}>{name[dst]}" for src, dst in ordered), flow


@settings(deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 8), st.integers(0, 6), st.integers(1, 4))
def test_laws_of_line_counts(seed: int, size: int, walks: int, lines: int) -> None:
    shape, flow = _random_walks(seed, size, walks)
    located = {f"b{v}": [1 + v % lines, 100 + v] for v in range(size)}
    made = profile_of(unit_of(function("f", shape, located, planner=every_edge)), {"f": flow}).functions["f"]
    numbers = {label: number for number, label in enumerate(made.facts.graph.labels)}
    counts = {line: found.count for (_, line), found in lines_of_function(made).items()}
    for v in range(size):
        assert counts[100 + v] == made.block_counts[numbers[f"b{v}"]]
    for line in range(1, min(lines, size) + 1):
        members = [made.block_counts[numbers[f"b{v}"]] for v in range(size) if 1 + v % lines == line]
        assert max(members) <= counts[line] <= sum(members)


def test_a_generated_file_with_everything_on_one_line_takes_no_time() -> None:
    shape, flow = _random_walks(7, 3000, 2)
    located = {f"b{v}": [1] for v in range(3000)}
    made = profile_of(unit_of(function("f", shape, located, planner=every_edge)), {"f": flow}).functions["f"]
    [(_, found)] = lines_of_function(made).items()
    assert max(made.block_counts[:-1]) <= found.count <= sum(made.block_counts[:-1])


def _stopped(stops: dict[tuple[int, int | None, int], int], ended: int, **facts: Any) -> dict[int, LineCount]:
    """The lines 1 to 4 of a block that ran ten times; a call is on line 1, and two are on line 3."""
    told = function("f", "a>exit", {"a": [1, 2, 3, 4]}, line=0)
    told = replace(told, blocks=(replace(told.blocks[0], **({"call_lines": (0, 2, 2)} | facts)),))
    unit = unit_of(told)
    counted = unit_counts_of(unit, {"f": {"a>exit": 10 - ended}}, {(0, 0): ended})
    counted = replace(counted, stops={(0, *stop): times for stop, times in stops.items()})
    return dict(line_counts(assemble("p", [unit], [counted]))["/src/a.c"])


def test_lines_behind_a_call_that_did_not_return() -> None:
    ended: dict[tuple[int, int | None, int], int] = {(0, None, 0): 2, (0, None, 1): 3, (0, None, 2): 1}
    counts = {1: LineCount(10), 2: LineCount(8), 3: LineCount(8), 4: LineCount(4)}
    assert _stopped(ended, 6) == counts


def test_lines_behind_a_fault() -> None:
    counts = {1: LineCount(10), 2: LineCount(10), 3: LineCount(9), 4: LineCount(9)}
    assert _stopped({(0, None, -3): 1}, 1) == counts
    before = {line: LineCount(9) for line in (1, 2, 3, 4)}
    assert _stopped({(0, None, -1): 1}, 1) == before


def test_a_forked_child_executes_what_comes_behind_the_call() -> None:
    unit = {1: LineCount(10), 2: LineCount(11), 3: LineCount(11), 4: LineCount(11)}
    assert _stopped({(0, None, 0): -1}, -1) == unit


def test_where_only_the_block_is_known_lines_behind_its_calls_are_not_exact() -> None:
    counts = {1: LineCount(10)} | {line: LineCount(10, exact=False) for line in (2, 3, 4)}
    assert _stopped({}, 3) == counts
    assert _stopped({}, 3, call_lines=None) == counts
    later = {line: LineCount(10) for line in (1, 2, 3)} | {4: LineCount(10, exact=False)}
    assert _stopped({}, 3, call_lines=(2,)) == later


def test_an_added_line_is_no_line_of_its_block() -> None:
    counts = {1: LineCount(10), 2: LineCount(10), 4: LineCount(10)}
    assert _stopped({}, 0, added_lines=(2,)) == counts


def _with_inlined(entries: int, left: int, calls: int) -> dict[int, LineCount]:
    """``square`` (lines 5 to 8) was inlined into main, where its line 6 is left; nobody calls it."""
    square = function("square", "a>exit", {"a": [6, 7]}, line=5)
    blocks: dict[str, list[Place]] = {"a": [2]}
    blocks["a"] += [(0, 6, 1 + number) for number in range(left)]
    main = function("main", "a>exit", blocks, line=1, inlined=[2] * left)
    main = replace(
        main,
        optimised=True,
        callees=(Subprogram("square", 0, 5),) * left,
        inlined_symbols={"square": calls} if calls else {},
    )
    unit = unit_of(square, main)
    return dict(line_counts(profile_of(unit, {"main": {"a>exit": entries}}))["/src/a.c"])


def test_lines_of_an_inlined_function_are_counted_or_unknown() -> None:
    unknown = LineCount(0, exact=False, known=False)
    main = {1: LineCount(3), 2: LineCount(3)}
    assert _with_inlined(3, 1, 1) == main | {5: LineCount(3), 6: LineCount(3), 7: unknown}
    assert _with_inlined(3, 2, 2) == main | {5: LineCount(6), 6: LineCount(6), 7: unknown}
    assert _with_inlined(3, 0, 1) == main | dict.fromkeys((5, 6, 7), unknown)
    assert _with_inlined(3, 0, 0) == main | dict.fromkeys((5, 6, 7), LineCount(0))
    assert _with_inlined(0, 1, 1) == dict.fromkeys((1, 2, 5, 6, 7), LineCount(0))


@pytest.mark.parametrize("inlining", [0, 1])
def test_a_copy_that_another_unit_has_inlined_may_have_been_executed(inlining: int) -> None:
    local = FunctionFeatures(local=True)
    square = replace(function("square", "a>exit", {"a": [6]}, line=5, fingerprint="s"), features=local)
    main = replace(
        function("main", "a>exit", {"a": [2]}), optimised=True, inlined_symbols={"square": 1}, shared=True
    )
    units = [unit_of(square, function("other", "a>exit")), unit_of(square)]
    units[inlining] = unit_of(*units[inlining].functions, main)
    counted = [unit_counts_of(unit, {"main": {"a>exit": 1}}) for unit in units]
    profile = assemble("x", units, counted)
    assert len(profile.functions["square"].copies) == 2
    unknown = LineCount(0, exact=False, known=False)
    lines = line_counts(profile)["/src/a.c"]
    assert {line: lines[line] for line in (2, 5, 6)} == {2: LineCount(1), 5: unknown, 6: unknown}
