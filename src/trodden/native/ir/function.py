"""A function definition in IR text, cut into basic blocks."""

from __future__ import annotations

from dataclasses import dataclass, field

from trodden.native.ir.block import IRBlock
from trodden.native.ir.syntax.grammar import LABEL_LINE
from trodden.native.ir.syntax.header import FunctionHeader


@dataclass(slots=True)
class IRFunction:
    """One function definition: ``header`` is its ``define`` line."""

    symbol: str
    header: str
    blocks: list[IRBlock] = field(default_factory=list)

    @property
    def body(self) -> str:
        """The text of its blocks."""
        return "\n\n".join(block.text for block in self.blocks)

    def render(self) -> str:
        """The function's text."""
        return f"{self.header}\n{self.body}\n}}"


def cut_function(definition: str) -> IRFunction:
    """Cut one definition into blocks."""
    newline = definition.index("\n")
    header = FunctionHeader(definition[:newline])
    function = IRFunction(header.symbol, header.text)
    for number, text in enumerate(definition[newline + 1 : -2].split("\n\n")):
        label_line = LABEL_LINE.match(text)
        if label_line is not None:
            label = label_line.group(1)
        else:
            assert number == 0, text
            label = str(header.unnamed_parameters)
        function.blocks.append(IRBlock.parse(label, text))
    return function
