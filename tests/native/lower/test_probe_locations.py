"""The first phases of the lowering: where probes go, and which phis the path register needs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from trodden.native.analysis.function_cfg import FunctionCfg, read_function
from trodden.native.ir.attributes import Attributes
from trodden.native.ir.function import cut_function
from trodden.native.lower.emit.register_phis import choose_phis, track_register
from trodden.native.lower.insertions import (
    CounterPhi,
    Emitted,
    Insertion,
    Phi,
    Point,
    ValuePhi,
    Where,
    gather,
)
from trodden.native.lower.probe_locations import locate_probes
from trodden.native.planning.plan_function import Planned
from trodden.plan.counters.schemes import every_block, every_edge
from trodden.plan.paths.path_register import BlockPhi, Value
from trodden.plan.probes import Add, Bump, BumpAt, Paths, Plan, Probe, Set

TRIANGLE = """\
define i32 @triangle(i1 %c) {
entry:
  br i1 %c, label %then, label %join

then:
  br label %join

join:
  ret i32 0
}"""
DISPATCH = """\
define i32 @dispatch(ptr %to, i1 %c) {
entry:
  br i1 %c, label %first, label %go

go:
  indirectbr ptr %to, [label %first, label %second, label %first]

first:
  ret i32 1

second:
  ret i32 0
}"""
SHARED_RETURN = """\
define i32 @walk(i1 %c) {
entry:
  br i1 %c, label %return, label %go

go:
  %r = tail call i32 @next()
  br label %return

return:
  %v = phi i32 [ 0, %entry ], [ %r, %go ]
  ret i32 %v
}"""


def read(text: str) -> FunctionCfg:
    return read_function(cut_function(text), Attributes())


def points(text: str, plan: Plan) -> list[Point]:
    placements = locate_probes(read(text), plan).placements
    return [placement.point for group in placements for placement in group]


def test_edges_with_room_at_an_end_and_a_critical_edge() -> None:
    graph = read(TRIANGLE).graph
    found = points(TRIANGLE, every_edge(graph))
    critical = next(e for e, edge in enumerate(graph.edges) if (edge.src, edge.dst) == (0, 2))
    assert found == [
        Point(Where.TOP, 1),
        Point(Where.EDGE, critical),
        Point(Where.BOTTOM, 1),
        Point(Where.BOTTOM, 2),
    ]


def test_blocks() -> None:
    graph = read(TRIANGLE).graph
    assert points(TRIANGLE, every_block(graph)) == [Point(Where.TOP, block) for block in range(3)]


def test_edges_that_cannot_be_split_are_merged_in_their_target() -> None:
    function = read(DISPATCH)
    located = locate_probes(function, every_edge(function.graph))
    assert list(located.merged) == [2]
    assert [function.graph.edges[edge][:2] for edge, _ in located.merged[2]] == [(1, 2)]
    assert located.uses_counters(every_edge(function.graph))


def test_a_block_behind_a_tail_call_stays_empty() -> None:
    graph = read(SHARED_RETURN).graph
    for plan in (every_edge(graph), every_block(graph)):
        in_blocks = {point.number for point in points(SHARED_RETURN, plan) if point.where is not Where.EDGE}
        assert 2 not in in_blocks


def path_plan(dense: bool = True) -> Plan:
    """Two paths; the number depends on the edge from the entry."""
    on_edges: dict[int, Sequence[Probe]] = {0: [Set(0)], 1: [Set(1)], 3: [Add(4), Bump(2)]}
    return Plan("paths", (), on_edges, paths=Paths(2, dense=dense))


def test_values_that_meet_become_a_phi() -> None:
    function = read(TRIANGLE)
    planned = Planned(path_plan(), [1.0] * len(function.graph.edges))
    locations = locate_probes(function, planned.plan)
    register = choose_phis(function, planned, locations, track_register(function, planned))
    assert register is not None
    assert register.phis == {BlockPhi(2): (2, {1: Value(None, 1), 2: Value(None, 0)})}
    assert register.slot.stores == {}


def test_a_phi_that_nobody_reads_is_not_needed() -> None:
    function = read(TRIANGLE)
    plan = Plan("paths", (), {0: [Set(0)], 1: [Set(1)], 3: [BumpAt(5)]}, paths=Paths(2))
    planned = Planned(plan, [1.0] * len(function.graph.edges))
    register = choose_phis(
        function, planned, locate_probes(function, plan), track_register(function, planned)
    )
    assert register is not None
    assert register.phis == {}


def test_a_sparse_table_is_no_counter() -> None:
    function = read(TRIANGLE)
    for dense in (False, True):
        plan = path_plan(dense)
        assert locate_probes(function, plan).uses_counters(plan) is dense


def test_insertions_keep_the_order_of_phases() -> None:
    top, edge = Point(Where.TOP, 1), Point(Where.EDGE, 3)
    phis: list[Phi] = [CounterPhi(1, "a", {}, 0), ValuePhi(1, "b", {}, "0")]
    code = gather(
        [
            Emitted([Insertion(top, ["one"]), Insertion(edge, ["first"], "new")], phis[:1]),
            Emitted([Insertion(edge, ["second"], "unused"), Insertion(top, ["two"])], phis[1:]),
        ]
    )
    assert code.take(Where.TOP, 1) == ["one", "two"]
    assert code.take(Where.BOTTOM, 1) == ()
    assert code.edges == {3: ("new", ["first", "second"])}
    assert code.phis == {1: phis}
    code.check_all_taken("f")


def test_code_that_becomes_no_part_of_the_text_is_an_error() -> None:
    code = gather([Emitted([Insertion(Point(Where.BOTTOM, 2), ["lost"])])])
    with pytest.raises(RuntimeError, match="BOTTOM of block 2 of function walk was not emitted"):
        code.check_all_taken("walk")
