"""What straight-line x86-64 code makes of the registers and the stack of a frame.

Code generation moves a value at the end of a block to where the next one expects it, and computes it for a
probe, in instructions at which debug information does not say where it is.  It says so before them or behind
them, or the probe adds it to its counter: what is there follows from what the instructions do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trodden.collect.binary.dwarf_expressions import Frame
from trodden.collect.binary.x86_reversal import Reversal
from trodden.collect.binary.x86_state import WORD, State, tables

if TYPE_CHECKING:
    import iced_x86


class StraightCode:
    """The code of one function, from which straight-line parts are executed."""

    def __init__(self, code: bytes, address: int) -> None:
        self._code, self._address = code, address

    def after(self, addresses: Sequence[int], frame: Frame) -> Frame:
        """The frame behind the instructions at some addresses, one executed after the other.

        A register or a place on the stack whose value cannot be computed is not in it.
        """
        state = State(frame)
        for address in addresses:
            state.execute(self._at(address))
        return replace(frame, registers=state.registers, memory=state.read)

    def added(self, address: int, frame: Frame) -> int | None:
        """What the instruction at an address adds to a word in memory, where it does."""
        each, names = self._at(address), tables()
        if each.op_count == 0 or each.op0_kind != names.memory or each.memory_size not in names.words:
            return None
        if each.mnemonic == names.increment:
            return 1
        state = State(frame)
        amount = state.operand(each, 1) if each.op_count > 1 else None
        if amount is None or each.mnemonic not in (names.add, names.subtract):
            return None
        return (amount if each.mnemonic == names.add else -amount) % (1 << 8 * WORD)

    def before(self, addresses: Sequence[int], frame: Frame, size: int) -> Frame:
        """The frame before the instructions at some addresses, of which the last one has just been executed.

        Values of ``size`` bytes are right; what the instructions have overwritten is not in it.
        """
        state = Reversal(frame, size)
        for address in reversed(addresses):
            state.undo(self._at(address))
        return replace(frame, registers=state.registers, memory=state.read)

    def _at(self, address: int) -> iced_x86.Instruction:
        from iced_x86 import Decoder

        return next(iter(Decoder(64, self._code[address - self._address :][:15], ip=address)))
