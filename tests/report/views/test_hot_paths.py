"""Which path is meant by a rank."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.profile.sample import sample
from tests.report.pathing import facts_of, path_sample, profile_of_walks
from trodden.errors import UsageError
from trodden.profile.model import Profile
from trodden.report.views.hot_paths import (
    executed_along,
    executed_in_all,
    holds_paths,
    hot_paths,
    need_paths,
    pick_path,
)


def _two(b_size: int = 3) -> Profile:
    one = facts_of("one", "a>b a>c b>exit c>exit", sizes={"b": b_size})
    walks = {"one": ["a b exit", *["a c exit"] * 3], "two": ["a exit"] * 9}
    return profile_of_walks([one, facts_of("two", "a>exit")], walks)


def _labels(profile: Profile, pattern: str | None = None) -> list[tuple[str, str, int]]:
    return [
        (hot.key, "".join(hot.function.facts.graph.labels[v] for v in hot.path.blocks), hot.path.count)
        for hot in hot_paths(profile, pattern)
    ]


def test_most_executed_instructions_come_first() -> None:
    assert _labels(_two()) == [("two", "a", 9), ("one", "ac", 3), ("one", "ab", 1)]
    assert _labels(_two(b_size=100))[0] == ("one", "ab", 1)
    assert _labels(_two(), "one") == [("one", "ac", 3), ("one", "ab", 1)]


def test_of_equals_the_more_frequent_comes_first() -> None:
    assert _labels(_two(b_size=15))[1:] == [("one", "ac", 3), ("one", "ab", 1)]


def test_shares_add_up() -> None:
    profile = _two()
    whole = executed_in_all(profile.functions.values())
    parts = [executed_along(hot.function, hot.path) for hot in hot_paths(profile)]
    assert sum(part.blocks for part in parts) == whole.blocks == 17
    assert sum(part.instructions for part in parts) == whole.instructions == 51


def test_a_path_by_rank_or_by_name() -> None:
    profile = _two()
    ranked = hot_paths(profile)
    for rank, hot in enumerate(ranked, 1):
        assert pick_path(profile, "x.trod", str(rank)) == (rank, hot)
    assert pick_path(profile, "x.trod", "1", "one") == (1, ranked[1])
    assert pick_path(profile, "x.trod", f"one:{ranked[2].path.id}") == (2, ranked[2])


@pytest.mark.parametrize(
    ("choice", "pattern", "message"),
    [
        ("0", None, "x.trod: there is no path 0; ranks are 1 to 3"),
        ("4", None, "x.trod: there is no path 4; ranks are 1 to 3"),
        ("3", "one", "x.trod: one: there is no path 3; ranks are 1 to 2"),
        ("x", None, "--path x: neither a rank in the report nor FUNCTION:ID; name a function before --path"),
        (
            "-1",
            None,
            "--path -1: neither a rank in the report nor FUNCTION:ID; name a function before --path",
        ),
        ("one:99", None, "one: no path with the number 99 was executed; see trodden report"),
        ("*:0", None, "--path *:0: several functions match, name one: two, one"),
        (
            "nix:0",
            None,
            "no function matches 'nix'; see trodden report for the names; a function that was inlined is part"
            " of those that call it",
        ),
    ],
)
def test_paths_that_are_not_there(choice: str, pattern: str | None, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        pick_path(_two(), "x.trod", choice, pattern)
    assert str(caught.value) == message


def test_a_function_that_never_ran(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"x\.trod: never: no path was executed"):
        pick_path(path_sample(tmp_path), "x.trod", "1", "never")


def test_a_profile_without_paths() -> None:
    assert not holds_paths(sample())
    assert holds_paths(_two())
    assert hot_paths(sample()) == []
    with pytest.raises(UsageError) as caught:
        need_paths(sample(), "x.trod")
    assert str(caught.value) == "x.trod holds no paths; run with --profile paths"
