"""Which instructions of a function were added to the program: its probes, and what keeps the path register.

Probes and whatever else was emitted have marks in the line table.  The moves that bring a path register to
the place where a phi expects it result from code generation and have none; but debug variables say where the
register is (:mod:`trodden.program.debug_variables`), so an instruction that only puts it there is known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from trodden.collect.binary.block_marks import mark_codes
from trodden.collect.binary.dwarf import Function, Variable
from trodden.collect.binary.dwarf_constants import Op
from trodden.collect.binary.leb128 import sleb
from trodden.collect.binary.marked_functions import MarkedFunction
from trodden.collect.binary.x86_outline import Outline, RegisterUse, register_uses
from trodden.program.debug_variables import KEPT, VALUE

_FURTHEST = 16
"""How many instructions may be between one that sets the register and the block that expects it."""

_REGISTERS = range(Op.REG0, Op.REG0 + 16)
_REGISTER_OFFSETS = range(Op.BREG0, Op.BREG0 + 16)


def added_instructions(
    marked: MarkedFunction, instructions: Sequence[Outline], locations: Sequence[int | None]
) -> list[bool]:
    """For each instruction, of which the program location is given, whether it was added to the program.

    So was the jump at the end of a block that splits an edge.
    """
    facts = marked.unit.functions[marked.number]
    blocks = facts.graph.exit + len(facts.clones)
    codes = mark_codes([each.address for each in instructions], marked)
    added = [
        code != 0
        or (each.target >= 0 and not each.falls_through and location is not None and location >= blocks)
        for each, code, location in zip(instructions, codes, locations, strict=True)
    ]
    register = _RegisterHomes(marked.function)
    if register:
        uses = register_uses(marked.code, marked.function.low)
        index = {each.address: number for number, each in enumerate(instructions)}
        if marked.unoptimised:
            register.add_spills(instructions, uses)
        for number, use in enumerate(uses):
            if not added[number]:
                added[number] = _keeps_register(number, use, instructions, uses, register, index)
    return added


class _RegisterHomes:
    """Where the path register of a function is: in machine registers, by address, and in stack slots."""

    def __init__(self, function: Function) -> None:
        ranges: dict[int, list[tuple[int, int]]] = {}
        self.slots: set[tuple[int, int]] = set()
        for variable in function.variables:
            if variable.name.partition(".")[0] not in (VALUE, KEPT):
                continue
            for low, high, expression in _places(variable, function):
                if len(expression) == 1 and expression[0] in _REGISTERS:
                    ranges.setdefault(expression[0] - Op.REG0, []).append((low, high))
                else:
                    self.slots |= _slot(expression, function.frame_base)
        self._ranges = {register: sorted(found) for register, found in ranges.items()}

    def __bool__(self) -> bool:
        return bool(self._ranges or self.slots)

    def add_spills(self, instructions: Sequence[Outline], uses: Sequence[RegisterUse]) -> None:
        """Add the stack slots by which unoptimised code passes the path register on to a phi.

        They are loaded to be stored in a slot that is known, and hold nothing else: without optimisation no
        two values share a slot.
        """
        loaded: dict[int, tuple[int, int]] = {}
        for each, use in zip(instructions, uses, strict=True):
            if use.stored in loaded and use.slot in self.slots:
                self.slots.add(loaded[use.stored])
            if each.target >= 0 or not each.falls_through:
                loaded.clear()
            elif use.written >= 0:
                loaded.pop(use.written, None)
                if use.slot is not None:
                    loaded[use.written] = use.slot

    def holds(self, register: int, address: int) -> bool:
        """Whether a machine register holds the path register before the instruction at an address."""
        ranges = self._ranges.get(register, ())
        number = bisect_right(ranges, (address, 1 << 64)) - 1
        return number >= 0 and address < ranges[number][1]


def _places(variable: Variable, function: Function) -> Iterator[tuple[int, int, bytes]]:
    if variable.everywhere is not None:
        yield function.low, function.high, variable.everywhere
    yield from variable.ranges


def _slot(expression: bytes, frame_base: bytes) -> set[tuple[int, int]]:
    """The stack slot that an expression locates, as a machine register and an offset; empty if it is none."""
    if not expression:
        return set()
    offset, end = sleb(expression, 1) if len(expression) > 1 else (0, 1)
    if expression[0] in _REGISTER_OFFSETS and end == len(expression):
        return {(expression[0] - Op.BREG0, offset)}
    based = expression[0] == Op.FBREG and len(frame_base) == 1 and frame_base[0] in _REGISTERS
    return {(frame_base[0] - Op.REG0, offset)} if based and end == len(expression) else set()


def _keeps_register(
    number: int,
    use: RegisterUse,
    instructions: Sequence[Outline],
    uses: Sequence[RegisterUse],
    register: _RegisterHomes,
    index: dict[int, int],
) -> bool:
    """Whether an instruction only moves the path register, or sets it where a block expects it."""
    if use.slot is not None and use.slot in register.slots:
        return True
    if use.stored >= 0:
        return use.slot is not None and register.holds(use.stored, instructions[number].address)
    if use.written < 0:
        return False
    for following in range(number, min(number + _FURTHEST, len(instructions))):
        each, after = instructions[following], uses[following]
        if following > number and after.written == use.written and not after.updates:
            return False
        if following > number and after.stored == use.written and after.slot in register.slots:
            return True
        if each.target >= 0:
            return each.target in index and register.holds(use.written, each.target)
        if not each.falls_through:
            return False
        if register.holds(use.written, each.end):
            return True
    return False
