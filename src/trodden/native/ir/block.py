"""A basic block in IR text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from trodden.native.ir.instruction import Instruction, instructions_of
from trodden.native.ir.syntax.grammar import (
    CALL,
    DEFINITION,
    FIRST_OPCODE,
    HEAD_INSTRUCTION,
    LABEL_LINE,
    SILENT_LINE,
    SUCCESSOR,
)
from trodden.native.ir.syntax.terminators import labels_start

_TO_EXIT = frozenset({"ret", "resume", "unreachable"})
_IN_SILENT_LINES = (" = phi ", "@llvm.", "pad ")
"""What these lines have in them; most blocks have none."""
_UNWINDING = frozenset({"catchswitch", "cleanupret"})
"""Terminators whose exceptions propagate to another block or to the caller."""


@dataclass(slots=True)
class IRBlock:
    """One basic block.  ``text`` is all of it, label line included, without the blank lines around.

    ``terminator_start`` is where the terminator starts in ``text``, ``opcode`` is its opcode; ``successors``
    are the labels of its targets, in order, one for each edge.
    """

    label: str
    text: str
    terminator_start: int
    opcode: str
    successors: tuple[str, ...]
    _instructions: tuple[Instruction, ...] | None = field(default=None, init=False, repr=False, compare=False)
    _calls: tuple[Instruction, ...] | None = field(default=None, init=False, repr=False, compare=False)
    _terminator: Instruction | None = field(default=None, init=False, repr=False, compare=False)
    _definitions: dict[str, Instruction | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _insertion_point: int = field(default=-1, init=False, repr=False, compare=False)

    @staticmethod
    def parse(label: str, text: str) -> IRBlock:
        """The block with this text."""
        start = text.rfind("\n") + 1
        if text.startswith("  ]", start):
            start = text.rindex("\n  switch ", 0, start) + 1 if "\n  switch " in text else 0
        elif text.startswith("          ", start):
            start = text.rfind("\n", 0, start - 1) + 1
        match = FIRST_OPCODE.match(text, start)
        assert match is not None, text
        opcode = match.group(1)
        labels_at = labels_start(text, opcode, start, len(text))
        successors = () if opcode in _TO_EXIT else tuple(SUCCESSOR.findall(text, labels_at))
        return IRBlock(label, text, start, opcode, successors)

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """Views of its instructions."""
        if self._instructions is None:
            self._instructions = tuple(instructions_of(self.text))
        return self._instructions

    @property
    def terminator(self) -> Instruction:
        """A view of its last instruction."""
        if self._terminator is None:
            self._terminator = next(instructions_of(self.text, self.terminator_start))
        return self._terminator

    @property
    def calls(self) -> tuple[Instruction, ...]:
        """Views of its calls, except one that is its terminator."""
        if self._calls is None:
            self._calls = tuple(map(Instruction, CALL.finditer(self.text))) if "call " in self.text else ()
        return self._calls

    def count(self, opcode: str) -> int:
        """How many instructions with an opcode it has, of those that have no result."""
        start = self.text.startswith(f"  {opcode} ")
        return start + self.text.count(f"\n  {opcode} ")

    def definition(self, name: str) -> Instruction | None:
        """The instruction that defines a value here (its name without ``%``)."""
        if name not in self._definitions:
            at = self.text.find(f"  %{name} = ")
            self._definitions[name] = None if at < 0 else next(instructions_of(self.text, at))
        return self._definitions[name]

    def defined_names(self) -> list[str]:
        """The names of the values that it defines (without ``%``)."""
        return DEFINITION.findall(self.text)

    def definitions(self) -> Iterator[tuple[str, Instruction]]:
        """The values that it defines, and the instructions that do."""
        for instruction in self.instructions:
            if instruction.result is not None:
                yield instruction.result, instruction

    @property
    def phis(self) -> Iterator[Instruction]:
        """Views of its phis, which are its first instructions."""
        if " = phi " not in self.text:
            return
        for instruction in instructions_of(self.text, self.body_start):
            if instruction.opcode != "phi":
                break
            yield instruction

    @property
    def is_landing_pad(self) -> bool:
        """Whether it begins, after its phis, with a landing pad."""
        has_text = " = landingpad " in self.text
        return has_text and any(each.opcode == "landingpad" for each in self.instructions)

    def names_function(self, function: str) -> bool:
        """Whether it contains the name of a function (as printed, without ``@``), in a call mostly."""
        return f"@{function}(" in self.text

    @property
    def exits(self) -> bool:
        """Whether control can leave the function at the end of the block."""
        return self.opcode in _TO_EXIT or (self.opcode in _UNWINDING and self.terminator.unwinds_to_caller)

    @property
    def size(self) -> int:
        """How many lines its instructions have.

        Debug records are none: a function has the same size with and without debug information.
        """
        lines = f"\n{self.text}"
        return lines.count("\n  ") - lines.count("\n    #dbg_")

    @property
    def silent(self) -> int:
        """How many of these lines stand for no instruction that a machine executes.

        They are phis, the further lines of an instruction, such as the cases of a switch, and calls of
        intrinsics that only inform the compiler.
        """
        lines = f"\n{self.text}"
        further = lines.count("\n   ") + lines.count("\n  ]") - lines.count("\n    #dbg_")
        found = any(word in lines for word in _IN_SILENT_LINES) and SILENT_LINE.findall(lines)
        return further + len(found or ())

    @property
    def body_start(self) -> int:
        """Where the text after the label line starts."""
        return self.text.index("\n") + 1 if LABEL_LINE.match(self.text) else 0

    def insertion_point(self) -> int:
        """Where the first instruction starts that is neither a phi nor an exception pad."""
        if self._insertion_point < 0:
            self._insertion_point = self._find_insertion_point()
        return self._insertion_point

    def _find_insertion_point(self) -> int:
        text = self.text
        position = self.body_start
        while HEAD_INSTRUCTION.match(text, position) or text.startswith("    ", position):
            if text.startswith("    #dbg", position) and not _more_head(text, position):
                break
            end = text.find("\n", position)
            if end < 0:
                break
            position = end + 1
        return position


def _more_head(text: str, position: int) -> bool:
    """Whether phis or pads still follow the debug records at ``position``."""
    while text.startswith("    #dbg", position):
        position = text.find("\n", position) + 1
        if position == 0:
            return False
    return bool(HEAD_INSTRUCTION.match(text, position))


def instruction_start(text: str, position: int) -> int:
    """Where the instruction starts that a position in the text of a block belongs to."""
    start = text.rfind("\n", 0, position) + 1
    while start and text.startswith(("    ", "  ]"), start):
        start = text.rfind("\n", 0, start - 1) + 1
    return start
