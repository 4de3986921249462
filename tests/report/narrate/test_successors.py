"""Branches and their successors, in words."""

from __future__ import annotations

from pathlib import Path

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
    copy = {"inlined_at": [], "copy": 1, "copies": 1}
    assert branches.branch_document(each, 1) == {
        "file": None,
        "line": None,
        "text": None,
        "block": "b",
        **copy,
    }


def test_a_long_list_of_successors_is_cut() -> None:
    shape = " ".join(f"a>{c} {c}>exit" for c in "bcdefg")
    profile = path_profile([facts_of("f", shape)], {"f": {"a b": 1}})
    each, branches = profile.functions["f"], BranchDescriber(Describer(profile))
    assert (
        branches.successors(each, each.facts.graph.out_edges[0])
        == "to block b, to block c, to block d and 3 other successors"
    )


def test_a_condition_that_other_branches_decide_as_well_is_not_part_of_a_successor(tmp_path: Path) -> None:
    """Both branches may lead to the statement; if one of them never does, the condition may yet be true."""
    (tmp_path / "a.c").write_text("int f() {\nif (C(x) || C(y))\n z();\nreturn 0;\n}\n")
    lines = {"a": [2], "b": [2], "z": [3], "r": [4]}
    facts = facts_of("f", "a>z a>b b>z b>r z>r r>exit", lines)
    profile = path_profile([facts], {"f": {"a b r": 3}}, [f"{tmp_path}/a.c"])
    each, branches = profile.functions["f"], BranchDescriber(Describer(profile))
    assert [branches.successor(each, edge) for edge in (0, 2)] == ["to line 3", "to line 3"]
    path = next(path for path in each.paths or () if path.count)
    [step, _] = branches.describer.describe(each, path).steps
    assert step.outcome_text is not None
    assert "false" in step.outcome_text
