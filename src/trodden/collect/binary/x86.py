"""Where the instructions of x86-64 code begin, where they may go, and which of them write memory.

Positions of interrupted frames are told from debug information, and checked against the code itself: who
jumps where, and behind which instruction a probe has been carried out.  That needs no disassembler, only
lengths, jumps and stores.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

_PREFIXES = frozenset(b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3")
_STORES = frozenset(
    {*(op for base in range(0, 0x38, 8) for op in (base, base + 1)), 0x86, 0x87, 0x88, 0x89, 0xC6, 0xC7}
)
_STORES_0F = frozenset({0x11, 0x13, 0x17, 0x29, 0x2B, 0x7E, 0x7F, 0xB0, 0xB1, 0xC0, 0xC1, 0xD6, 0xE7})
_BARE_0F = frozenset(
    {0x05, 0x06, 0x07, 0x08, 0x09, 0x0B, 0x77, 0xA0, 0xA1, 0xA2, 0xA8, 0xA9, 0xAA}
    | set(range(0x30, 0x38))
    | set(range(0xC8, 0xD0))
)
_IMMEDIATE_0F = frozenset({0x70, 0x71, 0x72, 0x73, 0xA4, 0xAC, 0xBA, 0xC2, 0xC4, 0xC5, 0xC6})
_INVALID = frozenset(b"\x06\x07\x0e\x16\x17\x1e\x1f\x27\x2f\x37\x3f\x60\x61\x82\x9a\xce\xd4\xd5\xd6\xea")


class Way(Enum):
    """Where control goes behind an instruction; behind a trap there may be code that LLVM has left there."""

    ON = "on"
    JUMP = "jump"
    BRANCH = "branch"
    AWAY = "away"
    TRAP = "trap"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; ``target`` is where a jump or a branch leads.

    ``writes``: it changes memory as a counter's increment would; a call may do so too.  ``spills``: it puts a
    register into the frame.  ``calls``: it is a call.
    """

    address: int
    length: int
    way: Way
    target: int = -1
    writes: bool = False
    spills: bool = False
    calls: bool = False

    @property
    def end(self) -> int:
        """The address behind it."""
        return self.address + self.length


def decode(code: bytes, address: int) -> list[Instruction] | None:
    """The instructions of a function; None where something is not understood."""
    found: list[Instruction] = []
    position = 0
    try:
        while position < len(code):
            instruction = _one(code, position, address + position)
            if instruction is None:
                return None
            found.append(instruction)
            position += instruction.length
    except IndexError:
        return None
    return found if position == len(code) else None


def _one(code: bytes, start: int, address: int) -> Instruction | None:
    at = start
    narrow = False
    while code[at] in _PREFIXES:
        narrow |= code[at] == 0x66
        at += 1
    wide = False
    if code[at] & 0xF0 == 0x40:
        wide = bool(code[at] & 8)
        at += 1
    opcode = code[at]
    if opcode in (0xC4, 0xC5, 0x62):
        return _vector(code, start, at, address)
    at += 1
    if opcode == 0x0F:
        return _two_bytes(code, start, at, address, narrow and not wide)
    if opcode in _INVALID:
        return None
    full = 2 if narrow and not wide else 4
    size, register, memory, immediate = 0, 0, False, 0
    frame = False
    if _has_operands(opcode):
        size, register, memory = _operands(code, at)
        frame = memory and _in_frame(code, at)
        immediate = _behind_operands(opcode, register, full)
    else:
        immediate = _plain_immediate(opcode, full, wide)
    length = at + size + immediate - start
    if opcode & 0xF0 == 0x70 or 0xE0 <= opcode <= 0xE3:
        return Instruction(address, length, Way.BRANCH, _target(code, at, 1, address + length))
    if opcode in (0xE9, 0xEB):
        return Instruction(address, length, Way.JUMP, _target(code, at, immediate, address + length))
    if opcode == 0xE8:
        return Instruction(address, length, Way.ON, writes=True, calls=True)
    if opcode in (0xCC, 0xF4):
        return Instruction(address, length, Way.TRAP)
    if opcode in (0xC2, 0xC3, 0xCA, 0xCB, 0xCF) or (opcode == 0xFF and register in (4, 5)):
        return Instruction(address, length, Way.AWAY)
    spills = frame and opcode in (0x88, 0x89)
    calls = opcode == 0xFF and register in (2, 3)
    writes = _writes(opcode, register, memory)
    return Instruction(address, length, Way.ON, writes=writes, spills=spills, calls=calls)


def _has_operands(opcode: int) -> bool:
    """Whether a byte follows that names registers or memory."""
    if opcode < 0x40:
        return opcode & 7 < 4
    return (
        opcode in (0x63, 0x69, 0x6B, 0xC0, 0xC1, 0xC6, 0xC7, 0xF6, 0xF7, 0xFE, 0xFF)
        or 0x80 <= opcode <= 0x8F
        or 0xD0 <= opcode <= 0xD3
        or 0xD8 <= opcode <= 0xDF
    )


def _behind_operands(opcode: int, register: int, full: int) -> int:
    if opcode in (0x6B, 0x80, 0x83, 0xC0, 0xC1, 0xC6) or (opcode == 0xF6 and register < 2):
        return 1
    return full if opcode in (0x69, 0x81, 0xC7) or (opcode == 0xF7 and register < 2) else 0


def _plain_immediate(opcode: int, full: int, wide: bool) -> int:
    if 0xB8 <= opcode <= 0xBF:
        return 8 if wide else full
    if 0xA0 <= opcode <= 0xA3:
        return 8
    if opcode in (0xE8, 0xE9):
        return 4
    if opcode in (0x68, 0xA9) or (opcode < 0x40 and opcode & 7 == 5):
        return full
    if opcode in (0xC2, 0xCA):
        return 2
    if opcode == 0xC8:
        return 3
    one = (
        opcode in (0x6A, 0xA8, 0xCD, 0xEB)
        or 0x70 <= opcode <= 0x7F
        or 0xB0 <= opcode <= 0xB7
        or 0xE0 <= opcode <= 0xE7
        or (opcode < 0x40 and opcode & 7 == 4)
    )
    return int(one)


def _writes(opcode: int, register: int, memory: bool) -> bool:
    if opcode == 0xFF and register in (2, 3):
        return True
    if not memory:
        return False
    if opcode in (0x80, 0x81, 0x83):
        return register != 7
    if opcode in (0xFE, 0xFF):
        return register < 2
    if opcode in (0xF6, 0xF7):
        return register in (2, 3)
    return opcode in _STORES or opcode in (0xC0, 0xC1) or 0xD0 <= opcode <= 0xD3


def _two_bytes(code: bytes, start: int, at: int, address: int, narrow: bool) -> Instruction | None:
    opcode = code[at]
    at += 1
    if 0x80 <= opcode <= 0x8F:
        length = at + (2 if narrow else 4) - start
        return Instruction(address, length, Way.BRANCH, _target(code, at, 4, address + length))
    if opcode in (0x38, 0x3A):
        size, _, _ = _operands(code, at + 1)
        return Instruction(address, at + 1 + size + (opcode == 0x3A) - start, Way.ON)
    if opcode in _BARE_0F:
        return Instruction(address, at - start, Way.TRAP if opcode == 0x0B else Way.ON)
    size, _, memory = _operands(code, at)
    length = at + size + (opcode in _IMMEDIATE_0F or opcode == 0x0F) - start
    way = Way.AWAY if opcode in (0xB9, 0xFF) else Way.ON
    return Instruction(address, length, way, writes=memory and opcode in _STORES_0F)


def _vector(code: bytes, start: int, at: int, address: int) -> Instruction | None:
    first = code[at]
    table = 1 if first == 0xC5 else code[at + 1] & (0x1F if first == 0xC4 else 7)
    at += {0xC5: 2, 0xC4: 3, 0x62: 4}[first]
    opcode = code[at]
    at += 1
    if table == 1 and opcode == 0x77:
        return Instruction(address, at - start, Way.ON)
    if table not in (1, 2, 3, 5, 6):
        return None
    size, _, memory = _operands(code, at)
    immediate = table == 3 or (table == 1 and opcode in _IMMEDIATE_0F)
    writes = memory and table == 1 and opcode in _STORES_0F
    return Instruction(address, at + size + immediate - start, Way.ON, writes=writes)


def _operands(code: bytes, at: int) -> tuple[int, int, bool]:
    """How many bytes name the operands, the number in the middle, and whether one is memory."""
    byte = code[at]
    mode, register, low = byte >> 6, byte >> 3 & 7, byte & 7
    if mode == 3:
        return 1, register, False
    size = 1
    if low == 4:
        size = 2
        low = code[at + 1] & 7
    elif mode == 0 and low == 5:
        return 5, register, True
    if mode == 0:
        return size + (4 if low == 5 else 0), register, True
    return size + (1 if mode == 1 else 4), register, True


def _in_frame(code: bytes, at: int) -> bool:
    """Whether an operand in memory is found from the stack pointer or the frame pointer alone."""
    if code[at] & 7 == 4:
        return code[at + 1] & 0x3F == 0x24
    return code[at] & 7 == 5 and code[at] >> 6 != 0


def _target(code: bytes, at: int, size: int, end: int) -> int:
    return end + int.from_bytes(code[at : at + size], "little", signed=True)
