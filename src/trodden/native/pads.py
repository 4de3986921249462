"""Landing pads for calls through which an exception would leave unseen (BL94 §3.2, BL96 §3.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trodden.native.callcode import CallCode
from trodden.native.calls import Call
from trodden.native.cells import Cells
from trodden.native.pathcode import PathCode, increment, slot_address
from trodden.native.read import FunctionRead
from trodden.native.register import CELL, Value

_OF_NO_BLOCK = -1


class Pads:
    """The pads of one function, as ``texts``; ``exit_slots`` are the counters of those that have one."""

    def __init__(
        self,
        read: FunctionRead,
        personality: str | None,
        name: Callable[[], str],
        take_slot: Callable[[], int],
        pathcode: PathCode | None,
        cells: Cells | None,
        calls: CallCode | None,
    ) -> None:
        self._read = read
        self._seen = not read.nounwind and personality is not None
        self._name = name
        self._take_slot = take_slot
        self._pathcode = pathcode
        self._cells = cells
        self._calls = calls
        self._padded: set[int] = set()
        self.exit_slots: dict[int, int] = {}
        self.texts: list[str] = []

    def place(self) -> None:
        """Make the pads of all blocks that an exception may leave."""
        for block, final in enumerate(self._read.tails.final):
            if self.unwinding(block, final):
                self.of_block(block)

    def unwinding(self, block: int, final: Call | None) -> list[Call]:
        """The calls of a block through which an exception would leave the function unseen."""
        if not self._seen:
            return []
        return [call for call in self._read.calls[block] if call.may_unwind and call is not final]

    def of_block(self, block: int) -> str:
        """The label of the pad that counts a block's unwound calls, made when first asked for."""
        label = f"trodden.pad.{block}"
        if block not in self._padded:
            self._padded.add(block)
            told, add = (
                self._cells.registers.get(block, (False, 0)) if self._cells is not None else (False, 0)
            )
            if told and self._pathcode is not None:
                count = self._pathcode.unwound(block, Value(CELL, add))
            else:
                self.exit_slots[block] = self._take_slot()
                count = increment(self._name, slot_address(self.exit_slots[block]), "1")
            self._add(label, count)
        return label

    def of_leaving(self, call: Call, block: int) -> str | None:
        """The pad of a call that never returns but may throw, whose way out is counted already.

        Only the path of calls has to be put right there.
        """
        endless = (
            self._read.ir.blocks[block].opcode == "unreachable" and call is self._read.tails.final[block]
        )
        if self._calls is None or not endless or not call.may_unwind or not self._seen:
            return None
        label = "trodden.pad"
        if _OF_NO_BLOCK not in self._padded:
            self._padded.add(_OF_NO_BLOCK)
            self._add(label, [])
        return label

    def _add(self, label: str, count: Sequence[str]) -> None:
        caught = self._name()
        self.texts.append(
            "\n".join(
                [
                    f"{label}:",
                    f"  %{caught} = landingpad {{ ptr, i32 }}",
                    "          cleanup",
                    *count,
                    *([self._calls.leaving] if self._calls is not None else []),
                    f"  resume {{ ptr, i32 }} %{caught}",
                ]
            )
        )
