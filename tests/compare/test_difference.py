"""Where two runs diverge, on programs whose fault is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.estimating.programs_as_profiles import gates, mixed, one_loop, option, reader, several, writer
from tests.profile.walking import facts_of, path_profile
from trodden.compare.difference import Basis, Comparison, compare
from trodden.compare.evidence import CONVINCING
from trodden.compare.model import Difference, Kind
from trodden.profile.model import FunctionProfile, Profile

DIAMONDS = "a>b a>c b>d c>d d>e d>f e>g f>g g>exit"


def _compare(first: Profile, second: Profile) -> Comparison:
    return compare(first.functions, second.functions)


def _found_at(found: Comparison, *kinds: Kind) -> list[tuple[str, str]]:
    """Function and block of the differences of some kinds, in the order of their rank."""
    return [(each.name, _block(each)) for each in found.differences if each.kind in kinds]


def _block(each: Difference) -> str:
    block = each.block if each.branching is None else each.branching.block
    if block is None:
        assert each.path is not None
        block = each.path.blocks[0]
    return each.function.facts.graph.labels[block]


def test_two_runs_of_the_same_are_the_same() -> None:
    found = _compare(reader(several("good", 50)), reader(several("good", 50)))
    assert found.same
    assert found.common[Basis.PATHS].static == found.common[Basis.PATHS].dynamic == 1.0


def test_a_run_that_is_only_longer_is_the_same() -> None:
    shape = facts_of("f", DIAMONDS)
    first = path_profile([shape], {"f": {"a b d e g": 3, "a c d f g": 1}})
    second = path_profile([shape], {"f": {"a b d e g": 30, "a c d f g": 10}})
    assert _compare(first, second).same


def test_common_paths_as_in_table_3() -> None:
    shape = facts_of("f", DIAMONDS, sizes={"f": 11})
    first = path_profile([shape], {"f": {"a b d e g": 3, "a c d e g": 1}})
    second = path_profile([shape], {"f": {"a b d e g": 8, "a b d f g": 1, "a c d f g": 1}})
    common = _compare(first, second).common[Basis.PATHS]
    assert (common.first, common.second, common.common) == (2, 3, 1)
    assert common.static == pytest.approx(1 / 3)
    assert common.dynamic == 0.8
    assert common.common_instructions == 8 * 5
    assert common.dynamic_instructions == pytest.approx(40 / (40 + 2 * 15))


@pytest.mark.parametrize("seed", range(2, 8))
@pytest.mark.parametrize("length", [1000, 5000])
def test_one_wrong_branch_in_a_thousand_comes_first_whatever_the_noise(seed: int, length: int) -> None:
    good = reader(several("good", 1000))
    bad = reader(mixed({"good": length - length // 1000, "bad": length // 1000}, seed), seed)
    found = _compare(good, bad)
    # The character that was refused, then the caller that saw it, then the complaint at the end.
    assert _found_at(found, Kind.PARTS) == [
        ("parse", "char"),
        ("main", "item"),
        ("main", "done"),
    ]
    assert found.differences[0].only_second
    assert [each.name for each in found.differences if each.kind is Kind.FOLLOWS] == ["complain"]
    kinds = [each.kind for each in found.differences]
    assert kinds == sorted(kinds)
    assert "hash" in {each.name for each in found.differences if each.kind is Kind.SHIFTS}


def test_what_vanished_is_reported_like_what_is_new() -> None:
    found = _compare(reader(mixed({"good": 999, "bad": 1})), reader(several("good", 1000), 2))
    first = found.differences[0]
    assert (first.name, _block(first), first.only_second) == ("parse", "char", False)
    assert first.evidence < 0


def test_one_cause_comes_before_its_many_consequences() -> None:
    found = _compare(writer(several("good", 1000)), writer(mixed({"good": 999, "bad": 1}), 2))
    assert _found_at(found, Kind.PARTS) == [("decide", "in"), ("write", "byte")]
    assert found.differences[1].what.second > 50 * found.differences[0].what.second


@pytest.mark.parametrize("bad", [1, 20, 500])
def test_the_location_does_not_depend_on_how_many_were_bad(bad: int) -> None:
    found = _compare(reader(several("good", 2000)), reader(mixed({"good": 2000 - bad, "bad": bad}), 3))
    assert _found_at(found, Kind.PARTS)[0] == ("parse", "char")


def test_repeated_trouble_comes_before_a_chance_novelty() -> None:
    found = _compare(one_loop(several("good", 20000)), one_loop(mixed({"good": 19979, "bad": 20, "grow": 1})))
    assert _found_at(found, Kind.PARTS) == [("main", "item"), ("insert", "in")]
    assert found.differences[0].evidence > CONVINCING > found.differences[1].evidence


def test_a_new_combination_of_known_edges_comes_before_noise() -> None:
    usual = {"plain": 600, "left": 200, "right": 200}
    found = _compare(gates(mixed(usual)), gates(mixed({**usual, "both": 1}), 2))
    first = found.differences[0]
    assert (first.kind, first.name, _block(first)) == (Kind.COMBINES, "gates", "mid")
    assert first.branching is not None
    assert first.branching.along
    shares = first.branching.shares
    assert (shares.first, shares.first_of, shares.second, shares.second_of) == (0, 200, 1, 201)
    assert all(each.kind is Kind.SHIFTS for each in found.differences[1:])


def test_a_branch_that_the_other_run_seldom_executed_does_not_come_first() -> None:
    shapes = [
        facts_of("hot", "in>usual in>rare usual>exit rare>x rare>y x>exit y>exit"),
        facts_of("read", "in>known in>new known>exit new>exit", line=20),
    ]
    first = path_profile(shapes, {"hot": {"in usual": 10**6, "in rare x": 1}, "read": {"in known": 200}})
    second = path_profile(
        shapes,
        {"hot": {"in usual": 10**6, "in rare x": 1, "in rare y": 1}, "read": {"in known": 200, "in new": 1}},
    )
    assert _found_at(_compare(first, second), Kind.PARTS) == [("read", "in"), ("hot", "rare")]


def test_shares_that_moved_are_ranked_by_evidence() -> None:
    found = _compare(
        gates(mixed({"plain": 600, "left": 200, "right": 200})),
        gates(mixed({"plain": 800, "left": 800, "right": 400}), 2),
    )
    assert {each.kind for each in found.differences} == {Kind.SHIFTS}
    first, *rest = found.differences
    assert (first.name, _block(first)) == ("gates", "in")
    assert first.evidence > CONVINCING
    assert all(abs(each.evidence) < CONVINCING for each in rest)
    assert first.what.first_share == 0.2
    assert first.what.second_share == 0.4


def test_a_few_more_iterations_of_a_loop_are_not_convincing() -> None:
    loop = facts_of("f", "in>head head>x head>y head>out x>head y>head out>exit")
    calls = 100

    def run(left: int, right: int) -> Profile:
        walk = "in" + " head x" * left + " head y" * right + " head out"
        return path_profile([loop], {"f": {walk: calls}})

    found = _compare(run(500, 500), run(520, 480))
    assert found.differences
    assert all(abs(each.evidence) < CONVINCING for each in found.differences)


def test_an_option_that_changes_everything_is_found_where_it_matters_and_where_it_was_read() -> None:
    found = _compare(option(several("x", 300)), option(["option", *several("x", 299)]))
    parts = _found_at(found, Kind.PARTS)
    assert set(parts) == {("process", "in"), ("main", "in")}


def test_a_function_that_one_run_alone_entered_is_one_difference() -> None:
    shapes = [facts_of("f", DIAMONDS), facts_of("g", "a>b b>a b>exit")]
    first = path_profile(shapes, {"f": {"a b d e g": 3}})
    second = path_profile(shapes, {"f": {"a b d e g": 3}, "g": {"a b a b": 2, "a b": 1}})
    (only,) = _compare(first, second).differences
    assert (only.kind, only.name, only.what.second) == (Kind.FOLLOWS, "g", 3)
    assert len(only.more) == 2
    assert only.path is not None
    assert only.path.starts.value == "entry"


def test_paths_with_the_same_new_edge_are_one_difference() -> None:
    shape = facts_of("f", DIAMONDS)
    first = path_profile([shape], {"f": {"a b d e g": 50, "a b d f g": 50}})
    second = path_profile([shape], {"f": {"a b d e g": 40, "a b d f g": 40, "a c d e g": 15, "a c d f g": 5}})
    parting = [each for each in _compare(first, second).differences if each.kind is Kind.PARTS]
    assert len(parting) == 1
    assert parting[0].path is not None
    assert (parting[0].path.count, parting[0].what.second, len(parting[0].more)) == (15, 20, 1)


def test_a_call_that_did_not_return() -> None:
    shape = facts_of("f", "a>b b>exit", calls={"b": 1})
    first, second = (path_profile([shape], {"f": walks}) for walks in ({"a b": 9}, {"a b": 8, "a b!": 1}))
    first_difference = _compare(first, second).differences[0]
    assert first_difference.kind is Kind.COMBINES
    assert first_difference.branching is None


def test_a_self_loop_is_compared_although_it_is_part_of_no_path() -> None:
    shape = facts_of("f", "a>b b>b b>c c>exit")
    first, second = (
        path_profile([shape], {"f": walks}) for walks in ({"a b c": 9}, {"a b c": 8, "a b b c": 1})
    )
    found = _compare(first, second)
    assert found.common[Basis.PATHS].common == 1
    assert [(each.kind, each.edge) for each in found.differences if each.kind is Kind.PARTS] == [
        (Kind.PARTS, 1)
    ]


def _without(profile: Profile, edges: bool = True) -> Mapping[str, FunctionProfile]:
    """The functions without their paths, and without their edges too."""
    return {
        name: replace(
            each, paths=None, edge_counts=each.edge_counts if edges else [None] * len(each.edge_counts)
        )
        for name, each in profile.functions.items()
    }


def test_edges_are_compared_where_there_are_no_paths() -> None:
    good, bad = reader(several("good", 1000)), reader(mixed({"good": 999, "bad": 1}), 2)
    found = compare(_without(good), _without(bad))
    assert set(found.common) == {Basis.EDGES}
    assert (found.differences[0].name, _block(found.differences[0])) == ("parse", "char")
    assert found.by_counts == ()
    mixed_up = compare(good.functions, _without(bad))
    assert set(mixed_up.by_counts) == {"hash", "parse", "complain", "main"}


def test_blocks_are_compared_where_there_are_no_edges() -> None:
    good, bad = reader(several("good", 1000)), reader(mixed({"good": 999, "bad": 1}), 2)
    found = compare(_without(good), _without(bad, edges=False))
    assert set(found.common) == {Basis.BLOCKS}
    assert (found.differences[0].name, _block(found.differences[0])) == ("parse", "wrong")
    assert {each.kind for each in found.differences if each.name == "complain"} == {Kind.FOLLOWS}


def test_functions_of_other_builds() -> None:
    first = path_profile([facts_of("f", DIAMONDS), facts_of("old", "a>exit"), facts_of("same", "a>exit")], {})
    second = path_profile([facts_of("f", "a>exit"), facts_of("same", "a>exit")], {"same": {"a": 1}})
    found = _compare(first, second)
    assert {(each.name, each.first) for each in found.unpaired} == {("f", True), ("f", False), ("old", True)}
    assert [each.name for each in found.differences] == ["same"]
    assert not found.same


def test_paths_that_end_at_other_edges_are_compared_by_edges() -> None:
    first = path_profile([facts_of("f", DIAMONDS)], {"f": {"a b d e g": 3}})
    second = path_profile([facts_of("f", DIAMONDS, cuts=["d>e"])], {"f": {"a b d e g": 3}})
    found = _compare(first, second)
    assert (set(found.common), found.by_counts) == ({Basis.EDGES}, ("f",))
    assert found.same
