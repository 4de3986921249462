"""Agreement of lines, edges and paths with other counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.figures.edge_agreement import edge_differences
from bench.figures.line_agreement import compare
from bench.figures.path_agreement import path_agreement
from bench.oracles.line_differences import Difference, Reason
from bench.support.errors import BenchError
from tests.profile.making import function, profile_of, unit_of
from tests.profile.walking import facts_of, path_profile
from trodden.program.facts import Skipped

DIAMOND = "a>b a>c b>d c>d d>exit"
FLOW = {"a>b": 4, "a>c": 6, "b>d": 4, "c>d": 6, "d>exit": 10}


def test_only_lines_that_another_tool_knows_are_compared() -> None:
    ours = {"a": {1: 5, 2: 6, 3: 1, 4: 0, 5: 2, 6: 8}}
    clangs, gccs = {"a": {1: 5, 2: 7, 6: 8}}, {"a": {2: 6, 4: 0, 5: 1, 6: 4}}
    found = compare(ours, {"clang": clangs, "gcc": gccs, "regions": {"a": {2: 6, 6: 4}}})
    assert (found.lines, found.ran) == (5, 4)
    assert found.known == {"clang": 3, "gcc": 4, "regions": 2}
    assert found.equal == {"clang": 2, "gcc": 2, "regions": 1}
    assert (found.apart, found.apart_equal, found.against) == (4, 2, 1)
    assert found.unequal == [Difference("a", 5, 2, None, 1, None)]
    assert found.outvoted == {("a", 2)}
    document = found.as_json({found.unequal[0]: None})
    assert (document["lines"], document["ran"], document["against"]) == (5, 4, 1)
    assert document["equal"] == {"clang": 2, "gcc": 2, "regions": 1}
    row = {"file": "a", "line": 5, "ours": 2, "clang": None, "gcc": 1, "regions": None, "reason": ""}
    assert document["differences"] == [row]
    named = found.as_json({found.unequal[0]: Reason.STARTS})
    assert named["differences"][0]["reason"] == Reason.STARTS.value


def test_every_count_that_differs_between_two_placements_is_named() -> None:
    unit = unit_of(function("f", DIAMOND))
    one = profile_of(unit, {"f": FLOW}).functions["f"]
    other = profile_of(unit, {"f": {**FLOW, "a>b": 5, "b>d": 5, "d>exit": 11}}).functions["f"]
    assert edge_differences(one, one) == []
    found = edge_differences(one, other)
    assert found[0] == "f: a -> b: 4, with its own counter 5"
    assert "f: b: 4, with counters on every edge 5" in found
    another = profile_of(unit_of(function("f", "a>b b>exit")), {"f": {"a>b": 1, "b>exit": 1}}).functions["f"]
    assert edge_differences(one, another) == ["f: the graphs differ"]


def test_a_profile_of_paths_without_differences() -> None:
    profile = path_profile([facts_of("f", DIAMOND)], {"f": {"a b d": 4, "a c d": 6}})
    found = path_agreement(profile, "p")
    assert (found["functions"], found["paths"], found["differences"], found["not profiled"]) == (1, 2, 0, [])


def test_a_function_without_paths_is_an_error() -> None:
    edges = profile_of(unit_of(function("f", DIAMOND)), {"f": FLOW})
    with pytest.raises(BenchError, match="p: f has a profile without paths"):
        path_agreement(edges, "p")


def test_a_function_without_a_profile_has_to_have_a_reason() -> None:
    profile = path_profile([facts_of("f", DIAMOND)], {"f": {"a b d": 4}})
    silent = replace(profile, skipped=(Skipped("g", ""),))
    with pytest.raises(BenchError, match="p: g has no profile, and no reason is given"):
        path_agreement(silent, "p")
