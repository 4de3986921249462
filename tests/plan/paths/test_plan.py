"""Plans for paths: where probes are placed, where paths are cut."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given

from tests.graphs import costs_for, graphs, seeds
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.graph.spanning import live_edges
from trodden.graph.traverse import back_edges
from trodden.plan.interpret import interpret
from trodden.plan.paths.limits import DEFAULT_LIMIT
from trodden.plan.paths.numbering import LARGEST, Numbering, count_paths
from trodden.plan.paths.plan import path_plan
from trodden.plan.paths.prefixes import RegisterOffset, SinglePrefix, register_offsets
from trodden.plan.probes import (
    Add,
    AddTripCount,
    BlockMeasure,
    Bump,
    BumpAt,
    Count,
    CountableLoop,
    EdgeMeasure,
    Paths,
    Plan,
    Probe,
    Restore,
    Save,
    Set,
    StartClock,
)

LOOP = build("loop", ["A", "B", "C", "D", "EXIT"], [(0, 1), (1, 2), (1, 3), (2, 1), (3, 4)])


def paths_of(plan: Plan) -> Paths:
    assert plan.paths is not None
    return plan.paths


def ladder(rungs: int) -> Graph:
    """Diamonds one below the other: two to the power of ``rungs`` paths."""
    flow = []
    for top in range(0, 3 * rungs, 3):
        flow += [(top, top + 1), (top, top + 2), (top + 1, top + 3), (top + 2, top + 3)]
    flow.append((3 * rungs, 3 * rungs + 1))
    return build("ladder", [f"b{block}" for block in range(3 * rungs + 1)] + ["EXIT"], flow)


def some_resume_edges(graph: Graph, rng: random.Random) -> list[int]:
    inner = [index for index in graph.flow_edges() if graph.edges[index].dst != graph.exit]
    return [index for index in inner if rng.random() < 0.1]


def all_cut(graph: Graph, resume_edges: Sequence[int], context: bool) -> int:
    """How many paths are left if every edge that can be cut is."""
    live = set(live_edges(graph))
    cuts = [
        index
        for index in graph.flow_edges()
        if index in live and graph.edges[index].dst not in (graph.exit, graph.edges[index].src)
    ]
    back = {index for index in back_edges(graph) if graph.edges[index].src != graph.edges[index].dst}
    return count_paths(graph, back, set(cuts) - back, resume_edges, context)


@given(graphs(), seeds())
def test_cuts_keep_to_the_limit(graph: Graph, seed: int) -> None:
    rng = random.Random(seed)
    limit, context = rng.choice([1, 7, 30]), rng.random() < 0.5
    resume_edges = some_resume_edges(graph, rng)
    weights = costs_for(graph, seed)
    whole = paths_of(path_plan(graph, weights, limit=None, resume_edges=resume_edges, context=context))
    assert whole.cuts == ()
    for rule in ("cheapest", "loops", "node"):
        plan = path_plan(graph, weights, limit=limit, resume_edges=resume_edges, context=context, rule=rule)
        paths = paths_of(plan)
        assert paths.number <= max(limit, all_cut(graph, resume_edges, context))
        assert paths.number == count_paths(
            graph, paths.back_edges, paths.cuts, paths.resume_edges, paths.context
        )
        if whole.number <= limit and rule != "loops":
            assert paths == whole


@given(graphs(), seeds())
def test_without_stack_slots_the_block_determines_the_prefix(graph: Graph, seed: int) -> None:
    rng = random.Random(seed)
    may_be_cut_short = {block for block in range(graph.exit) if rng.random() < 0.5}
    plan = path_plan(
        graph,
        costs_for(graph, seed),
        limit=rng.choice([None, 10]),
        may_be_cut_short=may_be_cut_short,
        stack_slots=False,
        context=rng.random() < 0.5,
    )
    known = register_offsets(graph, plan)
    reached = {graph.edges[index].dst for index in live_edges(graph)}
    for block in may_be_cut_short & reached - {graph.root}:
        assert isinstance(known[block], SinglePrefix)


@given(graphs(), seeds())
def test_every_block_where_paths_may_be_cut_short_identifies_its_prefix(graph: Graph, seed: int) -> None:
    rng = random.Random(seed)
    may_be_cut_short = {block for block in range(graph.exit) if rng.random() < 0.5}
    plan = path_plan(
        graph, costs_for(graph, seed), may_be_cut_short=may_be_cut_short, context=rng.random() < 0.5
    )
    known = register_offsets(graph, plan)
    reached = {graph.edges[index].dst for index in live_edges(graph)}
    for block in may_be_cut_short & reached:
        assert isinstance(known[block], SinglePrefix | RegisterOffset)
    assert known[graph.exit] is None


@given(graphs(), seeds())
def test_paths_end_before_others_start(graph: Graph, seed: int) -> None:
    """On every edge: trip counts first, then what ends a path, then what starts one."""
    rng = random.Random(seed)
    resume_edges = some_resume_edges(graph, rng)
    timed = rng.random() < 0.5
    plan = path_plan(
        graph,
        costs_for(graph, seed),
        limit=rng.choice([None, 10]),
        resume_edges=resume_edges,
        context=rng.random() < 0.5,
        timed=timed,
        may_be_cut_short={block for block in range(graph.exit) if rng.random() < 0.3},
    )
    paths = paths_of(plan)
    removed = {*paths.back_edges, *paths.cuts, *paths.resume_edges}
    live = set(live_edges(graph))
    for edge in live - {graph.closing}:
        probes = plan.on_edges.get(edge, ())
        ends = [place for place, probe in enumerate(probes) if isinstance(probe, Bump | BumpAt)]
        assert ends in ([], [0])
        if edge not in removed:
            assert not any(isinstance(probe, StartClock | Restore) for probe in probes)
        if timed:
            assert bool(ends) == (edge in removed or graph.edges[edge].dst == graph.exit)
            clocks = [place for place, probe in enumerate(probes) if isinstance(probe, StartClock)]
            assert clocks == ([1] if edge in removed else [])
    assert not any(isinstance(probe, Bump | BumpAt) for probe in plan.on_entry)
    assert sum(isinstance(probe, StartClock) for probe in plan.on_entry) == timed


@given(graphs(), seeds())
def test_the_fewest_probes_are_on_chords(graph: Graph, seed: int) -> None:
    """Of arcs that neither start nor end a path, only chords add: at most one per fundamental cycle."""
    plan = path_plan(graph, costs_for(graph, seed), limit=None)
    adding = [probe for probes in plan.on_edges.values() for probe in probes if isinstance(probe, Add)]
    live = live_edges(graph)
    vertices = {graph.edges[index].dst for index in live} | {graph.exit}
    assert len(adding) <= len(live) - (len(vertices) - 1)
    assert Add(0) not in adding


def test_a_loop() -> None:
    """The loop has probes on the back edge only: one path ends, the next starts."""
    plan = path_plan(LOOP, [1.0, 9.0, 1.0, 9.0, 1.0, 1.0])
    assert paths_of(plan) == Paths(4, (3,))
    assert plan.on_edges == {2: (Bump(0),), 3: (Bump(-1), Set(3))}
    assert plan.on_entry == (Set(1),)
    assert interpret(LOOP, plan, [[0, 1, 3, 1, 3, 2, 4], [0, 2, 4]]) == [1, 1, 1, 1]


def test_a_straight_line_needs_no_register() -> None:
    graph = build("line", ["A", "B", "EXIT"], [(0, 1), (1, 2)])
    plan = path_plan(graph, [1.0, 1.0, 1.0])
    (probes,) = plan.on_edges.values()
    assert probes == (BumpAt(0),)
    assert plan.on_entry == ()


def test_a_register_that_is_not_read_is_not_set() -> None:
    """Each path has an end of its own, so that none needs the register."""
    graph = build("fork", ["A", "B", "C", "EXIT"], [(0, 1), (0, 2), (1, 3), (2, 3)])
    plan = path_plan(graph, [1.0] * 5)
    probes: list[Probe] = [probe for found in plan.on_edges.values() for probe in found]
    assert sorted(probe.path for probe in probes if isinstance(probe, BumpAt)) == [0, 1]
    assert len(probes) == 2
    assert plan.on_entry == ()


def test_no_bump_is_moved_above_a_block_where_paths_may_be_cut_short() -> None:
    """D and E follow each other; the paths join in D."""
    flow = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)]
    graph = build("join", ["A", "B", "C", "D", "E", "EXIT"], flow)
    weights = [1.0, 2.0, 1.0, 2.0, 3.0, 3.0, 3.0]
    free = path_plan(graph, weights)
    assert free.on_edges == {2: (BumpAt(0),), 3: (BumpAt(1),)}
    held = path_plan(graph, weights, may_be_cut_short={4})
    assert held.on_edges[5] == (Bump(0),)
    assert isinstance(register_offsets(graph, held)[4], RegisterOffset)
    above = path_plan(graph, weights, may_be_cut_short={3})
    assert above.on_edges[4] == (Bump(0),)
    assert register_offsets(graph, above)[4] is None


def test_self_loops_have_a_counter_or_a_trip_count() -> None:
    graph = build("self", ["A", "B", "EXIT"], [(0, 1), (1, 1), (1, 2)])
    weights = [1.0, 9.0, 1.0, 1.0]
    plan = path_plan(graph, weights)
    assert plan.measures == (BlockMeasure(1),)
    assert plan.on_blocks[1] == (Count(0),)
    assert paths_of(plan) == Paths(1)
    assert plan.slots == 2
    seldom = path_plan(graph, [1.0, 0.5, 1.0, 1.0])
    assert (seldom.measures, seldom.on_edges[1]) == ((EdgeMeasure(1),), (Count(0),))
    told = path_plan(graph, weights, countable_loops=[CountableLoop(1, (2,), 1.0)])
    assert 1 not in told.on_edges
    assert told.on_edges[2][0] == AddTripCount(0, 1)
    assert interpret(graph, told, [[0, 1, 1, 1, 2], [0, 2]]) == [3, 2]
    dear = path_plan(graph, weights, countable_loops=[CountableLoop(1, (2,), 9.0)])
    assert dear == plan


def test_trip_counts_are_not_added_on_resume_edges() -> None:
    graph = build("self", ["A", "B", "C", "EXIT"], [(0, 1), (1, 1), (1, 2), (2, 3)])
    plan = path_plan(
        graph, [1.0, 9.0, 1.0, 1.0, 1.0], countable_loops=[CountableLoop(1, (2,), 1.0)], resume_edges=[2]
    )
    assert plan.on_blocks[1] == (Count(0),)


def test_context_saves_on_entry_edges_and_restores_on_back_edges() -> None:
    """Two paths lead to the loop of H."""
    flow = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 3)]
    graph = build("context", ["A", "P", "Q", "H", "L", "EXIT"], flow)
    plan = path_plan(graph, [1.0, 1.0, 1.0, 1.0, 9.0, 1.0, 9.0, 1.0], context=True)
    assert paths_of(plan).number == 8
    saving = [edge for edge, probes in plan.on_edges.items() if Save(0) in probes]
    assert saving == [2, 3]
    bump, restore = plan.on_edges[6]
    assert isinstance(bump, Bump)
    assert isinstance(restore, Restore)


def test_context_without_a_choice_saves_nothing() -> None:
    """One path leads to the loop: what is restored is a constant."""
    plan = path_plan(LOOP, [1.0, 9.0, 1.0, 9.0, 1.0, 1.0], context=True)
    kinds = {type(probe) for probes in plan.on_edges.values() for probe in probes}
    assert not kinds & {Save, Restore}
    assert paths_of(plan).number == 4
    assert interpret(LOOP, plan, [[0, 1, 3, 1, 3, 2, 4], [0, 2, 4]]) == [1, 1, 1, 1]


def test_irreducible_loops_have_no_context() -> None:
    graph = build("irreducible", ["A", "B", "C", "EXIT"], [(0, 1), (0, 2), (1, 2), (2, 1), (1, 3)])
    plan = path_plan(graph, [1.0] * 6, context=True)
    whole = path_plan(graph, [1.0] * 6)
    assert paths_of(plan).number == paths_of(whole).number
    assert plan.on_edges == whole.on_edges


def test_many_paths_are_counted_in_a_sparse_table() -> None:
    graph = ladder(20)
    weights = [1.0] * len(graph.edges)
    assert paths_of(path_plan(graph, weights)).number <= DEFAULT_LIMIT
    whole = path_plan(graph, weights, limit=None)
    assert paths_of(whole) == Paths(2**20, dense=False)
    assert whole.slots == 0
    assert paths_of(path_plan(graph, weights, limit=None, dense=2**20)).dense


def test_path_numbers_fit_a_register() -> None:
    graph = ladder(100)
    paths = paths_of(path_plan(graph, [1.0] * len(graph.edges), limit=None))
    assert 1 <= len(paths.cuts) <= 6
    assert paths.number <= LARGEST


def test_cold_edges_are_cut() -> None:
    """The middle of a ladder is cold: it is cut there."""
    graph = ladder(12)
    cold = {4 * 6 + way for way in range(4)}
    weights = [0.001 if edge in cold else 5.0 for edge in range(len(graph.edges))]
    assert set(paths_of(path_plan(graph, weights, limit=300)).cuts) <= cold


def test_of_equals_the_entry_of_a_loop_is_cut() -> None:
    """A diamond, a loop around a diamond; one of the edges has to be cut."""
    flow = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6), (5, 7), (6, 7), (7, 4), (7, 8)]
    graph = build("entry", [f"b{block}" for block in range(8)] + ["EXIT"], flow)
    paths = paths_of(path_plan(graph, [1.0] * 12, limit=9))
    assert paths.cuts == (4,)
    assert paths.number <= 9


def test_a_large_function_is_planned() -> None:
    graph = ladder(7000)
    plan = path_plan(graph, [1.0] * len(graph.edges))
    paths = paths_of(plan)
    numbering = Numbering(graph, paths)
    assert numbering.number == paths.number <= len(graph.edges)
    route = numbering.regenerate(paths.number - 1)
    assert numbering.number_of(route) == paths.number - 1
    assert len(register_offsets(graph, plan)) == len(graph.labels)


def test_an_unknown_rule() -> None:
    with pytest.raises(KeyError):
        path_plan(ladder(20), [1.0] * 82, rule="any")


def test_only_flow_edges_carry_probes() -> None:
    graph = build("endless", ["A", "B", "EXIT"], [(0, 1), (1, 0)])
    plan = path_plan(graph, [1.0] * len(graph.edges))
    assert all(graph.edges[edge].kind is EdgeKind.FLOW for edge in plan.on_edges)
    assert interpret(graph, plan, [[0, 1, 0, 1, 0]]) == [1, 1]


def test_loop_entries_are_cut_if_the_loop_is_expected_to_iterate() -> None:
    """P leads to the loop of H and L, and each iteration starts with the same register."""
    graph = build("loop", ["P", "H", "L", "EXIT"], [(0, 1), (1, 2), (2, 1), (1, 3)])
    turning = path_plan(graph, [1.0, 9.0, 9.0, 1.0, 1.0], rule="loops")
    assert paths_of(turning) == Paths(3, back_edges=(2,), cuts=(0,))
    assert set(turning.on_edges) == {0, 2, 3}
    assert all(isinstance(probe, BumpAt) for probes in turning.on_edges.values() for probe in probes)
    seldom = path_plan(graph, [1.0, 0.5, 0.5, 1.0, 1.0], rule="loops")
    assert paths_of(seldom).cuts == ()
