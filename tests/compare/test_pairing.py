"""Functions found again in another profile, and what counts are worth as evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.profile.making import function, unit_of
from tests.profile.walking import facts_of, path_profile, walked
from trodden.compare.evidence import CONVINCING, level, likelihood_ratio, per_call, rarity, rate_ratio
from trodden.compare.pairing import pair, same_paths
from trodden.profile.analysis.path_trie import PathTree
from trodden.profile.model import FunctionProfile


def _static(file: str, count: int = 1) -> FunctionProfile:
    unit = unit_of(facts_of("helper", "a>exit"), files=[file])
    return walked(unit, 0, {"a": count})


def test_static_functions_of_one_name_are_distinguished_by_file() -> None:
    first = {"x.c:helper": _static("/s/x.c"), "y.c:helper": _static("/s/y.c")}
    second = {"y.c:helper": _static("/s/y.c", 2), "x.c:helper": _static("/s/x.c", 2)}
    pairs, alone = pair(first, second)
    assert [(each.first.file, each.second.file) for each in pairs] == [
        ("/s/y.c", "/s/y.c"),
        ("/s/x.c", "/s/x.c"),
    ]
    assert alone == []


def test_a_directory_that_moved_is_no_hindrance_unless_it_leaves_doubt() -> None:
    pairs, alone = pair({"helper": _static("/old/x.c")}, {"helper": _static("/new/x.c")})
    assert len(pairs) == 1
    assert alone == []
    pairs, alone = pair(
        {"1": _static("/old/x.c"), "2": _static("/old/y.c")},
        {"3": _static("/new/x.c"), "4": _static("/new/y.c")},
    )
    assert pairs == []
    assert {each.reason for each in alone} == {"there are several of that name and graph"}


def test_a_fingerprint_distinguishes_more_than_a_graph() -> None:
    one = walked(unit_of(facts_of("f", "a>exit")), 0, {})
    other = replace(one, facts=replace(one.facts, fingerprint="x"))
    pairs, alone = pair({"f": one}, {"f": other})
    assert pairs == []
    assert [each.reason for each in alone] == ["its control-flow graph differs in the other build"] * 2
    assert [each.reason for each in pair({"f": one}, {})[1]] == ["the other build has no such function"]


def test_paths_are_the_same_if_they_end_at_the_same_edges() -> None:
    def run(*cuts: str) -> FunctionProfile:
        return path_profile([facts_of("f", "a>b b>exit", cuts=cuts)], {}).functions["f"]

    assert same_paths(run(), run())
    assert not same_paths(run(), run("a>b"))
    edges = replace(run(), facts=function("f", "a>b b>exit"), paths=None)
    assert not same_paths(run(), edges)


def test_the_likelihood_ratio() -> None:
    assert likelihood_ratio(10, 100, 20, 100) == pytest.approx(3.986, abs=0.001)
    assert likelihood_ratio(20, 100, 10, 100) == pytest.approx(-3.986, abs=0.001)
    assert likelihood_ratio(10, 100, 1000, 10000) == pytest.approx(0)
    assert likelihood_ratio(0, 1000, 1, 1000) == pytest.approx(1.387, abs=0.001)
    assert likelihood_ratio(0, 0, 5, 5) == 0.0
    assert likelihood_ratio(0, 5, 5, 5) > CONVINCING


def test_rates_may_exceed_one() -> None:
    assert rate_ratio(300, 100, 300, 100) == 0.0
    assert rate_ratio(300, 100, 600, 100) > CONVINCING
    assert rate_ratio(600, 100, 300, 100) < -CONVINCING
    assert rate_ratio(1, 0, 1, 1) == 0.0


def test_iterations_within_a_call_share_its_weight() -> None:
    assert per_call((1000, 1000), (10, 10)) == 0.01
    assert per_call((1000, 1000), (1, 1)) == 1.0
    assert per_call((5, 5), (10, 10)) == 1.0
    assert per_call((0, 0), (10, 10)) == 1.0


def test_levels_and_rarity() -> None:
    assert [level(x) for x in (0, 10, -10, 11, -11, 22, 44)] == [0, 0, 0, 1, 1, 2, 3]
    assert rarity(1, 1000) == rarity(1, 1001) == -10
    assert rarity(1, 1) == 0


def test_a_tree_of_paths() -> None:
    profile = path_profile(
        [facts_of("f", "a>b a>c b>d c>d d>e d>f e>g f>g g>exit")], {"f": {"a b d e g": 5, "a b d f g": 2}}
    )
    paths = profile.functions["f"].paths or ()
    tree = PathTree(paths)
    counts = [(block, node.count, node.edges()) for _, block, node in tree.nodes()]
    assert counts[:3] == [(0, 7, ()), (1, 7, (0,)), (3, 7, (0, 2))]
    assert len(counts) == 3 + 2 * 2
    assert [node.count for node in tree.follow(paths[1])] == [7, 7, 7, 2, 2, 2]
    other = path_profile([facts_of("f", "a>b a>c b>d c>d d>e d>f e>g f>g g>exit")], {"f": {"a c d e g": 1}})
    assert len(tree.follow((other.functions["f"].paths or ())[0])) == 1
