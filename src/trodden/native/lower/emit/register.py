"""Emit what keeps the path register: its phis, the stores into its stack slot, and the clock of a path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from trodden.native.lower.emit.paths import CLOCK, PathEmitter
from trodden.native.lower.emit.register_phis import PathRegister
from trodden.native.lower.emit.register_slot import slot_entry
from trodden.native.lower.emit.trace import TraceEmitter
from trodden.native.lower.function_lowering import FunctionLowering
from trodden.native.lower.insertions import Emitted, Insertion, Phi, Point, ValuePhi, Where
from trodden.native.lower.probe_locations import PlacedProbe
from trodden.plan.paths.locations import Holder, Mark
from trodden.plan.paths.path_register import Base, Chosen, Value
from trodden.plan.probes import Plan
from trodden.program.debug_variables import REGISTER_SLOT, base_name


def emit_register(lowering: FunctionLowering, paths: PathEmitter | TraceEmitter) -> Emitted:
    """The phis, and the stores into the stack slot."""
    register = paths.register
    halves = isinstance(paths, PathEmitter) and paths.halves
    insertions = _slot_stores(lowering, register, halves)
    phis: list[Phi] = []
    holding = _blocks_by_base(lowering, register) if lowering.debug.repeats_values else defaultdict(list)
    needed = {**register.phis}
    for each in (paths.overlaps, paths.tuples) if isinstance(paths, PathEmitter) else ():
        if each is not None:
            needed |= each.needed.phis
            for base, block in each.holding() if lowering.debug.repeats_values else ():
                if not _is_defined_in(lowering, base, block):
                    holding[base].append(block)
    for base, (block, brought) in needed.items():
        insertions += _separate(lowering, brought)
        incoming: dict[int, str] = {}
        for edge, value in brought.items():
            builder = lowering.builder()
            incoming[edge] = paths.operand(builder, value)
            insertions.append(lowering.bottom_or_edge(edge, builder.lines))
        phis.append(ValuePhi(block, base_name(base), incoming, "0"))
        blocks = [block, *(each for each in holding.get(base, ()) if each != block)]
        insertions += _records(lowering, base, blocks)
    for base, blocks in holding.items():
        insertions += _records(lowering, base, blocks) if isinstance(base, Chosen) else []
    return Emitted(insertions, phis)


def _is_defined_in(lowering: FunctionLowering, base: Base, block: int) -> bool:
    """Whether a value is chosen at the top of a block, where its record follows."""
    if not isinstance(base, Chosen) or lowering.read.graph.edges[base.edge].dst != block:
        return False
    return lowering.read.single_predecessor(base.edge)


def _records(lowering: FunctionLowering, base: Base, blocks: Sequence[int]) -> list[Insertion]:
    """The debug records of a base at the tops of blocks."""
    records = lowering.debug.value_record(base)
    return [lowering.insert(Point(Where.RECORDS, each), records) for each in blocks]


def _slot_stores(lowering: FunctionLowering, register: PathRegister, halves: bool) -> list[Insertion]:
    """The stores into the stack slot; after the first one the runtime is told where the slot is."""
    insertions: list[Insertion] = []
    slot = register.slot
    for block in sorted({*slot.stores, *slot.overlap_stores}):
        builder = lowering.builder()
        builder.location = lowering.debug.probe_location(Mark(Holder.SLOT, block))
        if not halves and block in slot.stores:
            stored = f"i64 %{base_name(slot.stores[block])}"
            builder.emit(f"store volatile {stored}, ptr %{REGISTER_SLOT}, align 8")
        elif block in slot.stores:
            half = builder.value(f"trunc i64 %{base_name(slot.stores[block])} to i32")
            builder.emit(f"store volatile i32 {half}, ptr %{REGISTER_SLOT}, align 8")
        if block in slot.overlap_stores:
            half = builder.value(f"trunc i64 %{base_name(slot.overlap_stores[block])} to i32")
            upper = builder.value(f"getelementptr i8, ptr %{REGISTER_SLOT}, i64 4")
            builder.emit(f"store volatile i32 {half}, ptr {upper}, align 4")
        if not insertions:
            builder.location = None
            builder.emit(slot_entry(REGISTER_SLOT, "cell"))
        insertions.append(lowering.insert(Point(Where.TOP, block), builder.lines))
    return insertions


def _separate(lowering: FunctionLowering, brought: Mapping[int, Value]) -> list[Insertion]:
    """New blocks on edges from one source that bring different values into a phi."""
    values: dict[int, set[Value]] = defaultdict(set)
    edges = lowering.read.graph.edges
    for edge, value in brought.items():
        values[edges[edge].src].add(value)
    return [
        lowering.insert(Point(Where.EDGE, edge), []) for edge in brought if len(values[edges[edge].src]) > 1
    ]


def _blocks_by_base(lowering: FunctionLowering, register: PathRegister) -> dict[Base, list[int]]:
    """For each phi the blocks at whose start the register is it plus a constant.

    They repeat its debug records: without optimisation LLVM forgets at the end of a block where a value is.
    """
    found: dict[Base, list[int]] = defaultdict(list)
    for block, value in enumerate(register.values.at[: lowering.read.graph.exit]):
        if value is not None and value.base is not None:
            found[value.base].append(block)
    return found


def emit_path_entry(lowering: FunctionLowering, plan: Plan, paths: PathEmitter) -> Insertion:
    """What comes first when a function with paths is entered: its variables, and the start of a path."""
    builder = lowering.builder()
    if paths.register.slot.stores or paths.register.slot.overlap_stores:
        builder.define(REGISTER_SLOT, "alloca i64, align 8")
        builder.records(lowering.debug.slot_record(paths.register.values.reloaded))
    if paths.paths.timed:
        builder.define(CLOCK[1:], "alloca i64, align 8")
    on_entry = [PlacedProbe(probe, None) for probe in plan.on_entry]
    paths.emit(builder, lowering.access, on_entry, [None] * len(on_entry), None)
    return lowering.insert(Point(Where.ENTRY, 0), builder.lines)
