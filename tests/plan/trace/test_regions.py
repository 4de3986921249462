"""The numbers of regions against all regions, spelled out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import costs_for, graphs, labels, seeds
from tests.plan.trace.procedures import Calls, flow_out, random_calls
from trodden.graph.cfg import Graph, build
from trodden.plan.probes import EmitEntry, EmitRegion, EmitRegionAt, EmitTripCount, Plan, Set, Trace
from trodden.plan.trace.paths import region_plan
from trodden.plan.trace.records import SYMBOLS
from trodden.plan.trace.regions import Region, RegionEnd, RegionNumbering


def plan_for(graph: Graph, found: Calls, seed: int = 1, limit: int = SYMBOLS) -> Plan:
    return region_plan(
        graph,
        costs_for(graph, seed),
        found.calls,
        counted=found.counted,
        resumes=found.resumes,
        landings=found.landings,
        tails=found.tails,
        entered=found.entered,
        limit=limit,
    )


def regions_from(graph: Graph, trace: Trace, start: int) -> Iterator[Region]:
    """All regions that start at a block, by following every edge."""
    loops = {graph.edges[edge].src: edge for edge in trace.counted}
    work: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [((start,), (), ())]
    while work:
        blocks, edges, passed = work.pop()
        block = blocks[-1]
        if block == graph.exit:
            yield Region(blocks[:-1], edges, passed, RegionEnd.EXIT)
            continue
        if block in trace.calls:
            yield Region(blocks, edges, passed, RegionEnd.CALL)
            continue
        if block in loops:
            passed = (*passed, loops[block])
        ways = [edge for edge in flow_out(graph, block) if edge not in trace.counted]
        if not ways:
            yield Region(blocks, edges, passed, RegionEnd.STUCK)
        for edge in ways:
            target = graph.edges[edge].dst
            if edge in trace.back_edges:
                yield Region(blocks, (*edges, edge), passed, RegionEnd.BACK_EDGE, target)
            elif edge in trace.cuts:
                yield Region(blocks, (*edges, edge), passed, RegionEnd.CUT, target)
            else:
                work.append(((*blocks, target), (*edges, edge), passed))


LIMITS = st.sampled_from([0, 1, 2, 5, 20, SYMBOLS])


@settings(max_examples=150)
@given(graphs(), seeds(), LIMITS)
def test_every_region_has_a_number_of_its_own(graph: Graph, seed: int, limit: int) -> None:
    plan = plan_for(graph, random_calls(graph, seed), seed, limit)
    assert plan.trace is not None
    numbering = RegionNumbering(graph, plan.trace)
    for start in numbering.starts:
        expected = list(regions_from(graph, plan.trace, start))
        found = [numbering.expand(start, number) for number in range(numbering.paths(start))]
        assert sorted(found, key=repr) == sorted(expected, key=repr)
        for number, region in enumerate(found):
            at_call = region.ends is RegionEnd.CALL
            assert numbering.number_of(start, region.edges, at_call) == number
        with pytest.raises(ValueError, match="no region"):
            numbering.expand(start, len(found))


@settings(max_examples=150)
@given(graphs(), seeds())
def test_starts_are_where_control_can_arrive(graph: Graph, seed: int) -> None:
    plan = plan_for(graph, random_calls(graph, seed), seed, 3)
    assert plan.trace is not None
    numbering = RegionNumbering(graph, plan.trace)
    starts, work = set(), [graph.root]
    while work:
        start = work.pop()
        if start in starts:
            continue
        starts.add(start)
        for region in regions_from(graph, plan.trace, start):
            if region.next_start is not None:
                work.append(region.next_start)
            elif region.ends is RegionEnd.CALL:
                work += [graph.edges[edge].dst for edge in flow_out(graph, region.blocks[-1])]
    assert set(numbering.starts) == starts


@settings(max_examples=150)
@given(graphs(max_blocks=12, max_edges=30), seeds(), LIMITS)
def test_no_more_regions_than_the_limit_and_the_branches_demand(graph: Graph, seed: int, limit: int) -> None:
    plan = plan_for(graph, random_calls(graph, seed), seed, limit)
    assert plan.trace is not None
    numbering = RegionNumbering(graph, plan.trace)
    for block in range(graph.exit):
        assert numbering.paths_from[block] <= max(limit, len(graph.out_edges[block]), 1)


def test_two_equal_branches_are_cut_together() -> None:
    """Ten branches in a row: cutting only one edge of each upper branch would cost half a record each."""
    flow = [
        edge for n in range(0, 30, 3) for edge in ((n, n + 1), (n, n + 2), (n + 1, n + 3), (n + 2, n + 3))
    ]
    graph = build("branches", labels(31), [*flow, (30, 31)])
    weights = [0.5] * 40 + [1.0, 1.0]
    plan = region_plan(graph, weights, {})
    assert plan.trace is not None
    (first, second) = plan.trace.cuts
    assert graph.edges[first].src == graph.edges[second].src == 6
    weights[8] = 0.001
    plan = region_plan(graph, weights, {})
    assert plan.trace is not None
    assert set(plan.trace.cuts) > {8}
    assert {graph.edges[edge].src for edge in plan.trace.cuts} == {3, 6}


def test_a_loop_around_a_call_has_one_record_for_each_turn() -> None:
    """Neither the way to the first call is written, nor do regions end where the loop turns."""
    graph = build("loop", labels(3), [(0, 1), (1, 2), (2, 1), (1, 3)])
    plan = region_plan(graph, [1.0, 9.0, 9.0, 1.0, 1.0], {2: None})
    assert plan.trace is not None
    assert plan.trace.back_edges == ()
    numbering = RegionNumbering(graph, plan.trace)
    assert {start: numbering.paths(start) for start in numbering.starts} == {0: 2, 1: 2}
    assert plan.on_entry[0] == EmitEntry()
    assert [type(probe) for probe in plan.on_blocks[2]] == [EmitRegionAt]
    assert [type(probe) for probe in plan.on_edges[3]] == [EmitRegionAt]


def test_what_is_silent() -> None:
    """A chain of calls: between any two there is a record, before the first one there is none."""
    graph = build("chain", labels(3), [(0, 1), (1, 2), (2, 3)])
    weights = [1.0] * 4
    calls: dict[int, int | None] = {0: None, 1: None}
    plan = region_plan(graph, weights, calls)
    assert plan.on_blocks == {1: (EmitRegionAt(0),)}
    assert plan.on_edges == {2: (EmitRegionAt(0),)}
    inner = region_plan(graph, weights, calls, entered=False)
    assert inner.on_entry == ()
    assert inner.on_blocks == {1: (EmitRegionAt(0),)}
    assert inner.on_edges == {}
    again = region_plan(graph, weights, calls, resumes=[0])
    assert again.on_blocks == {}
    leaf = region_plan(graph, weights, {})
    assert (leaf.on_entry, leaf.on_blocks, leaf.on_edges) == ((EmitEntry(),), {}, {})


def test_self_loops_are_counted_or_end_regions() -> None:
    graph = build("self", labels(2), [(0, 0), (0, 0), (0, 1), (1, 1), (1, 2)])
    plan = region_plan(graph, [1.0] * 6, {}, counted=[0, 3])
    assert plan.trace is not None
    assert plan.trace.counted == (0, 3)
    assert plan.trace.back_edges == (1,)
    assert plan.on_edges[2][0] == EmitTripCount(0)
    assert plan.on_edges[1][0] == EmitTripCount(0)
    assert isinstance(plan.on_edges[1][1], EmitRegion | EmitRegionAt)
    assert plan.on_edges[4][0] == EmitTripCount(3)
    numbering = RegionNumbering(graph, plan.trace)
    assert {numbering.expand(0, n).loops for n in range(2)} == {(0,), (0, 3)}


def test_an_endless_loop_has_a_record_for_each_turn() -> None:
    graph = build("endless", labels(2), [(0, 1), (1, 0)])
    plan = region_plan(graph, [1.0] * len(graph.edges), {})
    assert plan.on_edges == {1: (EmitRegionAt(0),)}


def test_the_register_is_set_only_for_what_is_written() -> None:
    graph = build("chain", labels(4), [(0, 1), (1, 2), (2, 3), (3, 4)])
    plan = region_plan(graph, [1.0] * 5, {1: None, 2: None})
    assert not any(isinstance(probe, Set) for probes in plan.on_edges.values() for probe in probes)


@pytest.mark.parametrize(
    ("trace", "problem"),
    [
        (Trace("paths", back_edges=(1,), calls={1: None}), "several blocks"),
        (Trace("paths", cuts=(2,)), "in any case"),
        (Trace("paths"), "leave a cycle"),
        (Trace("paths", back_edges=(1,), counted=(0,)), "no self loop"),
        (Trace("paths", back_edges=(9,)), "no edge 9"),
        (Trace("paths", calls={7: None}), "no such block"),
        (Trace("paths", calls={0: None}, cuts=(0,)), "in any case"),
        (Trace("paths", calls={}, resumes=(0,)), "without a call"),
        (Trace("paths", calls={0: None}, tails=(0,), back_edges=(1,)), "takes the place"),
    ],
)
def test_a_trace_that_does_not_fit_is_refused(trace: Trace, problem: str) -> None:
    graph = build("loop", labels(2), [(0, 1), (1, 0), (1, 2)])
    with pytest.raises(ValueError, match=problem):
        RegionNumbering(graph, trace)
