"""Profiles of different builds: the sum of all counts where functions are the same, a reason elsewhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.graphs import costs_for, graphs, seeds, walks_for
from tests.merging.merging import Walks, facts_for, joined, lawful, part_of, profile_for, unit_for
from tests.profile.making import function, graph_of, profile_of, unit_of
from trodden.collect.call_paths import CallPath
from trodden.errors import OtherBuild
from trodden.graph.cfg import Graph
from trodden.merging.sum import Sums
from trodden.merging.transfer import NO_EDGES
from trodden.plan.counters.blocks import every_block, vprof_by_blocks
from trodden.plan.counters.blocks_by_edges import vprof_by_edges
from trodden.plan.counters.edges import checked, eprof, every_edge
from trodden.plan.interpret import tally
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Plan
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import FunctionFacts, UnitFacts

BLOCK_PLANS = ("vprof-blocks", "vprof-edges", "every-block")
EDGE_PLANS = ("eprof", "every-edge", "checked")


def plan_of(kind: str, graph: Graph, seed: int) -> Plan:
    costs = costs_for(graph, seed)
    match kind:
        case "eprof":
            return eprof(graph, costs)
        case "every-edge":
            return every_edge(graph)
        case "checked":
            return checked(graph, costs)
        case "vprof-blocks":
            return vprof_by_blocks(graph, [1.0] * len(graph.labels))
        case "every-block":
            return every_block(graph)
        case "vprof-edges":
            return vprof_by_edges(graph, costs)
    rng = Random(seed)
    return path_plan(
        graph,
        costs,
        limit=None,
        dense=rng.choice([0, 1 << 18]),
        may_be_cut_short=frozenset(range(graph.exit)),
        timed=kind == "timed-paths",
    )


def _one(graph: Graph, plan: Plan, walks: Walks, build: int) -> Profile:
    return profile_for(unit_for(facts_for(graph, plan, addend=7 * build), folder=f"/{build}"), [walks])


@settings(max_examples=150, deadline=None)
@given(graphs(), st.lists(st.sampled_from([*EDGE_PLANS, "paths"]), min_size=1, max_size=4), seeds())
def test_other_placements_merge_exactly(graph: Graph, kinds: list[str], seed: int) -> None:
    """Everything that determines edges can be merged into an edge profile."""
    kinds = ["eprof", *kinds]
    walks = [walks_for(graph, seed + number) for number in range(len(kinds))]
    profiles = [
        _one(graph, plan_of(kind, graph, seed + number), walked, number)
        for number, (kind, walked) in enumerate(zip(kinds, walks, strict=True))
    ]
    sums = Sums()
    found = joined(sums, profiles).functions["f"]
    truth = tally(graph, [walk for walked in walks for walk in walked])
    assert not sums.unjoined.functions()
    lawful(found)
    assert (found.block_counts, found.edge_counts) == (truth.blocks, truth.edges)
    assert found.cut_short == truth.early


@settings(max_examples=150, deadline=None)
@given(graphs(), seeds(), st.sampled_from(["paths", "timed-paths"]))
def test_tables_of_one_numbering_merge_path_by_path(graph: Graph, seed: int, kind: str) -> None:
    """The register holds other numbers in each build; paths that were cut short are matched nevertheless."""
    plans = [plan_of("paths", graph, seed), *(plan_of(kind, graph, seed + number) for number in (1, 2))]
    walks = [walks_for(graph, seed + number) for number in range(3)]
    profiles = [
        _one(graph, plan, walked, number)
        for number, (plan, walked) in enumerate(zip(plans, walks, strict=True))
    ]
    assume(not any(profile.functions["f"].violations for profile in profiles))
    sums = Sums()
    found = joined(sums, profiles).functions["f"]
    assert not sums.unjoined.functions()
    assert _paths(found) == sum((_paths(profile.functions["f"]) for profile in profiles), Counter())
    truth = tally(graph, [walk for walked in walks for walk in walked])
    assert (found.block_counts, found.edge_counts) == (truth.blocks, truth.edges)
    assert found.cut_short == truth.early


def _paths(function: FunctionProfile) -> Counter[int]:
    return Counter({path.id: path.count for path in function.paths or ()})


@settings(max_examples=100, deadline=None)
@given(graphs(), st.sampled_from(BLOCK_PLANS), st.sampled_from([*EDGE_PLANS, *BLOCK_PLANS, "paths"]), seeds())
def test_other_profiles_merge_into_block_profiles(graph: Graph, first: str, second: str, seed: int) -> None:
    walks = [walks_for(graph, seed + number) for number in range(2)]
    profiles = [
        _one(graph, plan_of(kind, graph, seed + number), walked, number)
        for number, (kind, walked) in enumerate(zip((first, second), walks, strict=True))
    ]
    sums = Sums()
    found = joined(sums, profiles).functions["f"]
    refused = sums.unjoined.functions()
    assert all(each.reason == NO_EDGES and first == "vprof-edges" for each in refused)
    truth = tally(graph, walks[0] if refused else [*walks[0], *walks[1]])
    assert found.block_counts == truth.blocks
    assert found.cut_short == truth.early


DIAMOND = graph_of("f", "a>b a>c b>d c>d d>a d>e e>exit")
ROW = " ".join(f"a{i}>b{i} a{i}>c{i} b{i}>a{i + 1} c{i}>a{i + 1}" for i in range(6)) + " a6>exit"
WALKS = [[0, 2, 5, 6], [1, 3, 4, 0, 2, 5, 6]]


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("paths", "eprof", "its paths were not counted there"),
        ("timed-paths", "paths", "its paths were not timed there"),
    ],
)
def test_a_build_without_matching_functions_is_refused(first: str, second: str, reason: str) -> None:
    sums = Sums()
    sums.add(part_of(_one(DIAMOND, plan_of(first, DIAMOND, 1), WALKS, 1), "1.trod"))
    with pytest.raises(OtherBuild, match=rf"2\.trod: of another build.*1\.trod \({reason}\)"):
        sums.add(part_of(_one(DIAMOND, plan_of(second, DIAMOND, 1), WALKS, 2), "2.trod"))


def test_what_cannot_be_merged_is_listed_with_its_reason() -> None:
    same = "a>b a>c b>exit c>exit"
    one = unit_of(
        function("same", same),
        function("changed", same),
        function("cut", ROW, planner=lambda graph: path_plan(graph, [1.0] * len(graph.edges), limit=4)),
        files=["/one/a.c"],
    )
    two = unit_of(
        function("same", same),
        function("changed", "a>b b>exit"),
        function("cut", ROW, planner=lambda graph: path_plan(graph, [1.0] * len(graph.edges))),
        function("new", same),
        files=["/two/a.c"],
    )
    flow = {"a>b": 2, "a>c": 1, "b>exit": 2, "c>exit": 1}
    sums = Sums()
    found = joined(sums, [profile_of(one, {"same": flow}), profile_of(two, {"same": flow, "new": flow})])
    assert found.functions["same"].edge_counts == [4, 2, 4, 2, 6]
    listed = [(each.name, each.where, each.reason, each.ran) for each in sums.unjoined.functions()]
    assert listed == [
        ("new", "1.trod", "the other build has no such function", True),
        ("changed", "1.trod", "its control-flow graph differs in the other build", False),
        ("cut", "1.trod", "its paths end on other edges there", False),
    ]


def test_block_counts_do_not_determine_edge_counters() -> None:
    """Four blocks whose edges form a cycle: the block counts do not determine the edges."""
    graph = graph_of("f", "a>b a>c b>d b>e c>d c>e d>exit e>exit")
    walks = [[0, 2, 6], [0, 3, 7], [1, 4, 6], [1, 5, 7]]
    units = [
        unit_for(facts_for(graph, plan), facts_for(DIAMOND, eprof(DIAMOND, [1.0] * 8), "g"), folder=folder)
        for folder, plan in (("/one", every_edge(graph)), ("/two", every_block(graph)))
    ]
    sums = Sums()
    found = joined(sums, [profile_for(unit, [walks, WALKS]) for unit in units])
    assert [(each.name, each.reason) for each in sums.unjoined.functions()] == [
        ("f", "its edges were not counted there")
    ]
    assert found.functions["f"].entries == 4
    assert found.functions["g"].entries == 4


def test_contradicting_counts_are_not_merged() -> None:
    units = [
        unit_for(facts_for(DIAMOND, plan), folder=folder)
        for folder, plan in (("/one", eprof(DIAMOND, [1.0] * 8)), ("/two", every_edge(DIAMOND)))
    ]
    good, bad = (profile_for(unit, [WALKS]) for unit in units)
    counts = list(bad.unit_counts[0].counters)
    counts[0] += 3
    counted = replace(bad.unit_counts[0], counters=counts)
    sums = Sums()
    found = joined(sums, [good, replace(bad, unit_counts=(counted,))])
    assert [each.reason for each in sums.unjoined.functions()] == ["its counts contradict each other there"]
    assert found.functions["f"].edge_counts == good.functions["f"].edge_counts


def test_comdat_copies_merge_into_one() -> None:
    plan = eprof(DIAMOND, [1.0] * 8)
    shared = replace(facts_for(DIAMOND, plan), shared=True)
    one = unit_for(shared)
    copies = [
        unit_of(shared, function("g", "a>exit"), files=[f"/two/{name}.c"], skipped=[(name, "x")])
        for name in "ab"
    ]
    first = profile_for(one, [WALKS])
    second = replace(
        first,
        units=tuple(copies),
        unit_counts=tuple(profile_for(unit, [WALKS, []]).unit_counts[0] for unit in copies),
    )
    found = joined(Sums(), [first, second])
    assert found.functions["f"].edge_counts == tally(DIAMOND, 3 * WALKS).edges


def test_a_library_that_only_some_runs_loaded_is_included() -> None:
    plan = eprof(DIAMOND, [1.0] * 8)
    program = unit_for(facts_for(DIAMOND, plan))
    library = replace(unit_for(facts_for(DIAMOND, plan, "g"), folder="/lib"), source="lib.c")
    first = profile_for(program, [WALKS])
    both = replace(
        first,
        units=(program, library),
        unit_counts=(first.unit_counts[0], profile_for(library, [WALKS]).unit_counts[0]),
    )
    sums = Sums()
    found = joined(sums, [first, both, first])
    assert {name: each.entries for name, each in found.functions.items()} == {"f": 6, "g": 2}
    assert not sums.unjoined.functions()


def test_a_recompiled_file_merges_only_its_own_functions() -> None:
    """``helper`` is static in both files; that of b.c has changed and now equals that of a.c."""
    plan = eprof(DIAMOND, [1.0] * 8)
    helper = facts_for(DIAMOND, plan, "helper")
    changed = function("helper", "a>exit", fingerprint="other")

    def unit(facts: FunctionFacts, name: str) -> UnitFacts:
        return replace(unit_of(facts, files=[f"/{name}"]), source=name)

    a, b, anew = unit(helper, "a.c"), unit(changed, "b.c"), unit(helper, "b.c")
    first = profile_for(a, [WALKS])
    old = replace(first, units=(a, b), unit_counts=(*first.unit_counts, *profile_for(b, [[]]).unit_counts))
    more = profile_for(anew, [WALKS]).unit_counts
    new = replace(first, units=(a, anew), unit_counts=(*first.unit_counts, *more))
    sums = Sums()
    found = joined(sums, [old, new])
    assert found.functions["a.c:helper"].entries == 4
    assert [(each.name, each.reason) for each in sums.unjoined.functions()] == [
        ("helper", "its control-flow graph differs in the other build")
    ]


def test_many_builds_at_once() -> None:
    """More builds than are kept at once: those that were transferred early count like the others."""
    profiles = [
        _one(DIAMOND, eprof(DIAMOND, costs_for(DIAMOND, number)), WALKS, number) for number in range(12)
    ]
    found = joined(Sums(), [*profiles, *profiles]).functions["f"]
    assert found.entries == 48
    lawful(found)


def test_call_paths_are_summed_and_refer_to_the_same_functions() -> None:
    plan = eprof(DIAMOND, [1.0] * 8)
    units = [
        unit_for(facts_for(DIAMOND, plan, "f"), facts_for(DIAMOND, plan, last), folder=folder)
        for folder, last in (("/one", "g"), ("/two", "h"))
    ]
    one, two = (profile_for(unit, [WALKS, WALKS]) for unit in units)
    (first, second) = (unit.id for unit in units)
    one = replace(one, call_paths=(CallPath(((first, 0),), 3), CallPath(((first, 0), (first, 1)), 2)))
    lost = CallPath(((second, 0), (second, 1)), 9)
    two = replace(two, call_paths=(CallPath(((second, 0),), 4, True), lost))
    found = joined(Sums(), [one, two, one])
    assert found.call_paths == (
        CallPath(((first, 0),), 10, True),
        CallPath(((first, 0), (first, 1)), 4),
    )
    assert found.messages == ("1 call paths lead over functions that were not joined",)
    some = joined(Sums(), [one, replace(one, call_paths=())])
    assert some.messages == ("call paths are those of 1 of 2 profiles; the others kept none",)
