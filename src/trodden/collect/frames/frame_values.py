"""The values of a function's artificial variables in a frame: the path register, the trip counts of loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from trodden.collect.binary.dwarf import Function, Variable
from trodden.collect.binary.dwarf_expressions import Frame, evaluate, is_stack_slot
from trodden.collect.frames.code_map import CodeMap
from trodden.collect.frames.probe_progress import Undetermined
from trodden.plan.paths.path_register import STACK_SLOT, Base, Value
from trodden.plan.probes import WORD
from trodden.program.debug_variables import KEPT, LINE, TRIPS, base_variable, block_and_line

_WORD_SIZE = 8


class _Induction(NamedTuple):
    """An induction variable that the trip count of a loop follows from."""

    name: str
    start: int
    step: int
    bits: int


class FunctionVariables:
    """The artificial variables of one function.

    ``register_slot`` is the stack slot for the path register, if the function has one; ``storing_blocks`` are
    the blocks that store the register there, so that it is read from there after their calls.
    """

    def __init__(self, function: Function, code: CodeMap, unoptimised: bool) -> None:
        self._function = function
        self._code = code
        self.unoptimised = unoptimised
        self._by_name = {each.name: each for each in function.variables}
        self.register_slot: Variable | None = None
        self.storing_blocks: frozenset[int] = frozenset()
        self._inductions: dict[int, _Induction] = {}
        for name, variable in self._by_name.items():
            first, *words = name.split(".")
            if first == KEPT:
                self.register_slot = variable
                self.storing_blocks = frozenset(int(word, 16) for word in words)
            elif first == TRIPS:
                edge, start, step, bits = map(int, words)
                self._inductions[edge] = _Induction(name, start, step, bits)

    def value(self, name: str, size: int, pc: int, frame: Frame) -> int | None:
        """The value of a variable of ``size`` bytes at an instruction; None where it is not available."""
        variable = self._by_name.get(name)
        if variable is None:
            return None
        if variable.constant is not None:
            return variable.constant % (1 << 8 * size)
        expression = variable.expression(pc)
        if expression is None and self.unoptimised and not self._code.leads_in(pc):
            # Unoptimised code has one stack slot for each value.
            slots = {each.expression for each in variable.ranges if is_stack_slot(each.expression)}
            expression = slots.pop() if len(slots) == 1 else None
        if expression is None:
            return None
        return evaluate(expression, frame, self._function.frame_base, size)

    def lines_reached(self, block: int, pc: int) -> int | None:
        """How many lines of a block control has reached that is at an instruction of it.

        Only where code was not optimised are instructions in the order of the source.
        """
        if not self.unoptimised:
            return None
        variable = self._by_name.get(LINE)
        if variable is None:
            return 1
        expression = variable.expression(pc)
        value = variable.constant
        if value is None and expression is not None:
            value = evaluate(expression, Frame({}, lambda address, size: None), b"", _WORD_SIZE)
        where, line = (-1, 0) if value is None else block_and_line(value)
        return line + 1 if where == block else 1

    def induction(self, back_edge: int) -> _Induction:
        """The induction variable of the loop with a back edge."""
        found = self._inductions.get(back_edge)
        if found is None or found.step == 0 or not 0 < found.bits <= 8 * _WORD_SIZE:
            raise Undetermined("no variable has the trip count of a loop")
        return found


@dataclass(frozen=True)
class FrameValues:
    """The values in one frame; ``stored_base`` is the base that its stack slot holds."""

    variables: FunctionVariables
    pc: int
    frame: Frame
    stored_base: Base | None

    def of(self, value: Value | None) -> int:
        """A value of the path register."""
        if value is None:
            raise Undetermined("the path register was never set")
        if value.base is None:
            return value.add % WORD
        base, slot = None, self.variables.register_slot
        if value.base != STACK_SLOT:
            base = self.variables.value(base_variable(value.base), _WORD_SIZE, self.pc, self.frame)
        if base is None and value.base in (STACK_SLOT, self.stored_base) and slot is not None:
            base = self.variables.value(slot.name, _WORD_SIZE, self.pc, self.frame)
        if base is None:
            raise Undetermined("the path register is not available")
        return (base + value.add) % WORD

    def trip_count(self, back_edge: int) -> int:
        """How often a back edge was taken since its loop was entered."""
        name, start, step, bits = self.variables.induction(back_edge)
        value = self.variables.value(name, (bits + 7) // 8, self.pc, self.frame)
        if value is None:
            raise Undetermined("the induction variable of a loop is not available")
        distance = (value - start if step > 0 else start - value) % (1 << bits)
        return distance // abs(step)
