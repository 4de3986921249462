"""Branches and their successors, in words."""

from __future__ import annotations

from tests.profile.walking import facts_of, path_profile
from trodden.report.narrate.paths import Describer
from trodden.report.narrate.successors import BranchDescriber


def test_successors_without_lines() -> None:
    profile = path_profile([facts_of("f", "a>b a>exit b>exit")], {"f": {"a b": 1}})
    each, branches = profile.functions["f"], BranchDescriber(Describer(profile))
    assert branches.branch(each, 0) == "f, block a"
    assert branches.successor(each, 0) == "to block b"
    assert branches.successor(each, 1) == "to the function exit"
    assert branches.successor(each, 2) == "to its only successor"
    assert branches.branch_document(each, 0)["line"] is None
    assert branches.branch_document(each, 1) == {"file": None, "line": None, "text": None, "block": "b"}


def test_a_long_list_of_successors_is_cut() -> None:
    shape = " ".join(f"a>{c} {c}>exit" for c in "bcdefg")
    profile = path_profile([facts_of("f", shape)], {"f": {"a b": 1}})
    each, branches = profile.functions["f"], BranchDescriber(Describer(profile))
    assert (
        branches.successors(each, each.facts.graph.out_edges[0])
        == "to block b, to block c, to block d and 3 other successors"
    )
