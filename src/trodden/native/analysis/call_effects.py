"""What a call can do besides returning: unwind, return twice, or not return.

A block is straight-line code only as long as its calls return.  One that may leave the function (exit,
longjmp, an exception) breaks the flow law at its block (BL94 §3.2), so the front end has to know which
calls always return; LLVM's attributes ``nounwind``, ``willreturn`` and ``noreturn`` say so.
"""

from __future__ import annotations

from dataclasses import dataclass

from trodden.native.ir.attributes import Attributes
from trodden.native.ir.block import IRBlock
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.syntax.names import unquote
from trodden.weigh.features.library_functions import is_library_function

_UNDUPLICABLE = frozenset({"noduplicate", "convergent"})
_RUNS_NO_PROBES = frozenset({"nocallback", "nounwind", "willreturn"})
_LIFETIME_END = "llvm.lifetime.end"
_RETURN_ONCE = frozenset({"swapcontext"})
"""What glibc declares to return twice with ``-fcf-protection``, since it returns by an indirect jump; but it
returns no more often than it is called."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call instruction, and what it may do.

    ``unduplicable``: the program must not have it more than once.  ``records``: the function is divided at
    its calls, and this one may run code with probes, or not return, or return twice.
    """

    instruction: Instruction
    callee: str | None
    is_assembly: bool
    may_unwind: bool
    may_not_return: bool
    returns_twice: bool
    unduplicable: bool = False
    records: bool = False

    @property
    def start(self) -> int:
        """Where its line starts in the text of the block."""
        return self.instruction.start

    @property
    def end(self) -> int:
        """Where its line ends, the newline excluded."""
        return self.instruction.end

    @property
    def tail(self) -> str | None:
        """Its tail marker: ``tail``, ``musttail``, ``notail`` or none."""
        return self.instruction.tail

    @property
    def needs_site(self) -> bool:
        """Whether its return address has to be known: a frame may be left, or entered again, there.

        A trace has to know where any frame is.
        """
        return self.may_not_return or self.returns_twice or self.records

    def precedes_terminator(self, block: IRBlock, optimised: bool = True) -> bool:
        """Whether only the terminator follows it in its block (or, not yet optimised, stores of its result).

        Debug records and the end of a variable's lifetime are no code.
        """
        if self.is_assembly:
            return False
        for following in reversed(block.instructions[:-1]):
            if following.start == self.instruction.start:
                return True
            if not is_lifetime_end(following) and (optimised or not _is_plain_store(following)):
                return False
        return False


def is_lifetime_end(instruction: Instruction) -> bool:
    """Whether an instruction only ends the lifetime of a variable."""
    return instruction.opcode == "call" and (instruction.callee or "").startswith(_LIFETIME_END)


def _is_plain_store(instruction: Instruction) -> bool:
    """Whether an instruction stores to a variable of the function."""
    return instruction.opcode == "store" and not instruction.is_volatile and not instruction.names_global


def calls_of(
    block: IRBlock, attributes: Attributes, recorded: bool = False, sites: bool = False
) -> list[Call]:
    """The calls of a block, in order; intrinsics that LLVM expands in place are left out.

    ``recorded``: the function is divided at its calls; if only at call ``sites``, not at calls of functions
    that are known to have no probes.
    """
    found: list[Call] = []
    for instruction in block.calls:
        callee = instruction.callee
        if callee is not None:
            callee = unquote(callee)
            if callee.startswith("llvm."):
                continue
        assembly = callee is None and instruction.assembly is not None
        known = attributes.of_call_to(callee, instruction)
        nounwind = "nounwind" in known
        returns_twice = "returns_twice" in known and callee not in _RETURN_ONCE
        harmless = known >= _RUNS_NO_PROBES and callee not in attributes.defined
        if sites and callee is not None:
            harmless = harmless or has_no_probes(callee, known, attributes)
        found.append(
            Call(
                instruction,
                callee,
                assembly,
                not assembly and not nounwind,
                not assembly and not (nounwind and "willreturn" in known),
                returns_twice,
                not _UNDUPLICABLE.isdisjoint(known),
                recorded and not assembly and (returns_twice or not harmless),
            )
        )
    return found


def has_no_probes(callee: str, known: frozenset[str], attributes: Attributes) -> bool:
    """Whether a function is known to have no probes; what it calls may have some."""
    return "noprofile" in known or (callee not in attributes.defined and is_library_function(callee))


def invokes_returning_twice(block: IRBlock, attributes: Attributes) -> bool:
    """Whether a block ends by invoking what may return twice, as setjmp does under a C++ destructor."""
    terminator = block.instructions[-1]
    return (
        block.opcode == "invoke"
        and "returns_twice" in attributes.of_call(block.terminator)
        and unquote(terminator.callee or "") not in _RETURN_ONCE
    )


def invokes_unduplicable(block: IRBlock, attributes: Attributes) -> bool:
    """Whether a block ends by invoking what the program must not have more than once."""
    return block.opcode == "invoke" and not _UNDUPLICABLE.isdisjoint(attributes.of_call(block.terminator))
