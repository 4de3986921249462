"""Emit the code that keeps the call path by which a function was reached (BL96 §1.2).

A thread-local variable holds the thread's position in its call-path tree
(``runtime/counters/call_path_tree.c``).  A function proceeds from there when it is entered and restores what
it found whenever it is left: before it returns, before a call in tail position takes over its frame, before
an exception propagates.  Where an exception or a longjmp arrives from frames that could not do so, it
restores its own position.  What it has found is in a stack slot of its frame too, for the runtime, if an
exception may propagate through it.

What is done at every entry is in a small function of the unit that preserves all registers but the one for
its result, and takes its argument in a register that no C function uses for one.
"""

from __future__ import annotations

from collections.abc import Iterator

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.lower.emit.register_slot import slot_entry
from trodden.native.lower.function_lowering import FunctionLowering
from trodden.native.lower.insertions import Emitted, Insertion, Point, Where
from trodden.native.lower.runtime_symbols import CALLER, UNIT

FIND_CALLER = "@__trodden_place"
_OUTSIDE = "@trodden_outside"
_KEYS = "@__trodden_keys"
_ENTER = "@__trodden_entered"
_ENTER_SLOWLY = "@__trodden_entered.otherwise"
_ENTER_FUNCTIONS = 8
"""How many functions of a node's last calls are remembered: each has an entry function of its own."""

_KEY, _CHILD, _COUNT, _FRAME, _PARENT, _LAST = 0, 8, 16, 24, 32, 40
"""Offsets in the runtime's record of a call, and of the last calls in its node."""

_INCREMENT = {
    "x86_64": '"incq $0", "=*m,*m,~{flags}"',
    "aarch64": '"0:\\0Aldxr x16, $0\\0Aadd x16, x16, #1\\0Astxr w17, x16, $0\\0Acbnz w17, 0b", '
    '"=*Q,*Q,~{x16},~{x17}"',
}
_STORE_FRAME = {
    "x86_64": '"movq %rsp, $0", "=*m"',
    "aarch64": '"mov x16, sp\\0Astr x16, $0", "=*m,~{x16}"',
}
_PARENT_VALUE, _NODE_VALUE = "trodden.parent", "trodden.node"
_PARENT_SLOT = "trodden.parent.cell"
_RESTORE_CALLER = f"store ptr %{_PARENT_VALUE}, ptr {CALLER}, align 8"
_RESTORE_OWN = f"store ptr %{_NODE_VALUE}, ptr {CALLER}, align 8"


def emit_call_paths(lowering: FunctionLowering) -> Emitted:
    """What a function does when it is entered, when it is left, and when control returns to it abnormally."""
    read = lowering.read
    restore_points = [Point(Where.TOP, pad) for pad in sorted(lowering.landing_pads)]
    restore_points += [_after_returns_twice(read, block) for block in sorted(read.returns_twice)]
    return Emitted(
        [
            *(_insert(lowering, point, _RESTORE_OWN) for point in restore_points),
            *(_insert(lowering, point, _RESTORE_CALLER) for point in _exits(read)),
            _entry(lowering),
        ]
    )


def _after_returns_twice(read: FunctionCfg, block: int) -> Point:
    """The point that is executed whenever the call at the end of a block returns, normally or by a longjmp.

    After an invoke that is its normal edge.
    """
    if read.ir.blocks[block].opcode != "invoke":
        return Point(Where.AFTER_CALL, block)
    (edge,) = (each for each in read.graph.out_edges[block] if read.positions[each] == (0,))
    if read.single_predecessor(edge):
        return Point(Where.TOP, read.graph.edges[edge].dst)
    return Point(Where.EDGE, edge)


def _insert(lowering: FunctionLowering, point: Point, instruction: str) -> Insertion:
    builder = lowering.builder()
    builder.emit(instruction)
    return lowering.insert(point, builder.lines)


def _entry(lowering: FunctionLowering) -> Insertion:
    builder = lowering.builder()
    key = f"getelementptr (i8, ptr {_KEYS}, i64 {16 * lowering.number})"
    enter = f"{_ENTER}.{lowering.number % _ENTER_FUNCTIONS}"
    in_slot = (
        lowering.machine == "x86_64" and not lowering.read.nounwind and _may_unwind_through(lowering.read)
    )
    if in_slot:
        builder.define(_PARENT_SLOT, "alloca ptr, align 8")
    builder.define(_PARENT_VALUE, f"call preserve_mostcc ptr {enter}(ptr nest {key})")
    if lowering.landing_pads or lowering.read.returns_twice:
        builder.define(_NODE_VALUE, f"load ptr, ptr {CALLER}, align 8")
    if in_slot:
        builder.emit(f"store volatile ptr %{_PARENT_VALUE}, ptr %{_PARENT_SLOT}, align 8")
        builder.emit(slot_entry(_PARENT_SLOT, "call"))
    return lowering.insert(Point(Where.CALL_PATH_ENTRY, 0), builder.lines)


def _exits(read: FunctionCfg) -> Iterator[Point]:
    """The points at which the function is left, or gives its frame to a call in tail position.

    A block that must stay empty, so that a call in front of it stays in tail position, is replaced by its
    in-edges.
    """
    for block, final in enumerate(read.tail_calls.by_block):
        opcode, label = read.ir.blocks[block].opcode, read.ir.blocks[block].label
        if opcode == "ret" and label in read.tail_calls.return_blocks:
            yield from _edges_into(read, block)
        elif opcode in ("ret", "resume") or (opcode == "br" and final is not None):
            yield Point(Where.BOTTOM, block)


def _edges_into(read: FunctionCfg, block: int) -> Iterator[Point]:
    at_top = False
    for edge in read.in_edges(block):
        source = read.graph.edges[edge].src
        if read.single_successor(edge):
            if read.tail_calls.by_block[source] is None:
                yield Point(Where.BOTTOM, source)
        elif read.splittable(edge):
            yield Point(Where.EDGE, edge)
        elif not at_top:
            at_top = True
            yield Point(Where.TOP, block)


def _may_unwind_through(read: FunctionCfg) -> bool:
    """Whether an exception may enter the function and propagate further."""
    invoking = any(block.opcode == "invoke" for block in read.ir.blocks)
    return invoking or any(call.may_unwind for calls in read.calls for call in calls)


def declare_call_paths(functions: int, machine: str, shared: bool) -> list[str]:
    """What a unit with so many functions needs: their keys, the thread's position, the entry functions.

    There is one position for the whole process, so that call paths lead from one module into another.
    """
    model = "initialexec" if shared else "localexec"
    keys = ", ".join(f"{{ ptr, i64 }} {{ ptr {UNIT}, i64 {number} }}" for number in range(functions))
    lines = [
        f"{CALLER} = weak thread_local({model}) global ptr {_OUTSIDE}, align 8",
        f"{_OUTSIDE} = external hidden global i8",
        f"{_KEYS} = internal constant [{functions} x {{ ptr, i64 }}] [{keys}], align 16",
        "declare hidden preserve_mostcc ptr @__trodden_call(ptr, ptr) nounwind",
        f"define internal ptr {FIND_CALLER}() nounwind uwtable {{",
        f"  %address = call ptr @llvm.threadlocal.address.p0(ptr {CALLER})",
        "  ret ptr %address",
        "}",
    ]
    for index in range(min(functions, _ENTER_FUNCTIONS)):
        lines += _enter(index, machine)
    return lines + (_enter_slowly(machine) if functions else [])


def _enter(index: int, machine: str) -> list[str]:
    """Proceed quickly if the last call here, of functions with this index, was of the same function."""
    return [
        f"define internal preserve_mostcc ptr {_ENTER}.{index}(ptr nest %key) nounwind noinline uwtable {{",
        f"  %parent = load ptr, ptr {CALLER}, align 8",
        f"  %way = getelementptr i8, ptr %parent, i64 {_LAST + 8 * index}",
        "  %call = load ptr, ptr %way, align 8",
        f"  %known = getelementptr i8, ptr %call, i64 {_KEY}",
        "  %function = load ptr, ptr %known, align 8",
        "  %same = icmp eq ptr %function, %key",
        '  br i1 %same, label %go, label %ask, !prof !{!"branch_weights", i32 2000, i32 1}',
        "go:",
        *_proceed(machine),
        "  ret ptr %parent",
        "ask:",
        f"  %answer = musttail call preserve_mostcc ptr {_ENTER_SLOWLY}(ptr nest %key)",
        "  ret ptr %answer",
        "}",
    ]


def _enter_slowly(machine: str) -> list[str]:
    """Ask the runtime for the record of the call."""
    return [
        f"define internal preserve_mostcc ptr {_ENTER_SLOWLY}(ptr nest %key) nounwind noinline uwtable {{",
        f"  %before = load ptr, ptr {CALLER}, align 8",
        "  %call = call preserve_mostcc ptr @__trodden_call(ptr %key, ptr %before)",
        f"  %known = getelementptr i8, ptr %call, i64 {_PARENT}",
        "  %parent = load ptr, ptr %known, align 8",
        *_proceed(machine),
        "  ret ptr %parent",
        "}",
    ]


def _proceed(machine: str) -> list[str]:
    """Count a call, by an instruction that no signal can divide, and make its node the current one."""
    return [
        f"  %count = getelementptr i8, ptr %call, i64 {_COUNT}",
        f"  %frame = getelementptr i8, ptr %call, i64 {_FRAME}",
        f"  call void asm sideeffect {_INCREMENT[machine]}"
        "(ptr elementtype(i64) %count, ptr elementtype(i64) %count)",
        f"  call void asm sideeffect {_STORE_FRAME[machine]}(ptr elementtype(i64) %frame)",
        f"  %target = getelementptr i8, ptr %call, i64 {_CHILD}",
        "  %to = load ptr, ptr %target, align 8",
        f"  store ptr %to, ptr {CALLER}, align 8",
    ]
