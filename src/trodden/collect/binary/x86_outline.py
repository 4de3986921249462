"""The outline of x86-64 code: instruction boundaries, where control goes, what is padding, what is written.

:mod:`trodden.collect.binary.x86` says more of each instruction, for a few functions.  An outline is cheap
enough for all functions that a program has executed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import iced_x86


class Outline(NamedTuple):
    """One instruction; ``target`` is where a direct jump or branch leads, -1 for others.

    ``falls_through``: control may go on with the next instruction.  ``padding``: it does nothing.
    """

    address: int
    end: int
    target: int
    falls_through: bool
    padding: bool


class RegisterUse(NamedTuple):
    """Which general-purpose register an instruction writes and reads, by DWARF numbers; -1 for none.

    ``slot`` is the base register and the displacement of the memory operand of a move, if that is all of it.
    ``updates``: the register is read before it is written.
    """

    written: int
    stored: int
    updates: bool
    slot: tuple[int, int] | None


def outline(code: bytes, address: int) -> list[Outline] | None:
    """The instructions of a function; None where its code does not end with an instruction that is known."""
    from iced_x86 import Decoder

    tables = _tables()
    next_flow, direct, falling = tables.next_flow, tables.direct, tables.falling
    padding, trap = tables.padding, tables.trap
    found: list[Outline] = []
    for each in Decoder(64, code, ip=address):
        if each.is_invalid:
            return None
        flow = each.flow_control
        if flow == next_flow:
            mnemonic = each.mnemonic
            found.append(Outline(each.ip, each.next_ip, -1, mnemonic != trap, mnemonic == padding))
        else:
            target = each.near_branch_target if flow in direct else -1
            found.append(Outline(each.ip, each.next_ip, target, flow in falling, False))
    return found


def register_uses(code: bytes, address: int) -> list[RegisterUse]:
    """What the instructions of a function do with general-purpose registers."""
    from iced_x86 import Decoder

    tables = _tables()
    return [tables.register_use(each) for each in Decoder(64, code, ip=address)]


class _Tables:
    """The enumerations of iced-x86 by what matters here."""

    def __init__(self) -> None:
        from iced_x86 import FlowControl, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register

        self.next_flow = FlowControl.NEXT
        self.direct = frozenset(
            {FlowControl.UNCONDITIONAL_BRANCH, FlowControl.CONDITIONAL_BRANCH, FlowControl.XBEGIN_XABORT_XEND}
        )
        self.falling = frozenset(
            {
                FlowControl.CONDITIONAL_BRANCH,
                FlowControl.CALL,
                FlowControl.INDIRECT_CALL,
                FlowControl.INTERRUPT,
                FlowControl.XBEGIN_XABORT_XEND,
            }
        )
        self.padding = Mnemonic.NOP
        self.trap = Mnemonic.HLT
        self._info = InstructionInfoFactory()
        self._written = frozenset({OpAccess.WRITE, OpAccess.COND_WRITE})
        self._updated = frozenset({OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE})
        self._register, self._memory = OpKind.REGISTER, OpKind.MEMORY
        self._move, self._no_register = Mnemonic.MOV, Register.NONE
        names = ("AX", "DX", "CX", "BX", "SI", "DI", "BP", "SP")
        numbers = {getattr(Register, f"{size}{name}"): n for n, name in enumerate(names) for size in "RE"}
        numbers |= {getattr(Register, f"R{n}{size}"): n for n in range(8, 16) for size in ("", "D")}
        self._numbers: dict[int, int] = numbers

    def register_use(self, each: iced_x86.Instruction) -> RegisterUse:
        """The use of registers by one instruction."""
        numbers = self._numbers
        written, stored, updates, slot = -1, -1, False, None
        first = each.op0_kind if each.op_count else -1
        if first == self._register:
            access = self._info.info(each).op0_access
            updates = access in self._updated
            if updates or access in self._written:
                written = numbers.get(each.op0_register, -1)
        elif first == self._memory and each.mnemonic == self._move and each.op1_kind == self._register:
            stored = numbers.get(each.op1_register, -1)
        if each.mnemonic == self._move and each.memory_index == self._no_register:
            base = numbers.get(each.memory_base, -1)
            if base >= 0:
                slot = base, _signed(each.memory_displacement)
        return RegisterUse(written, stored, updates, slot)


def _signed(number: int) -> int:
    """A displacement, which iced-x86 states in 64 bits."""
    return number - (1 << 64) if number >> 63 else number


@cache
def _tables() -> _Tables:
    return _Tables()
