"""DWARF expressions: the value of a variable in a frame, from registers and memory (DWARF 5 §2.5, §2.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from trodden.collect.binary.dwarf_constants import Op
from trodden.collect.binary.leb128 import sleb, uint, uleb

ReadMemory = Callable[[int, int], bytes | None]
_WORD_SIZE = 8
_WORD = 1 << 8 * _WORD_SIZE
_CONSTANT_SIZES = {Op.CONST1U: 1, Op.CONST2U: 2, Op.CONST4U: 4, Op.CONST8U: 8}
_SIGNED_CONSTANT_SIZES = {Op.CONST1S: 1, Op.CONST2S: 2, Op.CONST4S: 4, Op.CONST8S: 8}
_OPERATORS: dict[int, Callable[[int, int], int]] = {
    Op.AND: lambda a, b: a & b,
    Op.MINUS: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.OR: lambda a, b: a | b,
    Op.PLUS: lambda a, b: a + b,
    Op.SHL: lambda a, b: a << b if b < 64 else 0,
    Op.SHR: lambda a, b: a >> b if b < 64 else 0,
    Op.XOR: lambda a, b: a ^ b,
}
_LITERALS = range(Op.LIT0, Op.LIT31 + 1)
_REGISTERS = range(Op.REG0, Op.REG31 + 1)
_REGISTER_OFFSETS = range(Op.BREG0, Op.BREG31 + 1)


@dataclass(frozen=True)
class Frame:
    """An interrupted frame: its registers by their DWARF numbers, and memory near its stack pointer.

    ``memory(address, size)`` returns ``None`` for memory that was not saved; ``cfa`` is the canonical frame
    address, if it is known.
    """

    registers: Mapping[int, int]
    memory: ReadMemory
    cfa: int | None = None


class _Kind(Enum):
    """What an expression computes: a value itself, or the address that a value lies at."""

    VALUE = "value"
    ADDRESS = "address"


class _Result(NamedTuple):
    kind: _Kind
    number: int


def evaluate(expression: bytes, frame: Frame, frame_base: bytes, size: int) -> int | None:
    """The value of a variable of ``size`` bytes; None where it cannot be computed."""
    try:
        result = _run(expression, frame, frame_base)
    except IndexError:
        return None
    if result is None:
        return None
    if result.kind is _Kind.ADDRESS:
        return _load(frame, result.number, size)
    return result.number % (1 << 8 * size)


def is_stack_slot(expression: bytes) -> bool:
    """Whether an expression locates a variable in memory, at an offset from a register."""
    return (
        bool(expression)
        and (expression[0] in _REGISTER_OFFSETS or expression[0] == Op.FBREG)
        and sleb(expression, 1)[1] == len(expression)
    )


def _load(frame: Frame, address: int, size: int) -> int | None:
    data = frame.memory(address, size)
    return int.from_bytes(data, "little") if data is not None and len(data) == size else None


def _run(expression: bytes, frame: Frame, frame_base: bytes) -> _Result | None:
    stack: list[int] = []
    offset = 0
    while offset < len(expression):
        operation = expression[offset]
        offset += 1
        value: int | None
        if operation in _REGISTERS or operation == Op.REGX:
            number = operation - Op.REG0
            if operation == Op.REGX:
                number, offset = uleb(expression, offset)
            value = frame.registers.get(number)
            return None if value is None or offset < len(expression) else _Result(_Kind.VALUE, value)
        if operation == Op.STACK_VALUE:
            return _Result(_Kind.VALUE, stack[-1]) if stack and offset == len(expression) else None
        if operation in _OPERATORS:
            second, first = stack.pop(), stack.pop()
            value = _OPERATORS[operation](first, second)
        elif operation == Op.PLUS_UCONST:
            amount, offset = uleb(expression, offset)
            value = stack.pop() + amount
        elif operation == Op.DEREF:
            value = _load(frame, stack.pop(), _WORD_SIZE)
        elif operation == Op.DEREF_SIZE:
            size = expression[offset]
            offset += 1
            value = _load(frame, stack.pop(), size) if size <= _WORD_SIZE else None
        else:
            value, offset = _pushed(operation, expression, offset, frame, frame_base)
        if value is None:
            return None
        stack.append(value % _WORD)
    return _Result(_Kind.ADDRESS, stack[-1]) if stack else None


def _pushed(
    operation: int, expression: bytes, offset: int, frame: Frame, frame_base: bytes
) -> tuple[int | None, int]:
    """The value that an operation pushes, and the offset after its operands; None for unknown operations."""
    if operation in _LITERALS:
        return operation - Op.LIT0, offset
    if operation in _CONSTANT_SIZES:
        size = _CONSTANT_SIZES[Op(operation)]
        return uint(expression, offset, size), offset + size
    if operation in _SIGNED_CONSTANT_SIZES:
        size = _SIGNED_CONSTANT_SIZES[Op(operation)]
        return int.from_bytes(expression[offset : offset + size], "little", signed=True), offset + size
    if operation == Op.CONSTU:
        return uleb(expression, offset)
    if operation == Op.CONSTS:
        return sleb(expression, offset)
    if operation == Op.CALL_FRAME_CFA:
        return frame.cfa, offset
    if operation == Op.FBREG:
        base = _frame_base(frame, frame_base)
    elif operation in _REGISTER_OFFSETS:
        base = frame.registers.get(operation - Op.BREG0)
    elif operation == Op.BREGX:
        number, offset = uleb(expression, offset)
        base = frame.registers.get(number)
    else:
        return None, offset
    distance, offset = sleb(expression, offset)
    return (None if base is None else base + distance), offset


def _frame_base(frame: Frame, expression: bytes) -> int | None:
    result = _run(expression, frame, b"") if expression and expression[0] != Op.FBREG else None
    return None if result is None else result.number
