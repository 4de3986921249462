"""Statistics of paths and paths that two runs have in common, by hand: BL96 Tables 2 and 3."""

from __future__ import annotations

from bench.figures.common_paths import common_figures, common_paths
from bench.figures.path_statistics import path_statistics
from tests.profile.walking import facts_of, path_profile

DIAMONDS = "a>b a>c b>d c>d d>e d>f e>g f>g g>exit"
SIZES = {"a": 2, "b": 10, "c": 1, "d": 1, "e": 1, "f": 5, "g": 1}


def test_paths_their_lengths_and_their_prediction_by_edges() -> None:
    walks = {"a b d e g": 6, "a c d e g": 3, "a c d f g": 1}
    found = path_statistics(path_profile([facts_of("f", DIAMONDS, sizes=SIZES)], {"f": walks}))
    assert (found["possible"], found["paths"], found["routines"], found["most_paths"]) == (4, 3, 1, 3)
    lengths = found["lengths"]
    assert (lengths["longest_edges"], lengths["longest_instructions"], lengths["walks"]) == (5, 15, 10)
    assert (lengths["edges"], lengths["instructions"]) == (50, 6 * 15 + 3 * 6 + 10)
    assert (found["predicted"], found["predicted_walks"]) == (1, 6)
    assert found["predicted_lengths"]["instructions"] == 6 * 15 + 4 * 2


def test_the_most_frequent_paths_and_the_hot_ones() -> None:
    straight = facts_of("g", "a>exit", sizes={"a": 1000})
    walks = {"f": {"a b d e g": 9_000_000, "a c d f g": 999_000}, "g": {"a": 1_000}}
    found = path_statistics(path_profile([facts_of("f", DIAMONDS), straight], walks))
    assert found["paths"] == 3
    assert found["most_walks"] == 2
    assert found["hot"] == 3
    assert found["hot_instructions"] == 5 * 9_999_000 + 1_000_000


def test_a_path_with_too_few_instructions_is_not_hot() -> None:
    walks = {"a b d e g": 9_995, "a c d f g": 5}
    found = path_statistics(path_profile([facts_of("f", DIAMONDS)], {"f": walks}))
    assert (found["paths"], found["most_walks"], found["hot"], found["hot_instructions"]) == (2, 1, 1, 49_975)


def test_nothing_was_executed() -> None:
    found = path_statistics(path_profile([facts_of("f", DIAMONDS)], {}))
    assert (found["paths"], found["most_walks"], found["hot"]) == (0, 0, 0)


def test_paths_that_two_runs_have_in_common() -> None:
    facts = [facts_of("f", DIAMONDS, sizes=SIZES), facts_of("g", DIAMONDS)]
    train = path_profile(facts, {"f": {"a b d e g": 1, "a b d f g": 4}, "g": {"a b d e g": 1}})
    ref = path_profile(facts, {"f": {"a b d e g": 90, "a c d e g": 10}, "g": {"a c d e g": 100}})
    found = common_paths(train, ref)
    assert (found.train, found.ref, found.common) == (3, 3, 1)
    assert (found.walks, found.common_walks) == (200, 90)
    assert (found.instructions, found.common_instructions) == (90 * 15 + 10 * 6 + 500, 90 * 15)
    assert common_figures(train, ref)["common"] == 1


def test_a_run_has_all_paths_in_common_with_itself() -> None:
    ref = path_profile([facts_of("f", DIAMONDS)], {"f": {"a b d e g": 90, "a c d e g": 10}})
    found = common_paths(ref, ref)
    assert found.common == found.ref == 2
    assert found.common_walks == found.walks == 100
