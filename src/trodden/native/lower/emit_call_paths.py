"""The code that keeps the path of calls by which a function was reached (BL96 §1.2).

A thread-local variable holds the thread's place in its tree of call paths (runtime/contexts.c).  A function
goes on from there when it is entered and puts back what it found when it is left, whichever way: before it
returns, before it hands its frame over to a call in tail position, before an exception goes on.  Where an
exception or a longjmp comes in from frames that had no chance to do so, it puts its own place back.  What it
has found lies in a cell of its frame too, for the runtime, if an exception may pass it.

What is done at every entry lies in a small function of the unit that leaves all registers alone but the one
for its answer, and takes its argument in a register that no C function uses for one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trodden.native.analysis.function_cfg import FunctionRead
from trodden.native.ir.module import IRModule
from trodden.native.lower.register_slot import cell_entry

CALLER = "@__trodden_caller"
WHERE = "@__trodden_place"
_KEYS = "@__trodden_keys"
_ENTER = "@__trodden_entered"
_OTHERWISE = "@__trodden_entered.otherwise"
_WAYS = 8
_KEY, _TO, _COUNT, _FRAME, _PARENT, _LAST = 0, 8, 16, 24, 32, 40
_ADD = {
    "x86_64": '"incq $0", "=*m,*m,~{flags}"',
    "aarch64": '"0:\\0Aldxr x16, $0\\0Aadd x16, x16, #1\\0Astxr w17, x16, $0\\0Acbnz w17, 0b", '
    '"=*Q,*Q,~{x16},~{x17}"',
}
_KEEP_FRAME = {
    "x86_64": '"movq %rsp, $0", "=*m"',
    "aarch64": '"mov x16, sp\\0Astr x16, $0", "=*m,~{x16}"',
}
_PARENT_NAME, _NODE_NAME = "%trodden.parent", "%trodden.node"
_CELL = "trodden.parent.cell"


@dataclass(frozen=True)
class Room:
    """Where code can go: the top and the bottom of a block, and an edge that can be split."""

    top: Callable[[int], list[str]]
    bottom: Callable[[int], list[str]]
    on: Callable[[int], list[str]]


class CallCode:
    """Makes this code for one function, the one with that number in its unit."""

    leaving = f"  store ptr {_PARENT_NAME}, ptr {CALLER}, align 8"
    returning = f"  store ptr {_NODE_NAME}, ptr {CALLER}, align 8"

    def __init__(self, read: FunctionRead, number: int, machine: str) -> None:
        self._read = read
        self._number = number
        self._told = machine == "x86_64" and not read.nounwind and _may_be_passed(read)
        self._pads = [
            v for v, block in enumerate(read.ir.blocks) if is_pad(block.text[: block.insertion_point()])
        ]

    def entering(self) -> list[str]:
        """What comes first in the function."""
        key = f"getelementptr (i8, ptr {_KEYS}, i64 {16 * self._number})"
        enter = f"{_ENTER}.{self._number % _WAYS}"
        lines = [f"  {_PARENT_NAME} = call preserve_mostcc ptr {enter}(ptr nest {key})"]
        if self._pads or any(call.returns_twice for calls in self._read.calls for call in calls):
            lines.append(f"  {_NODE_NAME} = load ptr, ptr {CALLER}, align 8")
        if self._told:
            lines.insert(0, f"  %{_CELL} = alloca ptr, align 8")
            lines.append(f"  store volatile ptr {_PARENT_NAME}, ptr %{_CELL}, align 8")
            lines.append(cell_entry(_CELL, "call"))
        return lines

    def place(self, room: Room) -> None:
        """Put it into the function.

        A block that must stay empty, so that a call before it stays in tail position, has it on the edges.
        """
        read = self._read
        for pad in self._pads:
            room.top(pad).append(self.returning)
        for block, final in enumerate(read.tail_calls.by_block):
            opcode, label = read.ir.blocks[block].opcode, read.ir.blocks[block].label
            if opcode == "ret" and label in read.tail_calls.return_blocks:
                self._leave_before(block, room)
            elif opcode in ("ret", "resume") or (opcode == "br" and final is not None):
                room.bottom(block).append(self.leaving)

    def _leave_before(self, block: int, room: Room) -> None:
        read = self._read
        for edge in read.in_edges(block):
            source = read.graph.edges[edge].src
            if read.single_successor(edge):
                if read.tail_calls.by_block[source] is None:
                    room.bottom(source).append(self.leaving)
            elif read.splittable(edge):
                room.on(edge).append(self.leaving)
            elif self.leaving not in room.top(block):
                room.top(block).append(self.leaving)


def _may_be_passed(read: FunctionRead) -> bool:
    """Whether an exception may come through the function and go on."""
    invoking = any(block.opcode == "invoke" for block in read.ir.blocks)
    return invoking or any(call.may_unwind for calls in read.calls for call in calls)


def is_pad(head: str) -> bool:
    """Whether what a block begins with makes it a landing pad."""
    return " = landingpad " in head


def declare_calls(module: IRModule, functions: int, machine: str, shared: bool) -> list[str]:
    """What the code of a whole unit needs: keys of its functions, the place, and the functions at entry.

    The place is one for the whole process, so that paths lead from one module into another.
    """
    model = "initialexec" if shared else "localexec"
    keys = ", ".join(f"{{ ptr, i64 }} {{ ptr @__trodden_unit, i64 {number} }}" for number in range(functions))
    lines = [
        f"{CALLER} = weak thread_local({model}) global ptr @trodden_outside, align 8",
        "@trodden_outside = external hidden global i8",
        f"{_KEYS} = internal constant [{functions} x {{ ptr, i64 }}] [{keys}], align 16",
        "declare hidden preserve_mostcc ptr @__trodden_call(ptr, ptr) nounwind",
        f"define internal ptr {WHERE}() nounwind uwtable {{",
        f"  %address = call ptr @llvm.threadlocal.address.p0(ptr {CALLER})",
        "  ret ptr %address",
        "}",
    ]
    used = [way for way in range(_WAYS) if any(f"{_ENTER}.{way}(" in text for text in module.definitions)]
    for way in used:
        lines += _entered(way, machine)
    return lines + (_entered_otherwise(machine) if used else [])


def _entered(way: int, machine: str) -> list[str]:
    """The place where the function was called last from here is the likeliest."""
    return [
        f"define internal preserve_mostcc ptr {_ENTER}.{way}(ptr nest %key) nounwind noinline uwtable {{",
        f"  %parent = load ptr, ptr {CALLER}, align 8",
        f"  %way = getelementptr i8, ptr %parent, i64 {_LAST + 8 * way}",
        "  %call = load ptr, ptr %way, align 8",
        f"  %known = getelementptr i8, ptr %call, i64 {_KEY}",
        "  %function = load ptr, ptr %known, align 8",
        "  %same = icmp eq ptr %function, %key",
        '  br i1 %same, label %go, label %ask, !prof !{!"branch_weights", i32 2000, i32 1}',
        "go:",
        *_go_on(machine),
        "  ret ptr %parent",
        "ask:",
        f"  %answer = musttail call preserve_mostcc ptr {_OTHERWISE}(ptr nest %key)",
        "  ret ptr %answer",
        "}",
    ]


def _entered_otherwise(machine: str) -> list[str]:
    return [
        f"define internal preserve_mostcc ptr {_OTHERWISE}(ptr nest %key) nounwind noinline uwtable {{",
        f"  %before = load ptr, ptr {CALLER}, align 8",
        "  %call = call preserve_mostcc ptr @__trodden_call(ptr %key, ptr %before)",
        f"  %known = getelementptr i8, ptr %call, i64 {_PARENT}",
        "  %parent = load ptr, ptr %known, align 8",
        *_go_on(machine),
        "  ret ptr %parent",
        "}",
    ]


def _go_on(machine: str) -> list[str]:
    """Count a call, in one step as far as a signal handler can see, and go where it leads."""
    return [
        f"  %count = getelementptr i8, ptr %call, i64 {_COUNT}",
        f"  %frame = getelementptr i8, ptr %call, i64 {_FRAME}",
        f"  call void asm sideeffect {_ADD[machine]}"
        "(ptr elementtype(i64) %count, ptr elementtype(i64) %count)",
        f"  call void asm sideeffect {_KEEP_FRAME[machine]}(ptr elementtype(i64) %frame)",
        f"  %target = getelementptr i8, ptr %call, i64 {_TO}",
        "  %to = load ptr, ptr %target, align 8",
        f"  store ptr %to, ptr {CALLER}, align 8",
    ]
