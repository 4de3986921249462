from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import costs_for, graphs, seeds, walks_for
from trodden.errors import BadFile, OtherBuild
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.graph.traverse import back_edges
from trodden.plan.interpret import Walk, interpret_paths, tally
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import (
    Add,
    Bump,
    Count,
    EdgeMeasure,
    Measure,
    Paths,
    Plan,
    Probe,
    RedundantMeasure,
    Set,
)
from trodden.plan.routes import PathCount, PathEnd, PathStart
from trodden.recover.budget import Budget
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.paths import PathFlow, recover_paths
from trodden.recover.sparse_counters import SparseCounters

Spelled = tuple[bool, tuple[int, ...], tuple[int, ...], PathEnd]


def is_loop(graph: Graph, edge: int) -> bool:
    return graph.edges[edge].src == graph.edges[edge].dst


def plain_plan(
    graph: Graph, cuts: Sequence[int] = (), resume_edges: Sequence[int] = (), dense: bool = True
) -> tuple[Plan, Numbering]:
    """Values on all edges, as in BL96 Figure 6 before anything is made cheaper: the register is the sum."""
    back = [
        edge for edge in sorted(back_edges(graph)) if not is_loop(graph, edge) and edge not in resume_edges
    ]
    paths = Paths(0, tuple(back), tuple(cuts), tuple(resume_edges), dense=dense)
    numbering = Numbering(graph, paths)
    starts = {(start.vertex, start.kind is PathStart.ENTRY): start.value for start in numbering.starts}
    probes: dict[int, list[Probe]] = {}
    for vertex in range(graph.exit):
        for way in numbering.successors(vertex):
            if way.ends is None:
                probes[way.edge] = [Add(way.value)]
            else:
                probes[way.edge] = [Bump(way.value)]
                if way.ends is not PathEnd.EXIT:
                    probes[way.edge].append(Set(starts[way.target, False]))
    measures: list[Measure] = []
    for edge in graph.flow_edges():
        if is_loop(graph, edge) and edge not in resume_edges:
            probes[edge] = [Count(len(measures))]
            measures.append(EdgeMeasure(edge))
    plan = Plan(
        "paths",
        tuple(measures),
        probes,
        on_entry=(Set(starts[graph.root, True]),),
        paths=replace(paths, number=numbering.number),
    )
    return plan, numbering


@dataclass
class Truth:
    """What walks did, path by path; a walk may appear again after a handler edge from anywhere."""

    ended: Counter[int] = field(default_factory=Counter)
    prefixes: Counter[tuple[int, int | None]] = field(default_factory=Counter)
    resumed: Counter[int] = field(default_factory=Counter)
    loops: Counter[int] = field(default_factory=Counter)
    spelled: Counter[Spelled] = field(default_factory=Counter)


def cut_by_hand(graph: Graph, numbering: Numbering, paths: Paths, walks: Sequence[Walk]) -> Truth:
    truth = Truth()
    values = {way.edge: way.value for v in range(graph.exit) for way in numbering.successors(v)}
    starts = {(start.vertex, start.kind is PathStart.ENTRY): start.value for start in numbering.starts}
    removed = {*paths.back_edges, *paths.cuts, *paths.resume_edges}
    for walk in walks:
        first, blocks, edges, total = True, [graph.root], list[int](), starts[graph.root, True]
        for edge in walk:
            src, dst, _ = graph.edges[edge]
            if src != blocks[-1]:
                truth.prefixes[blocks[-1], total] += 1
                truth.spelled[first, tuple(blocks), tuple(edges), PathEnd.UNWOUND] += 1
                truth.resumed[src] += 1
            elif src == dst and edge not in removed:
                truth.loops[edge] += 1
                continue
            else:
                edges.append(edge)
                total += values[edge]
                if dst != graph.exit and edge not in removed:
                    blocks.append(dst)
                    continue
                ends = PathEnd.EXIT if dst == graph.exit else PathEnd.CUT
                truth.ended[total] += 1
                ends = PathEnd.BACK_EDGE if edge in paths.back_edges else ends
                truth.spelled[first, tuple(blocks), tuple(edges), ends] += 1
            first, blocks, edges, total = False, [dst], [], starts.get((dst, False), 0)
        if blocks != [graph.exit]:
            truth.prefixes[blocks[-1], total] += 1
            truth.spelled[first, tuple(blocks), tuple(edges), PathEnd.UNWOUND] += 1
    return truth


def held(plan: Plan, truth: Truth) -> SparseCounters:
    """The counters after the walks."""
    counted = {
        slot: truth.loops[measure.edge]
        for slot, measure in enumerate(plan.measures)
        if isinstance(measure, EdgeMeasure)
    }
    if plan.paths is not None and plan.paths.dense:
        counted |= {len(plan.measures) + path: count for path, count in truth.ended.items()}
    return SparseCounters(plan.slots, counted)


def recovered(graph: Graph, plan: Plan, truth: Truth) -> PathFlow:
    sparse = {} if plan.paths is None or plan.paths.dense else {p: (n, 0) for p, n in truth.ended.items()}
    active = {block: -times for block, times in truth.resumed.items()}
    return recover_paths(graph, plan, FunctionCounts(held(plan, truth), active, truth.prefixes, sparse))


def spelled(paths: Sequence[PathCount]) -> Counter[Spelled]:
    return Counter({(p.starts is PathStart.ENTRY, p.blocks, p.edges, p.ends): p.count for p in paths})


def check(graph: Graph, plan: Plan, numbering: Numbering, walks: Sequence[Walk]) -> PathFlow:
    assert plan.paths is not None
    truth = cut_by_hand(graph, numbering, plan.paths, walks)
    expected = tally(graph, walks)
    flow = recovered(graph, plan, truth)
    assert flow.violations == ()
    assert flow.edges == expected.edges
    assert flow.blocks == expected.blocks
    assert flow.early == expected.early
    assert spelled(flow.paths) == truth.spelled
    assert [(-path.count, path.id) for path in flow.paths] == sorted((-p.count, p.id) for p in flow.paths)
    assert len({path.id for path in flow.paths}) == len(flow.paths)
    return flow


def some_cuts(graph: Graph, rng: random.Random) -> list[int]:
    able = [
        edge
        for edge in graph.flow_edges()
        if not is_loop(graph, edge) and graph.edges[edge].dst != graph.exit and edge not in back_edges(graph)
    ]
    return sorted(rng.sample(able, rng.randint(0, min(3, len(able)))))


@given(graphs(), seeds(), st.booleans())
@settings(max_examples=400)
def test_paths_give_back_what_was_walked(graph: Graph, seed: int, dense: bool) -> None:
    plan, numbering = plain_plan(graph, some_cuts(graph, random.Random(seed)), dense=dense)
    check(graph, plan, numbering, walks_for(graph, seed, walks=6))


def jumping_walk(graph: Graph, resume_edges: Sequence[int], rng: random.Random, steps: int) -> list[int]:
    """A walk that, once a handler edge was taken, may take it again from any later block."""
    walk: list[int] = []
    ready: list[int] = []
    while len(walk) < steps:
        vertex = graph.edges[walk[-1]].dst if walk else graph.root
        if vertex == graph.exit:
            break
        leaving = [edge for edge in graph.out_edges[vertex] if graph.edges[edge].kind is EdgeKind.FLOW]
        if ready and (not leaving or rng.random() < 0.2):
            walk.append(rng.choice(ready))
        elif leaving:
            walk.append(rng.choice(leaving))
            ready += [edge for edge in walk[-1:] if edge in resume_edges]
        else:
            break
    return walk


def some_resume_edges(graph: Graph, rng: random.Random) -> list[int]:
    """Edges that are the only ones out of their block, as after a call that ends it."""
    only = [outs[0] for outs in graph.out_edges if len(outs) == 1 and graph.edges[outs[0]].dst != graph.exit]
    able = [edge for edge in only if graph.edges[edge].kind is EdgeKind.FLOW]
    return sorted(rng.sample(able, rng.randint(0, min(2, len(able)))))


@given(graphs(), seeds())
@settings(max_examples=400)
def test_calls_that_return_twice(graph: Graph, seed: int) -> None:
    rng = random.Random(seed)
    resume_edges = some_resume_edges(graph, rng)
    plan, numbering = plain_plan(graph, resume_edges=resume_edges)
    walks = [jumping_walk(graph, resume_edges, rng, rng.randint(0, 30)) for _ in range(4)]
    check(graph, plan, numbering, walks)


def jumps(graph: Graph, walk: Walk) -> Counter[int]:
    """How often control was resumed in each block from another one."""
    came, found = graph.root, Counter[int]()
    for edge in walk:
        if graph.edges[edge].src != came:
            found[graph.edges[edge].src] += 1
        came = graph.edges[edge].dst
    return found


@given(
    graphs(),
    seeds(),
    st.sampled_from([1, 4, 4096, None]),
    st.sampled_from([0, 2**16]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=1200, deadline=None)
def test_every_placement_gives_back_what_was_walked(
    graph: Graph, seed: int, limit: int | None, dense: int, stack_slots: bool, context: bool, timed: bool
) -> None:
    rng = random.Random(seed)
    resume_edges = some_resume_edges(graph, rng)
    walks = [jumping_walk(graph, resume_edges, rng, rng.randint(0, 30)) for _ in range(5)]
    expected = tally(graph, walks)
    # A root that is come back to has two prefixes, entered and come back to, whatever is cut.
    stack_slots = stack_slots or len(graph.in_edges[graph.root]) > 1
    plan = path_plan(
        graph,
        costs_for(graph, seed),
        limit=limit,
        dense=dense,
        may_be_cut_short=frozenset(range(graph.exit)),
        stack_slots=stack_slots,
        resume_edges=resume_edges,
        context=context,
        timed=timed,
    )
    run = interpret_paths(graph, plan, walks)
    prefixes = Counter[tuple[int, int | None]]()
    for (block, register), times in run.prefixes.items():
        prefixes[block, register if stack_slots else None] += times
    resumed = sum((jumps(graph, walk) for walk in walks), Counter[int]())
    active = {block: -times for block, times in resumed.items()}
    flow = recover_paths(graph, plan, FunctionCounts(run.counters, active, prefixes, run.sparse))
    assert flow.violations == ()
    assert (flow.edges, flow.blocks, flow.early) == (expected.edges, expected.blocks, expected.early)
    whole = [path for path in flow.paths if path.ends is not PathEnd.UNWOUND]
    assert all((path.cycles is not None) is (timed and path in whole) for path in flow.paths)
    if timed and not prefixes:
        assert sum(path.cycles or 0 for path in whole) == sum(map(len, walks))
    assert all(len(path.blocks) == len(path.edges) for path in whole)
    assert context or not any(path.context for path in flow.paths)


def diamonds(number: int, loop: bool = True) -> Graph:
    """Diamonds in a row, perhaps in a loop: block 3k branches to 3k+1 and 3k+2, which join in 3k+3."""
    flow = [
        pair
        for top in range(0, 3 * number, 3)
        for pair in ((top, top + 1), (top, top + 2), (top + 1, top + 3), (top + 2, top + 3))
    ]
    last = 3 * number
    back = [(last, 0)] if loop else []
    return build("diamonds", [f"b{v}" for v in range(last + 1)] + ["EXIT"], [*flow, *back, (last, last + 1)])


def test_a_forked_child_goes_on_in_the_middle_of_a_path() -> None:
    """Parent and child both end the path, of which the first half was walked once."""
    graph = diamonds(2, loop=False)
    plan, numbering = plain_plan(graph)
    assert plan.paths is not None
    left, right = [0, 2, 4, 6, 8], [0, 2, 5, 7, 8]
    truth = cut_by_hand(graph, numbering, plan.paths, [left, right])
    (shared,) = cut_by_hand(graph, numbering, plan.paths, [left[:2]]).prefixes
    truth.prefixes[shared] -= 1
    flow = recovered(graph, plan, truth)
    assert flow.violations == ()
    assert flow.edges == [1, 0, 1, 0, 1, 1, 1, 1, 2, 1]
    assert flow.blocks == [1, 1, 0, 1, 1, 1, 2, 1]
    assert flow.early == {3: -1}
    assert [(path.count, path.ends) for path in flow.paths] == [(1, PathEnd.EXIT)] * 2


def test_nothing_was_walked() -> None:
    graph = diamonds(2)
    plan, _ = plain_plan(graph)
    flow = recover_paths(graph, plan, FunctionCounts([0] * plan.slots))
    assert flow == PathFlow([], [0] * 8, [0] * len(graph.edges), {})


def test_a_register_that_no_path_leaves_is_named() -> None:
    graph = diamonds(2)
    plan, numbering = plain_plan(graph)
    flow = recover_paths(graph, plan, FunctionCounts([0] * plan.slots, {}, {(4, 77): 2}))
    assert "block b4: 2 paths were cut short there as 77, but no path comes there so" in flow.violations
    assert flow.early == {4: 2}
    assert numbering.number == 16


def test_a_register_that_is_not_known_matters_only_where_ways_meet() -> None:
    graph = diamonds(2, loop=False)
    plan, _ = plain_plan(graph)
    flow = recover_paths(graph, plan, FunctionCounts([0] * plan.slots, {}, {(1, None): 3}))
    assert flow.violations == ()
    assert [(path.blocks, path.count) for path in flow.paths] == [((0, 1), 3)]
    flow = recover_paths(graph, plan, FunctionCounts([0] * plan.slots, {}, {(3, None): 3}))
    assert flow.violations == ("block b3: 3 paths were cut short there, and it is not known which",)
    assert (flow.early, flow.paths) == ({3: 3}, [])


def test_paths_that_start_behind_nothing_are_reported() -> None:
    graph = diamonds(1)
    plan, numbering = plain_plan(graph)
    behind = next(start.value for start in numbering.starts if start.kind is PathStart.BACK_EDGE)
    flow = recover_paths(graph, plan, FunctionCounts(SparseCounters(plan.slots, {behind: 5})))
    assert flow.violations[0] == "block b0: 5 paths start there after 0 that end"


def test_what_came_back_twice_has_to_start_a_path() -> None:
    graph = build("setjmp", ["S", "C", "EXIT"], [(0, 1), (1, 2)])
    plan, numbering = plain_plan(graph, resume_edges=[0])
    assert plan.paths is not None
    truth = cut_by_hand(graph, numbering, plan.paths, [[0, 0, 0, 1]])
    flow = recovered(graph, plan, truth)
    assert (flow.violations, flow.edges, flow.early) == ((), [3, 1, 1], {0: -2, 1: 2})
    assert {path.starts for path in flow.paths} == {PathStart.ENTRY, PathStart.RESUME}
    truth.resumed[0] = 1
    assert recovered(graph, plan, truth).violations == (
        "block S: control came back to it 1 times, but after it 2 more paths start than came there",
    )


def test_redundant_counters_are_compared() -> None:
    graph = diamonds(1, loop=False)
    plan, _ = plain_plan(graph)
    asked = replace(plan, measures=(RedundantMeasure(0), RedundantMeasure(1)))
    flow = recover_paths(graph, asked, FunctionCounts([3, 1, 3, 2]))
    assert flow.violations == ("edge b0 -> b2: the paths say 2, its own counter 1",)


def test_time_is_told_with_the_paths() -> None:
    graph = diamonds(1, loop=False)
    plan, _ = plain_plan(graph)
    assert plan.paths is not None
    timed = replace(plan, paths=replace(plan.paths, timed=True))
    flow = recover_paths(graph, timed, FunctionCounts([3, 0, 500, 0], {}, {(1, None): 1}))
    assert [(path.id, path.count, path.cycles) for path in flow.paths] == [(0, 3, 500), (4, 1, None)]
    strange = recover_paths(graph, timed, FunctionCounts([3, 0, 500, 7]))
    assert strange.violations == ("path 1 took time, but never ended",)
    sparse = replace(plan, paths=replace(plan.paths, timed=True, dense=False))
    flow = recover_paths(graph, sparse, FunctionCounts([], {}, {}, {1: (2, 90), 2: (1, 1)}))
    assert [(path.id, path.count, path.cycles) for path in flow.paths] == [(1, 2, 90)]
    assert flow.violations == ("path 2 was counted, but there are only 2",)


def test_counts_of_another_build_are_refused() -> None:
    graph = diamonds(2)
    plan, _ = plain_plan(graph)
    assert plan.paths is not None
    with pytest.raises(OtherBuild, match="17 counters where the plan has 16"):
        recover_paths(graph, plan, FunctionCounts([0] * 17))
    fewer = replace(plan, paths=replace(plan.paths, number=15))
    with pytest.raises(OtherBuild, match="its plan has 15 paths where its graph has 16"):
        recover_paths(graph, fewer, FunctionCounts([1] * 15))
    endless = replace(plan, paths=replace(plan.paths, back_edges=()))
    with pytest.raises(OtherBuild, match="leave a cycle"):
        recover_paths(graph, endless, FunctionCounts([1] * 16))


def test_a_plan_that_was_made_up_costs_little() -> None:
    """Ten thousand diamonds have 2**10000 paths; a plan may not claim to have numbered them."""
    graph = diamonds(10_000)
    (back,) = back_edges(graph)
    plan = Plan("paths", (), paths=Paths(2**63 - 1, (back,), dense=False))
    with pytest.raises(OtherBuild, match="more than 9223372036854775807 paths"):
        recover_paths(graph, plan, FunctionCounts([], {}, {}, {1: (1, 0)}))
    table = replace(plan, paths=Paths(2**31, (back,)))
    with pytest.raises(OtherBuild):
        recover_paths(graph, table, FunctionCounts(SparseCounters(table.slots, {7: 1})))


def test_what_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trodden.recover.budget._FIRST", 20)
    graph = diamonds(2, loop=False)
    plan, _ = plain_plan(graph)
    budget = Budget(4, 2)
    assert recover_paths(graph, plan, FunctionCounts([9, 9, 9, 9]), budget).violations == ()
    with pytest.raises(BadFile, match="too many and too long"):
        recover_paths(graph, plan, FunctionCounts([9, 9, 9, 9]), budget)
