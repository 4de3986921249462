"""Which instructions a report counts: those of the machine, or those of LLVM IR where these are not known."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from trodden.profile.model import FunctionProfile


class InstructionKind(Enum):
    """The values are those of reports in JSON."""

    MACHINE = "machine"
    IR = "ir"
    MIXED = "mixed"

    @property
    def words(self) -> str:
        """What is counted, in a heading."""
        return {"machine": "machine instructions", "ir": "IR instructions"}.get(self.value, "instructions")


def instruction_kind(functions: Iterable[FunctionProfile]) -> InstructionKind:
    """What is known of the functions that were executed."""
    known = {each.facts.machine is not None for each in functions if any(each.block_counts)}
    if len(known) == 2:
        return InstructionKind.MIXED
    return InstructionKind.MACHINE if True in known else InstructionKind.IR


def ir_functions(functions: Iterable[FunctionProfile]) -> int:
    """How many of the executed functions count those of their IR."""
    return sum(each.facts.machine is None and any(each.block_counts) for each in functions)
