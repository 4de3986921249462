"""Where a thread's trace goes on, kept in a machine register between calls.

The cursor is in memory, and each record advances it there: a signal handler, or whoever finds the thread
stopped, needs it.  A record that loads what the record before has just stored waits for that store, which in
short loops takes longer than all else that is recorded.  So where only code of the function itself is between
two records, the second one starts from the value that the first one has computed.  The two never differ: a
handler leaves the cursor as it has found it, and whatever else changes it is called.  Therefore a record may
always load the cursor instead, and behind calls it does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from trodden.graph.reach import sweep
from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.clone.phi_placement import reaching_versions
from trodden.native.lower.builder import Builder
from trodden.native.lower.function_lowering import FunctionLowering
from trodden.native.lower.insertions import CursorPhi, Emitted, Insertion, Phi, Point, Where
from trodden.native.lower.runtime_symbols import CURSOR

_IN_BLOCKS = (Where.ENTRY, Where.TOP, Where.BEFORE_CALL, Where.AFTER_CALL, Where.BOTTOM)
"""The points of a block at which something is recorded, in their order."""


@dataclass
class PointCursor:
    """The cursor at one point, while code is emitted there.

    ``operand`` is its value, None where it has to be loaded.  ``kept``: the value is used behind the point.
    """

    operand: str | None = None
    kept: bool = False

    def load(self, builder: Builder) -> str:
        """The value, loaded if it is not known."""
        if self.operand is None:
            self.operand = builder.value(f"load ptr, ptr {CURSOR}, align 8")
        return self.operand


@dataclass(frozen=True)
class TraceCursor:
    """The cursor in all of a function: what reaches each point, and how blocks get it.

    ``names`` has the points whose last value is used elsewhere, with a name for it, and ``phis`` the names
    of those blocks at which different values arrive.
    """

    lowering: FunctionLowering
    flow: CursorFlow
    names: Mapping[Point, str]
    phis: Mapping[int, str]
    points: dict[Point, PointCursor] = field(default_factory=dict)

    @staticmethod
    def of(lowering: FunctionLowering, recording: Collection[Point]) -> TraceCursor:
        """The cursor of a function that records something at some points."""
        flow = follow_cursor(lowering.read, recording)
        phis = {block: lowering.names.value() for block in flow.phis}
        names = {point: lowering.names.value() for point in flow.used}
        return TraceCursor(lowering, flow, names, phis)

    def at(self, point: Point) -> PointCursor:
        """The cursor at a point; whatever is emitted there gets the same one."""
        if point not in self.points:
            source = self.flow.arriving.get(point)
            operand = None if source is None else self._operand(source)
            self.points[point] = PointCursor(operand, point in self.names)
        return self.points[point]

    def emit(self) -> Emitted:
        """The phis, and the names of values that are used elsewhere; to be emitted last."""
        insertions: list[Insertion] = []
        for point, name in self.names.items():
            builder = self.lowering.builder()
            builder.define(name, f"getelementptr i8, ptr {self.at(point).load(builder)}, i64 0")
            insertions.append(self.lowering.insert(point, builder.lines))
        phis: list[Phi] = [
            CursorPhi(
                block,
                name,
                {edge: self._operand(source) for edge, source in self.flow.phis[block].items()},
            )
            for block, name in self.phis.items()
        ]
        return Emitted(insertions, phis)

    def _operand(self, source: Point | int) -> str:
        """The last value of a point, or the phi of a block."""
        return f"%{self.phis[source] if isinstance(source, int) else self.names[source]}"


@dataclass(frozen=True)
class CursorFlow:
    """Which value of the cursor reaches which point: the last one of a point, or the phi of a block.

    ``arriving`` has the points at whose start it is known.  ``phis`` are the blocks with a phi, each with
    what its in-edges bring, and ``used`` the points whose values reach others.
    """

    arriving: Mapping[Point, Point | int]
    phis: Mapping[int, Mapping[int, Point | int]]
    used: Sequence[Point]


def follow_cursor(read: FunctionCfg, recording: Collection[Point]) -> CursorFlow:
    """Follow the cursor through a function that records something at some points."""
    recording = frozenset(recording)
    blocks = [_Passage.through(read, block, recording) for block in range(len(read.ir.blocks))]
    known = _known_blocks(read, recording, blocks)

    def settled(source: Point | int | None) -> Point | int | None:
        return None if isinstance(source, int) and source not in known else source

    def along(edge: int) -> Point | int | None:
        on_edge = Point(Where.EDGE, edge)
        return on_edge if on_edge in recording else settled(blocks[read.graph.edges[edge].src].leaving)

    starts = {point: settled(source) for each in blocks for point, source in each.arriving.items()}
    for point in recording:
        if point.where is Where.EDGE:
            starts[point] = settled(blocks[read.graph.edges[point.number].src].leaving)
    brought = {block: {edge: along(edge) for edge in read.in_edges(block)} for block in sorted(known)}
    wanted = {source for source in starts.values() if isinstance(source, int)}
    reached = _reaching(len(blocks), brought, wanted)

    def final(source: Point | int | None) -> Point | int | None:
        return reached[source] if isinstance(source, int) else source

    arriving = {point: source for point, start in starts.items() if (source := final(start)) is not None}
    phis = {
        block: {e: source for e, start in brought[block].items() if (source := final(start)) is not None}
        for block in sorted({source for source in reached.values() if isinstance(source, int)})
    }
    used = {*arriving.values(), *(source for each in phis.values() for source in each.values())}
    in_order = sorted(recording, key=lambda point: (point.number, point.where.value))
    return CursorFlow(arriving, phis, [point for point in in_order if point in used])


@dataclass(frozen=True)
class _Passage:
    """What becomes of the cursor in one block.

    A value is a point's last one, or that with which the block begins, which is its number; None where it
    is not known: behind a call.
    """

    arriving: Mapping[Point, Point | int | None]
    leaving: Point | int | None

    @staticmethod
    def through(read: FunctionCfg, block: int, recording: Collection[Point]) -> _Passage:
        """Follow it from the start of a block to its end."""
        arriving: dict[Point, Point | int | None] = {}
        value: Point | int | None = None if block == read.graph.root else block
        calls_inside = _calls_inside(read, block)
        for where in _IN_BLOCKS:
            if where is Where.AFTER_CALL or (where is Where.BEFORE_CALL and calls_inside):
                called = where is Where.BEFORE_CALL or block in read.recording_calls
                value = None if called else value
            at = Point(where, 0 if where is Where.ENTRY else block)
            if at in recording and (where is not Where.ENTRY or block == read.graph.root):
                arriving[at] = value
                value = at
        ends_with_call = read.ir.blocks[block].opcode in ("invoke", "callbr")
        return _Passage(arriving, None if ends_with_call else value)


def _calls_inside(read: FunctionCfg, block: int) -> bool:
    """Whether a block calls something that could change the cursor, apart from the call that ends it."""
    recording = read.recording_calls.get(block)
    end = None if recording is None else recording.start
    return any(
        each.start != end and not (each.callee or "").startswith("llvm.")
        for each in read.ir.blocks[block].calls
    )


def _known_blocks(
    read: FunctionCfg, recording: Collection[Point], blocks: Sequence[_Passage]
) -> frozenset[int]:
    """The blocks at whose start the cursor is known, however control comes there."""
    graph = read.graph
    behind = [[graph.edges[edge].dst for edge in edges] for edges in graph.out_edges]
    known = sweep(behind, [graph.root]) - {graph.root, graph.exit}
    work = [block for block in range(len(blocks)) if block not in known or blocks[block].leaving is None]
    while work:
        block = work.pop()
        if blocks[block].leaving is not None and (blocks[block].leaving != block or block in known):
            continue
        for edge in read.graph.out_edges[block]:
            target = read.graph.edges[edge].dst
            if target in known and Point(Where.EDGE, edge) not in recording:
                known.remove(target)
                work.append(target)
    return frozenset(known)


def _reaching(
    count: int, brought: Mapping[int, Mapping[int, Point | int | None]], wanted: Collection[int]
) -> dict[int, Point | int]:
    """What the ``wanted`` blocks begin with, and those between: a point's value, or the phi of a block."""
    points = sorted(
        {each for edges in brought.values() for each in edges.values() if isinstance(each, Point)},
        key=lambda point: (point.number, point.where.value),
    )
    numbers = {point: count + number for number, point in enumerate(points)}
    before: list[list[int]] = [[] for _ in range(count + len(points))]
    behind: list[list[int]] = [[] for _ in range(count + len(points))]
    for block, edges in brought.items():
        for each in edges.values():
            assert each is not None, "a block's cursor is known and that of a predecessor is not"
            source = numbers[each] if isinstance(each, Point) else each
            before[block].append(source)
            behind[source].append(block)
    reached = reaching_versions(range(count, count + len(points)), wanted, before, behind)
    return {block: ~version if version < 0 else points[version - count] for block, version in reached.items()}
