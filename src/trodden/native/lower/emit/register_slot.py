"""The stack slot in which a frame keeps its path register while calls are active (BL96 §3.6).

When the program ends inside a call, or when a jump or an exception leaves frames behind, the path of each
frame is cut short, and which path it was must be known from outside.  Mostly the block of the call is enough:
where only one prefix leads to it, the register is a constant.  Elsewhere the base of its value is stored into
a stack slot before the call, unless the slot holds it already.  Where the slot is in the frame is written,
without any instruction, into a section that the runtime reads.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.planning.register_slots import block_frequencies
from trodden.plan.paths.path_register import STACK_SLOT, UNSET, Base, Register, Value

LINE_ENDS = ".ascii \\22\\22\\0A"
"""No bytes, but the assembler enters a pending change of line before it continues in another section."""


def slot_entry(slot: str, kind: str) -> str:
    """A call of inline assembly, without instructions, that tells the runtime where a stack slot is.

    Its kind is a word of four letters.
    """
    return (
        f'call void asm sideeffect ".Ltrodden_cell${{:uid}}:\\0A{LINE_ENDS}'
        ".pushsection .trodden_cells,\\22ao?\\22,@progbits,.Ltrodden_cell${:uid}\\0A.balign 16\\0A"
        ".Ltrodden_entry${:uid}:\\0A.long .Ltrodden_cell${:uid} - .Ltrodden_entry${:uid}\\0A"
        f"leaq $0, %rax\\0A.zero 12 - (. - .Ltrodden_entry${{:uid}})\\0A.ascii \\22{kind}\\22\\0A"
        f'.popsection", "*m"(ptr elementtype(i64) %{slot}) nounwind'
    )


@dataclass(frozen=True)
class RegisterSlot:
    """What the stack slot of a function holds.

    ``registers`` says what the path register is while a call of a block is active: whether what the slot
    holds is part of it, and what is added.  ``stores`` are the blocks at whose top a base is stored,
    ``reads`` are all values that are.
    """

    registers: Mapping[int, tuple[bool, int]]
    stores: Mapping[int, Base]
    reads: Sequence[Value]


def choose_slot(
    read: FunctionCfg, register: Register, ambiguous: Collection[int], weights: Sequence[float]
) -> RegisterSlot:
    """Decide where the bases are stored that calls in ``ambiguous`` blocks need.

    A base is stored before those calls, or once where it is defined, if that is cheaper.  Nothing else can
    be stored in between: wherever something is, the register has another base.
    """
    registers: dict[int, tuple[bool, int]] = {}
    needed: dict[Base, list[int]] = {}
    for block in sorted(ambiguous):
        value = register.at[block] or UNSET
        registers[block] = (value.base is not None, value.add)
        if value.base is not None and value.base != STACK_SLOT:
            needed.setdefault(value.base, []).append(block)
    frequency = block_frequencies(read, weights) if needed else []
    stores: dict[int, Base] = {}
    for base, blocks in needed.items():
        defined = register.phis[base][0]
        cheaper = frequency[defined] < sum(frequency[block] for block in blocks)
        stores |= dict.fromkeys([defined] if cheaper else blocks, base)
    return RegisterSlot(registers, dict(sorted(stores.items())), [Value(base, 0) for base in needed])
