"""What is added to a module beside probes: counters, the unit's entry for the runtime, metadata."""

from __future__ import annotations

from collections.abc import Collection

from trodden.native.ir.module import IRModule
from trodden.native.ir.module_properties import take_used_globals
from trodden.native.ir.strip_debug import strip_declarations
from trodden.native.ir.symbols import ifunc_resolvers, names_function
from trodden.native.lower.call_site_labels import declare_resume
from trodden.native.lower.emit.call_paths import FIND_CALLER, declare_call_paths
from trodden.native.lower.emit.last_paths import FIND_RING, FLAG_SHIFT, declare_ring
from trodden.native.lower.emit.trace_records import FIND_CURSOR, UNLIKELY, declare_trace
from trodden.native.lower.ifunc_resolvers import declarations, offset_loader
from trodden.native.lower.runtime_symbols import (
    CALLER,
    COUNT_SPARSE,
    CURSOR,
    RING,
    TOKENS,
    UNIT,
    UNWIND_RESUME,
)
from trodden.native.lower.unit import UnitLowering
from trodden.program.facts import UnitFacts

_LAYOUT = "@__trodden_layout_4"
"""What the runtime calls the layout of a unit's entry: a unit with another layout does not link."""

_FIND_COUNTERS = "@__trodden_where"


def finish_module(
    module: IRModule, unit: UnitLowering, facts: UnitFacts, called: Collection[str], filled: bool
) -> None:
    """Add what the lowered functions of a module need; ``called`` are the functions that they call.

    ``filled``: counters take space in the object file.
    """
    if not unit.keeps_debug:
        strip_declarations(module)
    module.epilogue = _globals(module, unit, facts, called, filled) + _metadata(module.epilogue, unit)


def _metadata(epilogue: str, unit: UnitLowering) -> str:
    nodes: list[str] = []
    if unit.sites is not None:
        nodes += unit.sites.metadata_nodes
    if unit.debug is not None:
        epilogue = unit.debug.add_to(epilogue)
    if unit.branch_weights is not None:
        nodes += unit.branch_weights.nodes
    if unit.traced is not None:
        nodes.append(f'!{unit.traced} = !{{!"branch_weights", i32 1, i32 {UNLIKELY - 1}}}')
    return epilogue + "".join(f"{node}\n" for node in nodes)


def _globals(
    module: IRModule, unit: UnitLowering, facts: UnitFacts, called: Collection[str], filled: bool
) -> str:
    """The counters, the unit's entry for the runtime, and all functions that are called."""
    addressing = unit.addressing
    signatures = module.signatures()
    lines = addressing.declarations(facts.slots, filled)
    lines += [_unit_entry(unit, facts), f"{_LAYOUT} = external hidden constant i8"]
    used = [*take_used_globals(module), f"ptr {UNIT}"]
    listed = ", ".join(used)
    lines.append(f'@llvm.used = appending global [{len(used)} x ptr] [{listed}], section "llvm.metadata"')
    if unit.personalities is not None:
        lines += unit.personalities.declarations(signatures)
    if UNWIND_RESUME in called:
        lines += declare_resume(signatures)
    if not names_function(signatures, "@llvm.threadlocal.address.p0"):
        lines.append("declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull)")
    if COUNT_SPARSE in called:
        lines.append(f"declare preserve_mostcc void {COUNT_SPARSE}(ptr, i64, i64, i64) nounwind willreturn")
    if not names_function(signatures, "@llvm.readcyclecounter"):
        lines.append("declare i64 @llvm.readcyclecounter()")
    if ifunc_resolvers(module):
        lines += declarations()
    if unit.call_paths:
        lines += declare_call_paths(len(facts.functions), unit.machine, addressing.shared)
        if unit.machine == "x86_64":
            lines += offset_loader("trodden_caller_offset", CALLER)
    if unit.last_paths:
        lines += declare_ring(addressing.shared)
        if unit.machine == "x86_64":
            lines += offset_loader("trodden_ring_offset", RING)
    if unit.traced is not None:
        lines += declare_trace(len(facts.functions), addressing.shared)
        if unit.machine == "x86_64":
            lines += offset_loader("trodden_trace_offset", CURSOR)
        if not names_function(signatures, "@llvm.ctlz.i64"):
            lines.append("declare i64 @llvm.ctlz.i64(i64, i1 immarg)")
    lines += [
        f"define internal ptr {_FIND_COUNTERS}() nounwind {{",
        f"  %address = call ptr @llvm.threadlocal.address.p0(ptr {addressing.variable})",
        "  ret ptr %address",
        "}",
        "",
        "",
    ]
    return "\n".join(lines)


def _unit_entry(unit: UnitLowering, facts: UnitFacts) -> str:
    identity = "".join(f"\\{facts.id[i : i + 2]}" for i in range(0, 32, 2))
    flags = int(not unit.addressing.shared) | int(unit.call_paths) << 1 | unit.last_paths << FLAG_SHIFT
    caller = FIND_CALLER if unit.call_paths else "null"
    ring = FIND_RING if unit.last_paths else "null"
    trace, tokens, functions = "null", "null", 0
    if unit.traced is not None:
        trace, tokens, functions = FIND_CURSOR, TOKENS, len(facts.functions)
    return (
        f"{UNIT} = internal global {{ [16 x i8], i32, i32, ptr, ptr, i64, i64, ptr, ptr, ptr, ptr, i64 }} "
        f'{{ [16 x i8] c"{identity}", i32 {facts.slots}, i32 {flags}, '
        f"ptr {_FIND_COUNTERS}, ptr {caller}, i64 0, i64 0, ptr {ring}, ptr {_LAYOUT}, "
        f"ptr {trace}, ptr {tokens}, i64 {functions} }}, "
        'section "trodden_units", align 8'
    )
