"""Which paths were executed, which nearly, and several runs as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.making import function, profile_of, unit_of
from tests.profile.walking import facts_of, path_profile
from trodden.merging.join import join
from trodden.plan.paths.numbering import Numbering
from trodden.plan.routes import PathCount, PathEnd
from trodden.profile.analysis.coverage import Covered, FunctionCoverage, NearMiss, coverage
from trodden.profile.model import Profile
from trodden.program.facts import FunctionFacts, TruthPhi

DIAMONDS = "a>b a>c b>d c>d d>e d>f e>g f>g g>exit"
LOOP = "in>head head>body head>out body>x body>y x>head y>head out>exit"


def _covered(facts: FunctionFacts, walks: Mapping[str, int], top: int | None = None) -> FunctionCoverage:
    return coverage(path_profile([facts], {facts.name: walks}).functions, top).functions[0]


def _labels(found: FunctionCoverage, near: NearMiss) -> str:
    return " ".join(found.function.facts.graph.labels[v] for v in near.route.blocks)


def test_shares() -> None:
    found = _covered(facts_of("f", DIAMONDS), {"a b d e g": 5, "a b d f g": 2})
    assert found.paths == Covered(2, 4)
    assert found.paths is not None
    assert found.paths.share == 0.5
    assert found.blocks == Covered(6, 7)
    assert found.edges == Covered(7, 9)


def test_unreachable_blocks_are_not_expected() -> None:
    found = _covered(facts_of("f", "a>exit z>exit"), {"a": 1})
    assert (found.paths, found.blocks, found.edges) == (Covered(1, 1), Covered(1, 1), Covered(1, 1))


def test_a_function_that_was_never_executed() -> None:
    found = _covered(facts_of("f", DIAMONDS), {})
    assert found.paths == Covered(0, 4)
    assert found.near == ()


def test_near_misses_differ_in_one_branch_and_continue_along_the_hottest_edges() -> None:
    found = _covered(facts_of("f", DIAMONDS), {"a b d e g": 5, "a b d f g": 2})
    assert [_labels(found, near) for near in found.near] == ["a c d e g"]
    near = found.near[0]
    assert (near.times, near.unseen, near.at) == (7, True, 0)
    assert near.instead == ((0, 7),)


def test_an_untaken_edge_precedes_hotter_combinations_but_once() -> None:
    shape = "a>b a>c b>d c>d d>e d>f d>h e>g f>g h>g g>exit"
    found = _covered(facts_of("f", shape), {"a b d e g": 1000, "a c d f g": 10})
    assert [(_labels(found, near), near.times, near.unseen) for near in found.near] == [
        ("a b d h g", 1000, True),
        ("a b d f g", 1000, False),
        ("a c d e g", 10, False),
        ("a c d h g", 10, True),
    ]
    limited = _covered(facts_of("f", shape), {"a b d e g": 1000, "a c d f g": 10}, 1)
    assert [_labels(limited, near) for near in limited.near] == ["a b d h g"]


def test_loops_end_paths_on_their_back_edges() -> None:
    found = _covered(facts_of("f", LOOP), {"in head body x head body x head out": 3})
    nearest = {(_labels(found, near), near.route.ends, near.times) for near in found.near}
    assert nearest == {
        ("in head out", PathEnd.EXIT, 3),
        ("in head body y", PathEnd.BACK_EDGE, 3),
        ("head body y", PathEnd.BACK_EDGE, 3),
    }
    assert found.near[0].unseen


def test_an_endless_path_is_a_near_miss_too() -> None:
    found = _covered(facts_of("f", "a>die a>b b>exit die>stop"), {"a b": 9})
    assert [(_labels(found, near), near.route.ends) for near in found.near] == [
        ("a die stop", PathEnd.UNWOUND)
    ]


def test_calls_that_did_not_return() -> None:
    found = _covered(facts_of("f", DIAMONDS), {"a b d e g": 1, "a b!": 4})
    assert found.paths == Covered(1, 4)
    assert found.cut_short == 1
    assert found.near[0].times == 5
    whole = _covered(facts_of("f", "a>die a>b b>exit"), {"a die!": 1, "a b": 1})
    assert (whole.paths, whole.cut_short) == (Covered(2, 2), 0)


def test_a_call_that_never_returns_is_no_branch() -> None:
    assert _covered(facts_of("f", "a>b b>exit"), {"a!": 3}).near == ()


def test_a_cut_ends_a_path() -> None:
    found = _covered(facts_of("f", DIAMONDS, cuts=["d>e"]), {"a b d f g": 6})
    assert [(_labels(found, near), near.route.ends) for near in found.near] == [
        ("a c d f g", PathEnd.EXIT),
        ("a b d", PathEnd.CUT),
    ]


def test_a_path_in_context_is_near_only_in_its_executed_part() -> None:
    profile = path_profile([facts_of("f", LOOP)], {"f": {"in head body x head out": 1}})
    each = profile.functions["f"]
    graph, paths = each.facts.graph, each.facts.plan.paths
    assert paths is not None
    numbering = Numbering(graph, replace(paths, context=True))
    routes = [numbering.regenerate(number) for number in range(numbering.number)]
    again = next(route for route in routes if route.context and route.ends is PathEnd.EXIT)
    number = numbering.number_of(again)
    path = PathCount(number, 1, again.blocks, again.edges, again.starts, again.ends, None, again.context)
    plan = replace(each.facts.plan, paths=replace(paths, context=True, number=numbering.number))
    function_ = replace(each, facts=replace(each.facts, plan=plan), paths=(path,))
    found = coverage({"f": function_}).functions[0]
    assert [_labels(found, near) for near in found.near] == ["in head body x"]
    near = found.near[0]
    assert (near.at, near.route.context) == (again.context, again.context)


WALKS = ["a b d e g", "a b d f g", "a c d e g", "a c d f g"]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(WALKS), st.integers(1, 50), min_size=1))
def test_near_misses_are_paths_that_were_not_executed(walks: dict[str, int]) -> None:
    facts = facts_of("f", DIAMONDS)
    found = _covered(facts, walks)
    assert facts.plan.paths is not None
    numbering = Numbering(facts.graph, facts.plan.paths)
    numbers = [numbering.number_of(near.route) for near in found.near]
    assert len(set(numbers)) == len(numbers)
    assert not set(numbers) & {path.id for path in found.function.paths or ()}
    assert bool(numbers) == (len(walks) < len(WALKS))
    assert [near.times for near in found.near if near.unseen] == sorted(
        (near.times for near in found.near if near.unseen), reverse=True
    )


def _profile(walks: Mapping[str, int], shape: str = DIAMONDS, cuts: tuple[str, ...] = ()) -> Profile:
    return path_profile([facts_of("f", shape, cuts=cuts)], {"f": walks})


def test_runs_of_one_build_are_joined() -> None:
    one, other = _profile({"a b d e g": 5}), _profile({"a b d e g": 1, "a c d f g": 2})
    joined, left_out = join([one.functions, other.functions])
    assert left_out == []
    found = coverage(joined).functions[0]
    assert found.paths == Covered(2, 4)
    assert [path.count for path in found.function.paths or ()] == [6, 2]
    assert found.function.block_counts[0] == 8
    assert found.edges == Covered(9, 9)


def test_another_graph_or_other_cuts_cannot_be_joined() -> None:
    one = _profile({"a b d e g": 5})
    for other in (_profile({"a": 7}, "a>exit"), _profile({"a b d e g": 1}, cuts=("d>e",))):
        joined, left_out = join([one.functions, other.functions])
        assert [(each.name, each.profile) for each in left_out] == [("f", 1)]
        assert joined["f"] is one.functions["f"]


def test_functions_of_one_build_only_are_included() -> None:
    one = _profile({"a b d e g": 5})
    other = path_profile([facts_of("g", "a>exit")], {"g": {"a": 1}})
    joined, left_out = join([one.functions, other.functions])
    assert (sorted(joined), left_out) == (["f", "g"], [])


def test_functions_without_paths_are_named() -> None:
    edges = profile_of(unit_of(function("e", "a>exit")), {})
    found = coverage({**_profile({"a b d e g": 1}).functions, **edges.functions})
    assert [(each.name, each.paths is None) for each in found.functions] == [("f", False), ("e", True)]
    assert found.functions[1].blocks == Covered(0, 1)
    assert found.without == ("e",)
    assert found.paths == Covered(1, 4)


def test_a_branch_that_was_decided_before_leads_to_one_successor_only() -> None:
    """``while (a && b)`` as it is compiled without optimisation: the second branch is on a phi."""
    facts = facts_of("f", "a>b a>end b>end end>body end>out body>exit out>exit")
    edges = {
        f"{facts.graph.labels[edge.src]}>{facts.graph.labels[edge.dst]}": number
        for number, edge in enumerate(facts.graph.edges)
    }
    end = facts.graph.labels.index("end")
    phi = TruthPhi({edges["a>end"]: False}, {}, tested=True)
    walks = {"a b end body": 3, "a b end out": 2}
    assert _covered(facts, walks).paths == Covered(2, 4)
    known = _covered(replace(facts, truths={end: phi}), walks)
    assert known.paths == Covered(2, 3)
    assert [_labels(known, near) for near in known.near] == ["a end out"]
