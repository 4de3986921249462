"""Branches and the ways out of them, in words."""

from __future__ import annotations

from tests.profile.walking import facts_of, path_profile
from trodden.report.narrate.paths import Describer
from trodden.report.narrate.successors import Ways


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
