"""The registers and the stack of a frame before instructions of x86-64 that it has just executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trodden.collect.binary.dwarf_expressions import Frame
from trodden.collect.binary.x86_state import WORD, State, tables

if TYPE_CHECKING:
    import iced_x86


class Reversal(State):
    """Undoes one instruction after the other; values of ``size`` bytes have to be right."""

    def __init__(self, frame: Frame, size: int) -> None:
        super().__init__(frame)
        self._least = size

    def undo(self, each: iced_x86.Instruction) -> None:
        """Go back over one instruction: forget what it has overwritten, unless it can be computed."""
        names = tables()
        size = self.size_of(each, 0) if each.op_count else None
        result = self.operand(each, 0) if size is not None and size >= self._least else None
        to_register = each.op_count > 0 and each.op0_kind == names.register
        restored: tuple[int, int] | None = None
        if result is not None and each.mnemonic == names.move:
            restored = self._moved(each, result)
        elif result is not None and to_register and size is not None:
            restored = self._computed(each, result, size)
        self.forget(each)
        if restored is not None:
            self.registers[restored[0]] = restored[1]

    def _moved(self, each: iced_x86.Instruction, result: int) -> tuple[int, int] | None:
        """What was moved is still where it was moved to, even if its register has another value now."""
        names = tables()
        if each.op1_kind != names.register or each.op1_register not in names.registers:
            return None
        number = names.registers[each.op1_register][0]
        return None if number in self.registers else (number, result)

    def _computed(self, each: iced_x86.Instruction, result: int, size: int) -> tuple[int, int] | None:
        """The former value of a register that was added to, or the like."""
        names = tables()
        inverse = names.inverses.get(each.mnemonic)
        number = names.registers[each.op0_register][0]
        if each.mnemonic == names.address:
            alone = each.memory_index == names.no_register and each.memory_base in names.registers
            if not alone or names.registers[each.memory_base][1] != WORD:
                return None
            source = names.registers[each.memory_base][0]
            if source != number and source in self.registers:
                return None
            return source, (result - each.memory_displacement) % (1 << 8 * size)
        if inverse is None:
            return None
        amount = 0
        if each.op_count == 2:
            same = each.op1_kind == names.register and names.full.get(each.op1_register) == number
            known = None if same else self.operand(each, 1)
            if known is None:
                return None
            amount = known
        return number, inverse(result, amount) % (1 << 8 * size)
