"""The figures of BL96 Table 2 on functions where they can be counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.profile.walking import facts_of, path_profile
from trodden.profile.analysis.stats import Stats, predicted_edge, stats, stats_of, stats_together
from trodden.program.facts import BranchKind

DIAMONDS = "a>b a>c b>d c>d d>e d>f e>g f>g g>exit"


def _of(walks: dict[str, int], sizes: dict[str, int] | None = None) -> Stats:
    profile = path_profile([facts_of("f", DIAMONDS, sizes=sizes)], {"f": walks})
    return stats_of(profile.functions["f"])


def test_lengths_are_weighted_by_frequency() -> None:
    profile = path_profile(
        [facts_of("f", "a>b a>d b>c c>d d>exit", sizes={"c": 10})], {"f": {"a d": 3, "a b c d": 1}}
    )
    found = stats_of(profile.functions["f"])
    assert (found.possible, found.paths, found.cut_short) == (2, 2, 0)
    assert (found.lengths.longest_edges, found.lengths.longest_instructions) == (4, 13)
    assert found.lengths.average_edges == (3 * 2 + 4) / 4
    assert found.lengths.average_instructions == (3 * 2 + 13) / 4


def test_the_edge_profile_predicts_what_is_most_frequent_everywhere() -> None:
    found = _of({"a b d e g": 6, "a c d f g": 3, "a b d f g": 1})
    assert (found.predicted, found.predicted_walks) == (1, 6)
    assert found.correct == pytest.approx(1 / 3)
    assert found.correct_walks == 0.6


def test_what_is_predicted_ends_before_the_first_misprediction() -> None:
    found = _of({"a b d e g": 6, "a c d f g": 3, "a b d f g": 1}, {"d": 5})
    lengths = found.predicted_lengths
    assert lengths.longest_edges == 4 + 1
    assert lengths.average_edges == (6 * 5 + 3 * 0 + 1 * 2) / 10
    assert lengths.average_instructions == (6 * 9 + 3 * 1 + 1 * 7) / 10


def test_an_edge_profile_can_predict_a_path_that_was_never_executed() -> None:
    found = _of({"a b d e g": 2, "a c d e g": 1, "a b d f g": 2, "a c d f g": 5})
    assert found.paths == 4
    assert found.predicted == 1
    none = _of({"a b d f g": 3, "a c d e g": 2, "a b d e g": 2})
    assert none.predicted == 1
    parted = path_profile(
        [facts_of("f", "a>b a>c a>x b>d c>d x>d d>e d>f d>y e>g f>g y>g g>exit")],
        {"f": {"a b d f g": 4, "a c d e g": 3, "a x d e g": 3}},
    )
    assert stats_of(parted.functions["f"]).predicted == 0


def test_ties_go_to_the_edge_that_is_not_taken() -> None:
    profile = path_profile([facts_of("f", "a>b a>c b>exit c>exit")], {"f": {"a b": 4, "a c": 4}})
    function = profile.functions["f"]
    assert function.facts.blocks[0].kind is BranchKind.IF
    assert predicted_edge(function, 0) == 1
    many = path_profile([facts_of("f", "a>b a>c a>d b>exit c>exit d>exit")], {"f": {"a b": 4, "a d": 4}})
    branching = many.functions["f"]
    blocks = replace(branching.facts.blocks[0], kind=BranchKind.SWITCH), *branching.facts.blocks[1:]
    assert predicted_edge(replace(branching, facts=replace(branching.facts, blocks=blocks)), 0) == 0


def test_loops_start_paths_of_their_own() -> None:
    loop = facts_of("f", "in>head head>body head>out body>head out>exit")
    found = stats_of(path_profile([loop], {"f": {"in head body head body head out": 1}}).functions["f"])
    assert (found.paths, found.lengths.walks) == (3, 3)
    assert found.lengths.longest_edges == 3
    assert found.predicted == 2


def test_a_self_loop_is_no_part_of_a_path() -> None:
    loop = facts_of("f", "a>b b>b b>c c>exit")
    found = stats_of(path_profile([loop], {"f": {"a b b b b c": 2}}).functions["f"])
    assert (found.paths, found.lengths.longest_edges, found.predicted) == (1, 3, 1)


def test_the_executed_part_of_a_path_that_was_cut_short_counts() -> None:
    found = _of({"a b d e g": 3, "a b!": 1})
    assert (found.paths, found.cut_short, found.predicted) == (2, 1, 2)
    assert found.lengths.average_edges == (3 * 5 + 1) / 4


def test_the_program_and_its_routines() -> None:
    profile = path_profile(
        [facts_of("f", DIAMONDS), facts_of("g", "a>exit"), facts_of("h", DIAMONDS)],
        {"f": {"a b d e g": 6, "a c d f g": 3, "a b d f g": 1}, "g": {"a": 10}},
    )
    each = stats(profile.functions)
    whole = stats_together(each.values())
    assert (whole.possible, whole.paths, whole.routines) == (9, 4, 2)
    assert (whole.most_paths, whole.average_paths) == (3, 2.0)
    assert whole.correct == 0.5
    assert whole.lengths.longest_edges == 5
    assert whole.lengths.average_edges == (10 * 5 + 10 * 1) / 20
    assert Stats().correct == Stats().average_paths == Stats().lengths.average_edges == 0
