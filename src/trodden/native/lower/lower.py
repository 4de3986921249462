"""Lower a plan into a function: its probes become instructions in the function's IR.

The phases are functions of what the phases before them have returned:

1. :func:`locate_probes` decides where the code of each probe goes;
2. :func:`track_register` computes what the path register holds in each block;
3. :func:`choose_phis` decides which phis it needs, and where it is stored into a stack slot;
4. the ``emit`` functions return code for points of the function, and phis;
5. :func:`assemble` makes the function's text of its blocks and that code.

Calls that may leave the function otherwise are handled as BL94 §3.2 and BL96 §3.6 demand: labels around every
call that may not return identify the block of each frame that is active when the program ends, or that a jump
or an exception leaves behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.lower.assemble import assemble
from trodden.native.lower.builder import ProbeNames
from trodden.native.lower.call_layout import FunctionLayout
from trodden.native.lower.emit.call_paths import emit_call_paths
from trodden.native.lower.emit.crossings import CrossingEmitter, emit_removal
from trodden.native.lower.emit.overlaps import track_overlaps
from trodden.native.lower.emit.paths import PathEmitter
from trodden.native.lower.emit.probes import emit_probes, uses_spare_slot
from trodden.native.lower.emit.register import emit_path_entry, emit_register
from trodden.native.lower.emit.register_phis import choose_phis, track_register
from trodden.native.lower.emit.trace import TraceEmitter
from trodden.native.lower.emit.trip_counts import emit_iteration_counters
from trodden.native.lower.emit.tuples import track_tuples
from trodden.native.lower.function_lowering import FunctionLowering
from trodden.native.lower.insertions import Emitted, gather
from trodden.native.lower.probe_locations import ProbeLocations, locate_probes
from trodden.native.lower.runtime_symbols import COUNT_SPARSE, UNWIND_RESUME
from trodden.native.lower.unit import UnitLowering
from trodden.native.planning.plan_function import Planned
from trodden.plan.overlap_probes import BumpOverlap
from trodden.plan.probes import Bump, BumpAt, Plan


@dataclass(frozen=True)
class FunctionInUnit:
    """A function's number in its unit, its first slot, its line, whether it is not to be optimised, and what
    it counts over calls.
    """

    number: int
    first_slot: int
    line: int
    optnone: bool
    calls: FunctionLayout | None = None


@dataclass(frozen=True)
class Lowered:
    """The new text of a function, and how many slots it uses.

    ``registers`` is what the path register holds while calls are active (see FunctionFacts); ``called`` are
    the functions outside the unit that the new code calls.
    """

    text: str
    slots: int
    registers: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    called: frozenset[str] = frozenset()


def lower(read: FunctionCfg, planned: Planned, unit: UnitLowering, function: FunctionInUnit) -> Lowered:
    """The function's text with the plan's probes in it."""
    plan = planned.plan
    lowering = _function_lowering(read, unit, function)
    locations = locate_probes(read, plan)
    values = track_register(read, planned)
    overlaps = track_overlaps(read, planned, locations, values)
    tuples = track_tuples(read, planned, locations, values)
    register = choose_phis(read, planned, locations, values, overlaps, tuples)
    names = None if unit.calls is None else unit.calls.names
    crossings = CrossingEmitter.of(read, plan, function.calls, names)
    paths = PathEmitter.of(lowering, plan, register, unit.last_paths_tag, overlaps, crossings, tuples)
    trace = TraceEmitter.of(
        lowering, plan, register, locations, planned.inductions, unit.traced, function.optnone
    )
    spare_slot = function.first_slot + plan.slots

    probes = emit_probes(lowering, locations, paths or trace, planned.inductions, spare_slot)
    emitted = [probes, emit_iteration_counters(lowering, locations, planned.inductions)]
    if paths is not None:
        emitted.append(emit_register(lowering, paths))
        emitted.append(Emitted([emit_path_entry(lowering, plan, paths)]))
        if unit.calls is not None and crossings is None:
            emitted.append(Emitted([emit_removal(lowering)]))
    if trace is not None:
        # Where control arrives is recorded before what it does there.
        emitted.insert(0, trace.arrivals(lowering))
        emitted.append(emit_register(lowering, trace))
        emitted.append(Emitted([trace.entry(lowering, plan)]))
        emitted.append(trace.cursor.emit())
    if unit.call_paths:
        emitted.append(emit_call_paths(lowering))

    header = FunctionHeader(read.ir.header)
    labels = unit.labels(function.number, header.comdat, lowering.debug.call_location)
    lookup = lowering.builder()
    if paths is not None and paths.crossings is not None:
        lookup.lines += paths.crossings.variables
    for name, operation in lowering.access.addressing.lookup if locations.uses_counters(plan) else ():
        lookup.define(name, operation)
    weights = unit.branch_weights if planned.measured else None
    assembled = assemble(lowering, gather(emitted), lookup.lines, labels, weights, planned.weights)
    return Lowered(
        f"{lowering.debug.header(unit.with_personality(read.ir.header))}\n{assembled.text}\n}}",
        plan.slots + max(uses_spare_slot(lowering, probes), planned.fictitious.numbers),
        {} if register is None else register.slot.registers,
        _called(plan, locations, assembled.calls_resume),
    )


def _function_lowering(read: FunctionCfg, unit: UnitLowering, function: FunctionInUnit) -> FunctionLowering:
    return FunctionLowering(
        read=read,
        number=function.number,
        first_slot=function.first_slot,
        machine=unit.machine,
        access=unit.access(function.optnone),
        debug=unit.function_debug(
            read.ir.header, read.graph, function.number, function.line, function.optnone
        ),
        names=ProbeNames(),
        landing_pads=read.landing_pads,
    )


def _called(plan: Plan, locations: ProbeLocations, resumes: bool) -> frozenset[str]:
    sparse = plan.paths is not None and not plan.paths.dense
    counting = (Bump, BumpAt, BumpOverlap)
    counts_sparse = sparse and any(isinstance(probe, counting) for probe in locations.probes())
    counts_sparse |= plan.tuples is not None and not plan.tuples.dense
    called = {COUNT_SPARSE: counts_sparse, UNWIND_RESUME: resumes}
    return frozenset(symbol for symbol, used in called.items() if used)
