"""Where the cursor of a trace is known: compared with random walks through random functions."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trodden.native.analysis.function_cfg import FunctionCfg, read_function
from trodden.native.ir.attributes import Attributes
from trodden.native.ir.function import cut_function
from trodden.native.lower.emit.trace_cursor import CursorFlow, follow_cursor
from trodden.native.lower.insertions import Point, Where

BODIES = ("", "  %x{} = call i32 @other()\n", "  %x{} = call i32 @llvm.smax.i32(i32 %n, i32 1)\n")
ENTRY = Point(Where.ENTRY, 0)


def read(successors: list[list[int]], bodies: list[int]) -> FunctionCfg:
    """A function with these jumps; a block calls something, or an intrinsic, or nothing."""
    blocks = []
    for block, targets in enumerate(successors):
        end = "ret i32 0" if not targets else f"br label %b{targets[0]}"
        if len(targets) > 1:
            others = " ".join(f"i32 {i}, label %b{target}" for i, target in enumerate(targets[1:]))
            end = f"switch i32 %n, label %b{targets[0]} [ {others} ]"
        blocks.append(f"b{block}:\n{BODIES[bodies[block]].format(block)}  {end}\n")
    text = "define i32 @f(i32 %n) {\n" + "\n".join(blocks) + "}"
    return read_function(cut_function(text), Attributes())


@st.composite
def functions(draw: st.DrawFn) -> tuple[FunctionCfg, frozenset[Point]]:
    """A function whose entry is no target, and some points, the entry among them."""
    count = draw(st.integers(1, 8))
    targets = st.lists(st.integers(1, count - 1), max_size=3) if count > 1 else st.just([])
    cfg = read(
        draw(st.lists(targets, min_size=count, max_size=count)),
        draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)),
    )
    points = [Point(where, block) for block in range(count) for where in (Where.TOP, Where.BOTTOM)]
    edges = [e for e in range(len(cfg.positions)) if cfg.graph.edges[e].dst < count]
    points += [Point(Where.EDGE, edge) for edge in edges]
    return cfg, frozenset({ENTRY, *draw(st.sets(st.sampled_from(points)))})


def walk(cfg: FunctionCfg, recording: frozenset[Point], flow: CursorFlow, random: Random) -> None:
    """Every value that the flow knows is the one of the last point, and nothing was called since."""
    last: Point | None = None
    phis: dict[int, Point | None] = {}

    def come_to(point: Point) -> None:
        nonlocal last
        if point not in recording:
            return
        source = flow.arriving.get(point)
        if source is not None:
            known = phis[source] if isinstance(source, int) else source
            assert known is not None
            assert known == last
            assert not isinstance(source, Point) or source in flow.used
        last = point

    def value(source: Point | int) -> Point | None:
        return phis[source] if isinstance(source, int) else source

    block = cfg.graph.root
    come_to(ENTRY)
    for _ in range(60):
        come_to(Point(Where.TOP, block))
        if "@other" in cfg.ir.blocks[block].text:
            last = None
        come_to(Point(Where.BOTTOM, block))
        edge = random.choice(cfg.graph.out_edges[block])
        target = cfg.graph.edges[edge].dst
        if target == cfg.graph.exit:
            break
        come_to(Point(Where.EDGE, edge))
        if target in flow.phis:
            phis[target] = value(flow.phis[target][edge])
            assert phis[target] is not None
            assert phis[target] == last
        block = target


@given(functions(), st.randoms(use_true_random=False))
def test_what_is_known_is_the_last_value(
    given_function: tuple[FunctionCfg, frozenset[Point]], random: Random
) -> None:
    cfg, recording = given_function
    flow = follow_cursor(cfg, recording)
    for _ in range(5):
        walk(cfg, recording, flow, random)
    for block, brought in flow.phis.items():
        assert set(brought) == set(cfg.in_edges(block))
        assert len({source for source in brought.values() if source != block}) > 1


def test_a_loop_has_a_phi() -> None:
    cfg = read([[1], [1, 2], []], [0, 0, 0])
    (back,) = (e for e in cfg.in_edges(1) if cfg.graph.edges[e].src == 1)
    on_edge = Point(Where.EDGE, back)
    flow = follow_cursor(cfg, {ENTRY, on_edge})
    assert flow.arriving == {on_edge: 1}
    assert flow.phis == {1: {edge: on_edge if edge == back else ENTRY for edge in cfg.in_edges(1)}}
    assert flow.used == [ENTRY, on_edge]


@pytest.mark.parametrize(("body", "known"), [(0, True), (1, False), (2, True)])
def test_behind_a_call_nothing_is_known(body: int, known: bool) -> None:
    """Intrinsics are no calls."""
    cfg = read([[1], []], [body, 0])
    bottom = Point(Where.BOTTOM, 1)
    flow = follow_cursor(cfg, {ENTRY, bottom})
    assert flow.arriving == ({bottom: ENTRY} if known else {})


def test_nothing_is_known_where_control_never_comes() -> None:
    cfg = read([[], [1, 2], []], [0, 0, 0])
    assert follow_cursor(cfg, {ENTRY, Point(Where.TOP, 1), Point(Where.TOP, 2)}).phis == {}
