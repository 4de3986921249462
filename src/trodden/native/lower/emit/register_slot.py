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
from typing import Any

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.planning.register_slots import block_frequencies
from trodden.plan.paths.path_register import STACK_SLOT, UNSET, Base, OverlapPhi, Register, Value
from trodden.program.frame_word import join

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

    ``registers`` says what the path register is while a call of a block is active, and in a function whose
    paths are extended that of the overlap (see FunctionFacts).  ``stores`` are the blocks at whose top a base
    of the path register is stored, ``overlap_stores`` the same for that of the overlap, in the upper half of
    the slot.  ``reads`` are all values of the path register that are stored.
    """

    registers: Mapping[int, tuple[int, int]]
    stores: Mapping[int, Base]
    overlap_stores: Mapping[int, Base]
    reads: Sequence[Value]


def choose_slot(
    read: FunctionCfg,
    register: Register,
    ambiguous: Collection[int],
    weights: Sequence[float],
    overlaps: Mapping[int, Value] | None = None,
) -> RegisterSlot:
    """Decide where the bases are stored that calls in ``ambiguous`` blocks need.

    ``overlaps`` has the register of the overlap in each block in which one may be active when a path is cut
    short; without it no path is extended.
    """
    registers: dict[int, tuple[int, int]] = {}
    for block in sorted({*ambiguous, *(overlaps or ())}):
        path = (register.at[block] or UNSET) if block in ambiguous else UNSET
        if overlaps is None:
            registers[block] = (int(path.base is not None), path.add)
        else:
            overlap = overlaps.get(block, UNSET)
            stored = int(path.base is not None) + 2 * int(overlap.base is not None)
            registers[block] = stored, join(path.add, overlap.add)
    values = {block: register.at[block] or UNSET for block in sorted(ambiguous)}
    defined = {base: block for base, (block, _) in register.phis.items()}
    stores = _stores(read, weights, values, defined)
    phis = {v.base: v.base.block for v in (overlaps or {}).values() if isinstance(v.base, OverlapPhi)}
    overlap_stores = _stores(read, weights, overlaps or {}, phis)
    reads = [Value(base, 0) for base in dict.fromkeys(stores.values())]
    return RegisterSlot(registers, stores, overlap_stores, reads)


def _stores(
    read: FunctionCfg, weights: Sequence[float], values: Mapping[int, Value], defined: Mapping[Any, int]
) -> dict[int, Base]:
    """The blocks at whose top a base is stored, for the calls in some blocks that need these values.

    It is stored before those calls, or once in the block where it is ``defined``, if that is cheaper.
    Nothing else can be stored in between: wherever something is, the register has another base.
    """
    needed: dict[Base, list[int]] = {}
    for block, value in sorted(values.items()):
        if value.base is not None and value.base != STACK_SLOT:
            needed.setdefault(value.base, []).append(block)
    frequency = block_frequencies(read, weights) if needed else []
    stores: dict[int, Base] = {}
    for base, blocks in needed.items():
        once = defined.get(base)
        cheaper = once is not None and frequency[once] < sum(frequency[block] for block in blocks)
        stores |= dict.fromkeys([once] if once is not None and cheaper else blocks, base)
    return dict(sorted(stores.items()))
