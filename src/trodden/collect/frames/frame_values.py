"""The values of a function's artificial variables in a frame: the path register, the trip counts of loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trodden.collect.binary.dwarf import Function, Variable
from trodden.collect.binary.dwarf_expressions import Frame, evaluate, is_stack_slot
from trodden.collect.binary.x86_execution import StraightCode
from trodden.collect.frames.code_map import CodeMap
from trodden.collect.frames.probe_progress import Undetermined
from trodden.plan.paths.path_register import STACK_SLOT, Base, Chosen, Value
from trodden.plan.probes import WORD
from trodden.program.debug_variables import KEPT, LINE, TRIPS, base_variable, block_and_line
from trodden.program.frame_word import HALF, path_part

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

    def __init__(self, function: Function, code: CodeMap, straight: StraightCode, unoptimised: bool) -> None:
        self._function = function
        self._code = code
        self._straight = straight
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

    def value(self, name: str, size: int, pc: int, frame: Frame, everywhere: bool = True) -> int | None:
        """The value of a variable of ``size`` bytes at an instruction; None where it is not available.

        ``everywhere``: without optimisation it is available wherever it may be asked for.
        """
        variable = self._by_name.get(name)
        if variable is None:
            return None
        if variable.constant is not None:
            return variable.constant % (1 << 8 * size)
        expression = variable.expression(pc)
        if expression is None and everywhere and self.unoptimised and not self._code.leads_in(pc):
            # Unoptimised code has one stack slot for each value.
            slots = {each.expression for each in variable.ranges if is_stack_slot(each.expression)}
            expression = slots.pop() if len(slots) == 1 else None
        if expression is not None:
            return evaluate(expression, frame, self._function.frame_base, size)
        before = self._value_before(variable, size, pc, frame)
        return before if before is not None else self.value_ahead(name, size, pc, frame)

    def _value_before(self, variable: Variable, size: int, pc: int, frame: Frame) -> int | None:
        """The value at the last instruction before ``pc``, in its block, where it was available.

        LLVM does not say where a value is that nothing will read, though the next one was computed from it.
        """
        start = self._code.index_of(pc)
        executed: list[int] = []
        if start is None or self._code.leads_in(pc):
            return None
        for number in self._code.straight_line_before(start):
            address = self._code.instructions[number].address
            executed.insert(0, address)
            expression = variable.expression(address)
            if expression is not None:
                before = self._straight.before(executed, frame, size)
                return evaluate(expression, before, self._function.frame_base, size)
        return None

    def value_ahead(
        self, name: str, size: int, pc: int, frame: Frame, location: int | None = None
    ) -> int | None:
        """The value at the first instruction behind ``pc`` where it is available, of the same location.

        At the end of a block, or at its start, it moves to where another instruction expects it.  With a
        ``location``, that is where control goes to.
        """
        variable, start = self._by_name.get(name), self._code.index_of(pc)
        if variable is None or start is None:
            return None
        here = self._code.locations[start]
        executed: list[int] = []
        for number in self._code.straight_line(start):
            address = self._code.instructions[number].address
            at = self._code.locations[number]
            there = at == (here if location is None else location) and not self._code.leads_in(address)
            expression = variable.expression(address) if there else None
            if expression is not None:
                after = self._straight.after(executed, frame)
                return evaluate(expression, after, self._function.frame_base, size)
            if at not in (here, location) or (executed and address < executed[-1] and location is None):
                return None
            executed.append(address)
        return None

    def added_ahead(self, probe: int, pc: int, frame: Frame) -> int | None:
        """What the probe with a code is about to add to its counter, if control is certain to come to it."""
        start = self._code.index_of(pc)
        executed: list[int] = []
        for number in () if start is None else self._code.straight_line(start):
            address = self._code.instructions[number].address
            if self._code.completed.get(number) == probe:
                return self._straight.added(address, self._straight.after(executed, frame))
            executed.append(address)
        return None

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
    """The values in one frame; ``stored_base`` is the base that its stack slot holds.

    ``halves``: in the lower half of the slot, since the upper one is for a second register.  ``chosen``
    computes a chosen value again, from others, where it is not computed yet.
    """

    variables: FunctionVariables
    pc: int
    frame: Frame
    stored_base: Base | None
    halves: bool = False
    chosen: Callable[[Chosen, FrameValues], int | None] = lambda _, __: None

    def of(self, value: Value | None) -> int:
        """A value of the path register."""
        if value is None:
            raise Undetermined("the path register was never set")
        if value.base is None:
            return value.add % WORD
        base, slot = None, self.variables.register_slot
        if value.base != STACK_SLOT:
            chosen = isinstance(value.base, Chosen)
            name = base_variable(value.base)
            base = self.variables.value(name, _WORD_SIZE, self.pc, self.frame, not chosen)
            if base is None and isinstance(value.base, Chosen):
                base = self.chosen(value.base, self)
        if base is None and value.base in (STACK_SLOT, self.stored_base) and slot is not None:
            base = self.variables.value(slot.name, _WORD_SIZE, self.pc, self.frame)
            if base is not None and self.halves:
                base = _signed_half(base)
        if base is None:
            raise Undetermined("the path register is not available")
        return (base + value.add) % WORD

    def at_start(self, value: Value | None, block: int) -> int:
        """A value of the path register at the start of a block that control is certain to go to."""
        if value is None:
            raise Undetermined("the path register was never set")
        base: int | None = 0
        if value.base is not None:
            name = base_variable(value.base)
            base = self.variables.value_ahead(name, _WORD_SIZE, self.pc, self.frame, block)
        if base is None:
            raise Undetermined("the path register is not available")
        return (base + value.add) % WORD

    def trip_count(self, back_edge: int, probes: Sequence[int | None] = ()) -> int:
        """How often a back edge was taken since its loop was entered.

        ``probes`` are the codes of those that add it: there the variable may not exist any more.
        """
        name, start, step, bits = self.variables.induction(back_edge)
        value = self.variables.value(name, (bits + 7) // 8, self.pc, self.frame)
        if value is not None:
            distance = (value - start if step > 0 else start - value) % (1 << bits)
            return distance // abs(step)
        for probe in probes:
            added = None if probe is None else self.variables.added_ahead(probe, self.pc, self.frame)
            if added is not None:
                return added
        raise Undetermined("the induction variable of a loop is not available")


def _signed_half(word: int) -> int:
    """The lower half of a word, with its sign."""
    half = path_part(word)
    return half - HALF if half >= HALF // 2 else half
