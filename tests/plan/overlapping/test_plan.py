"""What plans for overlapping paths are like: no test, counter or probe where it is not needed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.cases import Case, cases
from trodden.graph.cfg import Graph, build
from trodden.plan.overlap_probes import (
    AddOverlap,
    BumpOverlap,
    CallSite,
    Channel,
    ClearOverlap,
    CountPredicate,
    Overlaps,
    StartOverlap,
    StartOverlapAt,
    TakeCall,
)
from trodden.plan.overlapping.calls import with_entries, with_returns
from trodden.plan.overlapping.interpret import interpret_overlaps
from trodden.plan.overlapping.numbering import OverlapNumbering
from trodden.plan.overlapping.plan import overlapping_plan
from trodden.plan.overlapping.region import Ways
from trodden.plan.paths.dag import build_dag
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Plan, Probe


def the_case(name: str) -> Case:
    (case,) = [case for case in cases("tzg04.cfg") if str(case) == name]
    return case


def ones(graph: Graph) -> list[float]:
    return [1.0] * len(graph.edges)


def probes_of(plan: Plan) -> list[Probe]:
    return [*plan.on_entry, *(probe for probes in plan.on_edges.values() for probe in probes)]


def of_kind(plan: Plan, *kinds: type) -> Sequence[Probe]:
    return [probe for probe in probes_of(plan) if isinstance(probe, kinds)]


def test_without_loops_it_is_a_path_plan() -> None:
    graph = build("diamond", ["A", "B", "C", "D", "EXIT"], [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
    plain, plan = path_plan(graph, ones(graph)), overlapping_plan(graph, ones(graph), None)
    assert (plan.on_edges, plan.on_entry, plan.paths) == (plain.on_edges, plain.on_entry, plain.paths)


def test_nothing_is_counted_where_no_way_is_possibly_instrumented() -> None:
    case = the_case("table-2")
    for degree in (1, 2, None):
        plan = overlapping_plan(case.graph, ones(case.graph), degree)
        assert of_kind(plan, StartOverlap, StartOverlapAt)
        assert not of_kind(plan, CountPredicate)
        assert all(
            isinstance(probe, AddOverlap) and probe.limit is None for probe in of_kind(plan, AddOverlap)
        )


def test_edges_that_are_possibly_instrumented_ask_for_the_predicates() -> None:
    case = the_case("figure-1")
    graph = case.graph
    plan = overlapping_plan(graph, ones(graph), 2)
    asking = {
        (graph.labels[graph.edges[edge].src], graph.labels[graph.edges[edge].dst])
        for edge, probes in plan.on_edges.items()
        for probe in probes
        if isinstance(probe, AddOverlap) and probe.limit is not None
    }
    assert asking
    assert asking <= {("P3", "B2"), ("P3", "P4"), ("B2", "P4")}
    counting = {
        graph.labels[graph.edges[edge].src]
        for edge, probes in plan.on_edges.items()
        if any(isinstance(probe, CountPredicate) for probe in probes)
    }
    assert counting <= {"P1", "P2", "P3"}
    assert not of_kind(overlapping_plan(graph, ones(graph), None), CountPredicate)


def test_back_edges_ask_for_an_overlap() -> None:
    """A back edge is reached in the first iteration too, when there is no overlap, so it has to ask."""
    graph = build("endless", ["A", "B", "C", "D", "EXIT"], [(0, 1), (1, 2), (1, 3), (2, 1), (3, 1)])
    plan = overlapping_plan(graph, ones(graph), None)
    aboves = {
        edge: [p.above for p in probes if isinstance(p, BumpOverlap)]
        for edge, probes in plan.on_edges.items()
    }
    assert [above for each in aboves.values() for above in each] == [0, 0]
    assert plan.on_entry[0] == ClearOverlap(Channel.LOOP)


def test_an_inner_exit_tells_whose_overlap_it_ends() -> None:
    case = the_case("nested")
    graph = case.graph
    plan = overlapping_plan(graph, ones(graph), None)
    (inner_exit,) = (
        edge
        for edge, (source, target, _) in enumerate(graph.edges)
        if (graph.labels[source], graph.labels[target]) == ("O", "L")
    )
    (bump,) = (probe for probe in plan.on_edges[inner_exit] if isinstance(probe, BumpOverlap))
    assert bump == BumpOverlap(Channel.LOOP, 1)


def test_a_loop_with_one_way_around_is_left_alone() -> None:
    graph = build("plain", ["A", "B", "C", "EXIT"], [(0, 1), (1, 2), (2, 1), (2, 3)])
    plan = overlapping_plan(graph, ones(graph), None)
    assert plan.overlaps == Overlaps((), number=plan.numbers)
    assert not of_kind(plan, BumpOverlap, ClearOverlap, StartOverlap, StartOverlapAt)


def test_a_self_loop_is_counted_and_no_predicate() -> None:
    flow = [(0, 1), (1, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 0), (4, 5)]
    graph = build("self-loop", ["H", "S", "X", "Y", "L", "EXIT"], flow)
    plan = overlapping_plan(graph, ones(graph), 1)
    assert plan.overlaps is not None
    assert plan.paths is not None
    assert Ways(build_dag(graph, plan.paths.back_edges)).out(1) == [2, 3]
    once = [0, 2, 4, 6, 0, 3, 5, 7]
    often = [0, 1, 1, 2, 4, 6, 0, 1, 3, 5, 7]
    table = len(plan.measures)
    assert (
        interpret_overlaps(graph, plan, [once]).counters[table:]
        == interpret_overlaps(graph, plan, [often]).counters[table:]
    )


def test_paths_in_context_have_no_overlaps() -> None:
    graph = the_case("table-2").graph
    plan = path_plan(graph, ones(graph), context=True)
    assert plan.paths is not None
    with pytest.raises(ValueError, match="loop context"):
        OverlapNumbering(graph, plan.paths, Overlaps(()))


def test_numbers_that_do_not_exist() -> None:
    graph = the_case("table-2").graph
    plan = overlapping_plan(graph, ones(graph), 1)
    assert plan.paths is not None
    assert plan.overlaps is not None
    numbering = OverlapNumbering(graph, plan.paths, plan.overlaps)
    with pytest.raises(ValueError, match="no path 18"):
        numbering.overlapping(18)
    extended = next(path for path in map(numbering.overlapping, range(18)) if path.stop is not None)
    with pytest.raises(ValueError, match="no overlapping path"):
        numbering.number_of_overlapping(extended.__class__(extended.path, (0,), extended.stop))


def test_a_call_is_published_before_its_path_is_counted() -> None:
    case = the_case("figure-2-f")
    graph = case.graph
    block = case.block("C1")
    site = CallSite(7, block, graph.out_edges[block])
    straight = build("straight", ["A", "B", "EXIT"], [(0, 1), (1, 2)])
    plan = path_plan(straight, ones(straight))
    assert plan.paths is not None
    with pytest.raises(ValueError, match="counted before its call"):
        with_entries(plan, Numbering(straight, plan.paths), ones(straight), [CallSite(0, 1, (1,))], 0)
    plan = path_plan(graph, ones(graph), may_be_cut_short=[block])
    assert plan.paths is not None
    numbering = Numbering(graph, plan.paths)
    entered, values = with_entries(plan, numbering, ones(graph), [site], 1, [block])
    assert isinstance(entered.on_entry[0], TakeCall)
    assert len(entered.on_blocks[block]) == 1
    with pytest.raises(ValueError, match="no overlap"):
        values.overlap(graph.root, values.paths(graph.root))
    returned, _ = with_returns(plan, numbering, ones(graph), [site], 0, [block])
    assert returned.on_entry[0] == ClearOverlap(Channel.RETURNED)
