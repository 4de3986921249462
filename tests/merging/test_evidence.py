"""Runs combined as evidence: no run dominates another, and the result is still a profile."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings

from tests.graphs import costs_for, graphs, leaving_graphs, seeds, walks_for
from tests.merging.merging import facts_for, joined, lawful, part_of, profile_for, unit_for
from tests.profile.making import Flow, function, graph_of, profile_of, unit_of
from trodden.collect.call_paths import CallPath
from trodden.errors import UsageError
from trodden.graph.cfg import Graph
from trodden.merging.evidence import Evidence
from trodden.plan.counters.blocks import every_block
from trodden.plan.counters.edges import eprof, every_edge
from trodden.plan.interpret import tally
from trodden.plan.paths.plan import path_plan
from trodden.profile.model import FunctionProfile

IF = "a>b a>c b>d c>d d>exit"


def _if(taken: int, not_taken: int) -> Flow:
    return {"a>b": taken, "a>c": not_taken, "b>d": taken, "c>d": not_taken, "d>exit": taken + not_taken}


def _share(found: FunctionProfile) -> float:
    taken, other = (found.edge_counts[edge] or 0 for edge in found.facts.graph.out_edges[0])
    return taken / (taken + other)


def test_a_long_run_does_not_dominate_a_short_one() -> None:
    unit = unit_of(function("f", IF))
    runs = [profile_of(unit, {"f": _if(*counts)}) for counts in ((900_000, 100_000), (20, 80))]
    found = joined(Evidence(), runs).functions["f"]
    lawful(found)
    # By the mean of the odds 9 : 1 and 1 : 4 it would be 0.6; a hundredth of the short run is not trusted.
    assert _share(found) == pytest.approx(0.6, abs=0.01)
    assert found.entries == 2_000_000


def test_no_run_vetoes_another() -> None:
    unit = unit_of(function("f", IF))
    runs = [profile_of(unit, {"f": _if(*counts)}) for counts in ((1_000_000, 0), (0, 100))]
    found = joined(Evidence(), runs).functions["f"]
    lawful(found)
    assert 0.5 < _share(found) < 0.65


def test_many_runs_with_equal_probabilities_keep_them() -> None:
    """By Dempster's rule alone, sixty runs of ten iterations each would iterate for ever."""
    unit = unit_of(function("f", "a>b b>b b>exit"))
    flow = {"a>b": 7, "b>b": 63, "b>exit": 7}
    found = joined(Evidence(), [profile_of(unit, {"f": flow})] * 60).functions["f"]
    lawful(found)
    assert found.edge_counts == [60 * 7, 60 * 63, 60 * 7, 60 * 7]


@settings(max_examples=150, deadline=None)
@given(leaving_graphs(), seeds())
def test_a_single_run_is_unchanged(graph: Graph, seed: int) -> None:
    walks = walks_for(graph, seed)
    unit = unit_for(facts_for(graph, eprof(graph, costs_for(graph, seed))))
    profile = profile_for(unit, [walks])
    found = joined(Evidence(), [profile]).functions["f"]
    truth = tally(graph, walks)
    assert (found.block_counts, found.edge_counts) == (truth.blocks, truth.edges)
    assert found.cut_short == truth.early


@settings(max_examples=150, deadline=None)
@given(graphs(), seeds())
def test_the_result_obeys_the_flow_law_and_has_every_edge_that_was_taken(graph: Graph, seed: int) -> None:
    """Also where graphs are irreducible, where calls do not return, and from other builds."""
    rng = Random(seed)
    costs = costs_for(graph, seed)
    paths = path_plan(graph, costs, may_be_cut_short=frozenset(range(graph.exit)))
    plans = [eprof(graph, costs), every_edge(graph), paths]
    walks = [walks_for(graph, seed + number, walks=rng.choice([2, 40])) for number in range(3)]
    profiles = [
        profile_for(unit_for(facts_for(graph, plan), folder=f"/{number}"), [walked])
        for number, (plan, walked) in enumerate(zip(plans, walks, strict=True))
    ]
    evidence = Evidence()
    found = joined(evidence, profiles).functions["f"]
    lawful(found)
    truth = tally(graph, [walk for walked in walks for walk in walked])
    if not evidence.unjoined.functions():
        assert [bool(count) for count in found.edge_counts] == [bool(count) for count in truth.edges]
        assert found.cut_short.keys() == truth.early.keys()


def test_runs_are_scaled_to_the_same_length() -> None:
    unit = unit_of(function("f", "a>exit"), function("g", "a>exit"))
    long, short = (
        profile_of(unit, {"f": {"a>exit": f}, "g": {"a>exit": g}}) for f, g in ((900, 100), (1, 9))
    )
    found = joined(Evidence(), [long, short]).functions
    assert (found["f"].entries, found["g"].entries) == (1000, 1000)


def test_what_cannot_be_evidence_is_listed() -> None:
    graph = graph_of("f", "a>b b>exit")
    unit = unit_for(facts_for(graph, every_edge(graph)))
    profile = profile_for(unit, [[[0, 1]]])
    twice = replace(profile.unit_counts[0], counters=[1, 4], active={(0, 1): -3})
    wrong = replace(profile.unit_counts[0], counters=[1, 4])
    for counted, reason in ((twice, "control was resumed"), (wrong, "contradict each other")):
        evidence = Evidence()
        joined(evidence, [profile, replace(profile, unit_counts=(counted,))])
        (listed,) = evidence.unjoined.functions()
        assert (listed.name, listed.where, listed.ran) == ("f", "1.trod", True)
        assert reason in listed.reason


def test_unbounded_counts_are_listed() -> None:
    unit = unit_of(function("f", IF), function("g", IF))
    flows = {"f": _if(1 << 94, 1 << 94), "g": _if(1, 0)}
    evidence = Evidence()
    found = joined(evidence, [profile_of(unit, flows)] * 3)
    (listed,) = evidence.unjoined.functions()
    assert (listed.name, listed.reason) == ("f", "its counts would be larger than a file may hold")
    assert (found.functions["f"].entries, found.functions["g"].entries) == (0, 3)


def test_the_result_needs_edge_profiles() -> None:
    graph = graph_of("f", IF)
    for plan, what in ((path_plan(graph, [1.0] * 6), "paths"), (every_block(graph), "blocks")):
        part = part_of(profile_for(unit_for(facts_for(graph, plan)), [[]]), "x.trod")
        with pytest.raises(UsageError, match=rf"x\.trod: counts {what}.*--combine sum"):
            Evidence().add(part)


def test_a_library_whose_paths_were_counted_is_listed() -> None:
    graph = graph_of("f", IF)
    program = unit_for(facts_for(graph, every_edge(graph)))
    library = replace(unit_for(facts_for(graph, path_plan(graph, [1.0] * 6), "g")), source="lib.c")
    first, other = profile_for(program, [[[0, 2, 4]]]), profile_for(library, [[[0, 2, 4]]])
    both = replace(first, units=(program, library), unit_counts=(*first.unit_counts, *other.unit_counts))
    evidence = Evidence()
    found = joined(evidence, [first, both])
    assert [(each.name, each.ran) for each in evidence.unjoined.functions()] == [("g", True)]
    assert "counts paths" in evidence.unjoined.functions()[0].reason
    assert {name: each.entries for name, each in found.functions.items()} == {"f": 3, "g": 0}


def test_the_profile_says_what_it_is() -> None:
    unit = unit_of(function("f", IF))
    profile = profile_of(unit, {"f": _if(3, 4)})
    assert "not the counts of any one run" in joined(Evidence(), [profile, profile]).messages[0]
    called = replace(profile, call_paths=(CallPath(((unit.id, 0),), 7),))
    found = joined(Evidence(), [called])
    assert found.call_paths == ()
    assert found.messages[1].startswith("call paths were left out")


def test_a_run_without_counts() -> None:
    unit = unit_of(function("f", IF))
    found = joined(Evidence(), [profile_of(unit, {}), profile_of(unit, {"f": _if(3, 4)})]).functions["f"]
    assert found.entries == 7
