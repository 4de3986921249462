"""The instructions of x86-64 code: their boundaries, where control goes next, which of them write memory.

The locations of interrupted frames are read from debug information and checked against the machine code:
which instruction jumps where, and after which instruction a probe has executed.  iced-x86 decodes the
instructions; it is imported when the first function is decoded, since few commands need it.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import iced_x86


class Flow(Enum):
    """Where control goes after an instruction.

    ``LEAVE``: to no instruction that is known, by a return or an indirect jump.  ``TRAP``: nowhere, though
    LLVM may have left code of the same block after it.
    """

    NEXT = "next"
    JUMP = "jump"
    BRANCH = "branch"
    LEAVE = "leave"
    TRAP = "trap"


class Instruction(NamedTuple):
    """One instruction; ``target`` is the destination of a direct jump or branch.

    ``writes``: it may change memory as the increment of a counter does; a call may, a push does not.
    ``spills``: it stores a register in the frame.  ``calls``: it is a call, of the ``callee`` if it is known.
    ``counts``: it may be the increment of a counter: a call, or it writes a word outside of the frame.
    """

    address: int
    length: int
    flow: Flow
    target: int = -1
    writes: bool = False
    spills: bool = False
    calls: bool = False
    counts: bool = False
    callee: int = -1

    @property
    def end(self) -> int:
        """The address after it."""
        return self.address + self.length


def decode(code: bytes, address: int, frame_pointer: bool = False) -> list[Instruction] | None:
    """The instructions of a function; None where its code does not end with an instruction that is known.

    ``frame_pointer``: the function keeps the address of its frame in ``rbp``, which is any other register
    otherwise.
    """
    from iced_x86 import Decoder

    classifier = _classifier()
    instructions: list[Instruction] = []
    for each in Decoder(64, code, ip=address):
        if each.is_invalid:
            return None
        instructions.append(classifier.classify(each, frame_pointer))
    return instructions


class _Classifier:
    """What matters here of an instruction; the tables are built from the enumerations of iced-x86."""

    def __init__(self) -> None:
        from iced_x86 import (
            FlowControl,
            InstructionInfoFactory,
            MemorySize,
            Mnemonic,
            OpAccess,
            OpKind,
            Register,
        )

        self._flows = {
            FlowControl.UNCONDITIONAL_BRANCH: Flow.JUMP,
            FlowControl.CONDITIONAL_BRANCH: Flow.BRANCH,
            FlowControl.INDIRECT_BRANCH: Flow.LEAVE,
            FlowControl.RETURN: Flow.LEAVE,
            FlowControl.EXCEPTION: Flow.TRAP,
        }
        self._flows_by_mnemonic = {
            Mnemonic.XBEGIN: Flow.BRANCH,
            Mnemonic.INT3: Flow.TRAP,
            Mnemonic.HLT: Flow.TRAP,
        }
        self._writing = frozenset(
            {OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
        )
        self._smaller = frozenset(
            getattr(MemorySize, f"{sign}INT{bits}") for sign in ("U", "") for bits in (8, 16, 32)
        )
        self._info = InstructionInfoFactory()
        self._call, self._move = Mnemonic.CALL, Mnemonic.MOV
        self._memory, self._register = OpKind.MEMORY, OpKind.REGISTER
        self._stack_pointer, self._frame_pointer = Register.RSP, Register.RBP
        self._no_register = Register.NONE

    def classify(self, each: iced_x86.Instruction, frame_pointer: bool) -> Instruction:
        """An instruction as the code map wants it."""
        mnemonic = each.mnemonic
        flow = self._flows_by_mnemonic.get(mnemonic) or self._flows.get(each.flow_control, Flow.NEXT)
        target = each.near_branch_target if flow in (Flow.JUMP, Flow.BRANCH) else -1
        calls = mnemonic == self._call
        writes = calls or (flow is Flow.NEXT and self._writes(each))
        spills = writes and mnemonic == self._move and self._is_in_frame(each, frame_pointer)
        counts = calls or (writes and not self._is_no_counter(each, frame_pointer))
        callee = each.near_branch_target if each.is_call_near else -1
        return Instruction(each.ip, each.len, flow, target, writes, spills, calls, counts, callee)

    def _is_no_counter(self, each: iced_x86.Instruction, frame_pointer: bool) -> bool:
        """Whether what an instruction writes is in the frame, or no word, or is shared with other threads."""
        if each.has_lock_prefix or each.memory_size in self._smaller:
            return True
        return self._addresses_frame(each, frame_pointer)

    def _writes(self, each: iced_x86.Instruction) -> bool:
        for memory in self._info.info(each).used_memory():
            if memory.access in self._writing:
                return not each.is_stack_instruction or memory.base != self._stack_pointer
        return False

    def _is_in_frame(self, store: iced_x86.Instruction, frame_pointer: bool) -> bool:
        """Whether a store of a register addresses memory by the stack or frame pointer alone."""
        if store.op0_kind != self._memory or store.op1_kind != self._register:
            return False
        return self._addresses_frame(store, frame_pointer)

    def _addresses_frame(self, each: iced_x86.Instruction, frame_pointer: bool) -> bool:
        if each.memory_index != self._no_register or each.segment_prefix != self._no_register:
            return False
        base = each.memory_base
        return base == self._stack_pointer or (frame_pointer and base == self._frame_pointer)


@cache
def _classifier() -> _Classifier:
    return _Classifier()
