"""Emit the code that computes the trip count of a loop on its exit edges (BL94 §6.3)."""

from __future__ import annotations

from collections.abc import Mapping

from trodden.native.analysis.induction import Induction
from trodden.native.lower.builder import Builder
from trodden.native.lower.function_lowering import FunctionLowering
from trodden.native.lower.insertions import Emitted, Insertion, Phi, Point, ValuePhi, Where
from trodden.native.lower.probe_locations import ProbeLocations

# In inline assembly, so that no pass sees what it does: LLVM would compute it from other values of the loop,
# which then stay alive and are spilled.
_COUNT_ITERATION = {
    "x86_64": 'call i64 asm "incq $0", "=r,0,~{flags}"',
    "aarch64": 'call i64 asm "add $0, $0, #1", "=r,0"',
}

# After this, LLVM does not see what becomes of a value that comes out of a loop.  It would keep another one
# that is widened, divided or negated already, in a register of its own throughout the loop.
_HIDE = 'call {} asm "", "=r,0"'


def emit_trip_count(builder: Builder, induction: Induction) -> str:
    """How often the back edge was taken: (value - start) / step, in 64 bits."""
    value, start, type_ = f"%{_value_in_loop(induction)}", induction.start, induction.type
    if not induction.own:
        value = builder.value(f"{_HIDE.format(type_)}({type_} {value})")
    if induction.step < 0:
        value, start = start, value
    distance = value if start == "0" else builder.value(f"sub {type_} {value}, {start}")
    if type_ != "i64":
        distance = builder.value(f"zext {type_} {distance} to i64")
    step = abs(induction.step)
    if step == 1:
        return distance
    if step & (step - 1) == 0:
        return builder.value(f"lshr exact i64 {distance}, {step.bit_length() - 1}")
    return builder.value(f"udiv exact i64 {distance}, {step}")


def emit_iteration_counters(
    lowering: FunctionLowering, locations: ProbeLocations, inductions: Mapping[int, Induction]
) -> Emitted:
    """The registers that count the iterations of loops without an induction variable, and debug records.

    Such a register is incremented at the top of the loop.  The value that the iteration starts with is dead
    after that, so it takes one machine register and one instruction.
    """
    insertions: list[Insertion] = []
    phis: list[Phi] = []
    used = {back_edge: inductions[back_edge] for back_edge in locations.trip_counted()}
    for back_edge, induction in used.items():
        if induction.own:
            header, counted = lowering.read.graph.edges[back_edge].dst, _value_in_loop(induction)
            phis.append(ValuePhi(header, induction.name, {back_edge: f"%{counted}"}, "-1"))
            builder = lowering.builder()
            builder.define(counted, f"{_COUNT_ITERATION[lowering.machine]}(i64 %{induction.name})")
            builder.records(lowering.debug.trip_count_record(back_edge, induction, counted))
            insertions.append(lowering.insert(Point(Where.TOP, header), builder.lines))
    for back_edge, induction in used.items():
        records = lowering.debug.trip_count_record(back_edge, induction, induction.name, induction.own)
        header = lowering.read.graph.edges[back_edge].dst
        insertions.append(lowering.insert(Point(Where.RECORDS, header), records))
    return Emitted(insertions, phis)


def _value_in_loop(induction: Induction) -> str:
    """The value from which the trip count follows inside the loop: an own register is incremented first."""
    return f"{induction.name}.next" if induction.own else induction.name
