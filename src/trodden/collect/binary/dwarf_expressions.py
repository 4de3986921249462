"""What a DWARF expression says of a frame: the value of a variable, from registers and memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trodden.collect.binary.leb128 import sleb, uint, uleb

ReadMemory = Callable[[int, int], bytes | None]
_WORD = 1 << 64
_CONSTANTS = {0x08: 1, 0x0A: 2, 0x0C: 4, 0x0E: 8}
_SIGNED_CONSTANTS = {0x09: 1, 0x0B: 2, 0x0D: 4, 0x0F: 8}
_OPERATIONS: dict[int, Callable[[int, int], int]] = {
    0x1A: lambda a, b: a & b,
    0x1C: lambda a, b: a - b,
    0x1E: lambda a, b: a * b,
    0x21: lambda a, b: a | b,
    0x22: lambda a, b: a + b,
    0x24: lambda a, b: a << b if b < 64 else 0,
    0x25: lambda a, b: a >> b if b < 64 else 0,
    0x27: lambda a, b: a ^ b,
}


@dataclass(frozen=True)
class Frame:
    """A frame that was interrupted: its registers by their numbers in DWARF, and memory near its stack.

    ``memory(address, size)`` answers ``None`` for what was not kept.
    """

    registers: Mapping[int, int]
    memory: ReadMemory
    cfa: int | None = None


def evaluate(expression: bytes, frame: Frame, frame_base: bytes, size: int) -> int | None:
    """The value of a variable of ``size`` bytes; None where it cannot be told."""
    try:
        found = _run(expression, frame, frame_base)
    except IndexError:
        return None
    if found is None:
        return None
    kind, value = found
    return _load(frame, value, size) if kind == "memory" else value % (1 << 8 * size)


def in_memory(expression: bytes) -> bool:
    """Whether an expression says that a variable lies at an offset from a register."""
    return (
        bool(expression)
        and (0x70 <= expression[0] <= 0x8F or expression[0] == 0x91)
        and (sleb(expression, 1)[1] == len(expression))
    )


def _load(frame: Frame, address: int, size: int) -> int | None:
    data = frame.memory(address, size)
    return int.from_bytes(data, "little") if data is not None and len(data) == size else None


def _run(expression: bytes, frame: Frame, frame_base: bytes) -> tuple[str, int] | None:
    stack: list[int] = []
    position = 0
    while position < len(expression):
        operation = expression[position]
        position += 1
        value: int | None
        if 0x50 <= operation <= 0x6F or operation == 0x90:
            number, position = (
                uleb(expression, position) if operation == 0x90 else (operation - 0x50, position)
            )
            value = frame.registers.get(number)
            return None if value is None or position < len(expression) else ("value", value)
        if operation == 0x9F:
            return ("value", stack[-1]) if stack and position == len(expression) else None
        if operation in _OPERATIONS:
            second, first = stack.pop(), stack.pop()
            stack.append(_OPERATIONS[operation](first, second) % _WORD)
            continue
        if operation == 0x23:
            amount, position = uleb(expression, position)
            stack.append((stack.pop() + amount) % _WORD)
            continue
        if operation in (0x06, 0x94):
            size = 8
            if operation == 0x94:
                size = expression[position]
                position += 1
                if size > 8:
                    return None
            value = _load(frame, stack.pop(), size)
        else:
            value, position = _pushed(operation, expression, position, frame, frame_base)
        if value is None:
            return None
        stack.append(value % _WORD)
    return ("memory", stack[-1]) if stack else None


def _pushed(
    operation: int, expression: bytes, position: int, frame: Frame, frame_base: bytes
) -> tuple[int | None, int]:
    """What an operation puts on the stack."""
    if 0x30 <= operation <= 0x4F:
        return operation - 0x30, position
    if operation in _CONSTANTS:
        size = _CONSTANTS[operation]
        return uint(expression, position, size), position + size
    if operation in _SIGNED_CONSTANTS:
        size = _SIGNED_CONSTANTS[operation]
        data = expression[position : position + size]
        return int.from_bytes(data, "little", signed=True), position + size
    if operation == 0x10:
        return uleb(expression, position)
    if operation == 0x11:
        return sleb(expression, position)
    if operation == 0x9C:
        return frame.cfa, position
    number: int | None = None
    if 0x70 <= operation <= 0x8F:
        number = operation - 0x70
    elif operation == 0x92:
        number, position = uleb(expression, position)
    elif operation != 0x91:
        return None, position
    offset, position = sleb(expression, position)
    base = frame.registers.get(number) if number is not None else _frame_base(frame, frame_base)
    return (None if base is None else base + offset), position


def _frame_base(frame: Frame, expression: bytes) -> int | None:
    found = _run(expression, frame, b"") if expression and expression[0] != 0x91 else None
    return None if found is None else found[1]
