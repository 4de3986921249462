"""Branches on a variable that was set to a constant just before: ``for (int i = 0; i < 10; i++)``.

A compiler that does not optimise keeps variables in memory.  Where a block loads one and compares it with a
constant, and the block before has stored a constant there, the edge between them decides the branch: the
condition of that loop holds when it is tested for the first time.  Only what is certain from these two blocks
is used: between the store and the load there is no call and no store through a pointer.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.ir.block import IRBlock
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.syntax.operands import is_integer
from trodden.program.facts import TruthPhi

_PREDICATES: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    **{f"{sign}{name}": getattr(operator, name) for sign in "su" for name in ("lt", "le", "gt", "ge")},
}
_ATOMIC = frozenset({"cmpxchg", "atomicrmw"})


def stored_constants(read: FunctionCfg) -> dict[int, TruthPhi]:
    """The blocks whose branch an edge decides by what was stored before it."""
    slots = frozenset(
        each.result for each in read.ir.blocks[0].instructions if each.opcode == "alloca" and each.result
    )
    found: dict[int, TruthPhi] = {}
    for vertex, block in enumerate(read.ir.blocks):
        tested = _tested(block, slots) if block.opcode == "br" and len(block.successors) == 2 else None
        if tested is None:
            continue
        slot, decide = tested
        known: dict[int, bool] = {}
        for edge in read.in_edges(vertex):
            source = read.graph.edges[edge].src
            value = None if source == vertex else _stored(read.ir.blocks[source], slot, slots)
            if value is not None:
                known[edge] = decide(value)
        if known:
            found[vertex] = TruthPhi(known, {}, tested=True, logical=False)
    return found


def _tested(block: IRBlock, slots: frozenset[str]) -> tuple[str, Callable[[int], bool]] | None:
    """The variable that a block compares with a constant, and what it finds for a value of it."""
    condition = block.terminator.condition
    test = None if condition is None else block.definition(condition)
    compare = None if test is None or test.opcode != "icmp" else _PREDICATES.get(test.predicate or "")
    if test is None or compare is None:
        return None
    left, right = test.operands
    load = None if left.local is None else block.definition(left.local)
    bits = left.type.removeprefix("i")
    if load is None or load.opcode != "load" or load.is_volatile or not is_integer(right.value):
        return None
    slot = load.operands[0].local
    if slot not in slots or slot is None or not bits.isdecimal() or _may_change(block, load.start):
        return None
    modulus = 1 << int(bits)
    unsigned = (test.predicate or "").startswith("u")
    constant = int(right.value) % modulus if unsigned else int(right.value)
    return slot, lambda value: compare(value % modulus if unsigned else value, constant)


def _may_change(block: IRBlock, end: int) -> bool:
    """Whether a block may change variables before a position."""
    before = (each for each in block.instructions if each.start < end)
    return any(each.opcode == "store" or each.opcode in _ATOMIC or _calls(each) for each in before)


def _calls(instruction: Instruction) -> bool:
    """Whether an instruction calls what may store; notes for debuggers and of lifetimes do not."""
    return instruction.is_call and not (instruction.callee or "").startswith(("llvm.dbg.", "llvm.lifetime."))


def _stored(block: IRBlock, slot: str, slots: frozenset[str]) -> int | None:
    """The constant that a variable has at the end of a block; None if that is not certain."""
    for instruction in reversed(block.instructions):
        if instruction.opcode == "store":
            value, pointer = instruction.operands[:2]
            if pointer.local == slot:
                known = is_integer(value.value) and not instruction.is_volatile
                return int(value.value) if known else None
            if pointer.local not in slots:
                return None
        elif _calls(instruction) or instruction.opcode in _ATOMIC:
            return None
    return None
