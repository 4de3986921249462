"""Which instructions a report counts: those of the machine, or those of LLVM IR where these are not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from trodden.profile.model import FunctionProfile
from trodden.report.fields import counted


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


def mixed_instructions(functions: Iterable[FunctionProfile]) -> Iterator[str]:
    """A message if the instructions of some functions are those of the machine, and of others not."""
    some = list(functions)
    if instruction_kind(some) is InstructionKind.MIXED:
        ir = sum(each.facts.machine is None and any(each.block_counts) for each in some)
        yield (
            f"the machine instructions of {counted(ir, 'executed function')} are not known;"
            " IR instructions stand for them"
        )
