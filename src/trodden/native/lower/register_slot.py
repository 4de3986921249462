"""The cell in which a frame keeps its path register while calls are active (BL96 §3.6).

When the program ends inside a call, or a jump or an exception leaves frames behind, each frame's path is
cut short, and which one it was must be told from outside.  Mostly the block of the call is enough: where
only one way leads there, the register is a constant.  Elsewhere its base is stored into a cell of the frame
before the call, unless the cell holds it already.  Where the cell lies is written, without any
instruction, into a section that the runtime reads.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trodden.native.analysis.function_cfg import FunctionRead
from trodden.native.lower.call_site_labels import LINE_ENDS
from trodden.native.planning.register_slots import block_frequencies
from trodden.plan.paths.path_register import STACK_SLOT, UNSET, Register, Value


def cell_entry(cell: str, kind: str) -> str:
    """Code without any instruction that tells the runtime where a cell lies.

    Its kind is a word of four letters.
    """
    return (
        f'  call void asm sideeffect ".Ltrodden_cell${{:uid}}:\\0A{LINE_ENDS}'
        ".pushsection .trodden_cells,\\22ao?\\22,@progbits,.Ltrodden_cell${:uid}\\0A.balign 16\\0A"
        ".Ltrodden_entry${:uid}:\\0A.long .Ltrodden_cell${:uid} - .Ltrodden_entry${:uid}\\0A"
        f"leaq $0, %rax\\0A.zero 12 - (. - .Ltrodden_entry${{:uid}})\\0A.ascii \\22{kind}\\22\\0A"
        f'.popsection", "*m"(ptr elementtype(i64) %{cell}) nounwind'
    )


class Cells:
    """What the cell of one function has to hold, and where it is stored."""

    def __init__(
        self,
        read: FunctionRead,
        register: Register,
        ambiguous: Collection[int],
        weights: Sequence[float],
    ) -> None:
        self._register = register
        self._frequency = block_frequencies(read, weights)
        self.registers: dict[int, tuple[bool, int]] = {}
        self._asking: dict[str, list[int]] = {}
        for block in sorted(ambiguous):
            value = register.at[block] or UNSET
            self.registers[block] = (value.base is not None, value.add)
            if value.base is not None and value.base != STACK_SLOT:
                self._asking.setdefault(value.base, []).append(block)
        self.used = [Value(base, 0) for base in self._asking]

    def declare(self) -> list[str]:
        """The cell itself, for the entry block."""
        return [f"  %{STACK_SLOT} = alloca i64, align 8"] if self._asking else []

    def stores(self) -> dict[int, list[str]]:
        """The code for the top of blocks; the first one also tells where the cell is.

        A base is stored before the calls that ask for it, or once where it is made, if that is cheaper.
        Nothing else can come into the cell between: wherever it is stored to, the register has another base.
        """
        places: dict[int, str] = {}
        for base, blocks in self._asking.items():
            made = self._register.phis[base][0]
            cheaper = self._frequency[made] < sum(self._frequency[block] for block in blocks)
            places |= dict.fromkeys([made] if cheaper else blocks, base)
        lines = {
            block: [f"  store volatile i64 %{base}, ptr %{STACK_SLOT}, align 8"]
            for block, base in sorted(places.items())
        }
        if lines:
            lines[next(iter(lines))].append(cell_entry(STACK_SLOT, "cell"))
        return lines
