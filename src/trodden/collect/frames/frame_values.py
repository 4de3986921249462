"""What the variables of a function hold in a frame: the path register, the trips of loops."""

from __future__ import annotations

from dataclasses import dataclass

from trodden.collect.binary.dwarf import Function, Variable
from trodden.collect.binary.dwarf_expressions import Frame, evaluate, in_memory
from trodden.collect.frames.code_map import CodeView
from trodden.collect.frames.probe_progress import Unknown
from trodden.plan.paths.path_register import STACK_SLOT, Value
from trodden.plan.probes import WORD
from trodden.program.debug_variables import KEPT, TRIPS, VALUE

_WORD_SIZE = 8


class Variables:
    """The variables of one function.

    ``cell`` is the frame's cell, if it has one, and ``kept`` are the blocks behind whose calls the path
    register is taken from there.  ``plain``: the function was not optimised.
    """

    def __init__(self, function: Function, code: CodeView, plain: bool) -> None:
        self._function = function
        self._code = code
        self._plain = plain
        self._by_name = {each.name: each for each in function.variables}
        self.cell: Variable | None = None
        self.kept: frozenset[int] = frozenset()
        self._inductions: dict[int, tuple[str, int, int, int]] = {}
        for name, variable in self._by_name.items():
            first, *words = name.split(".")
            if first == KEPT:
                self.cell = variable
                self.kept = frozenset(int(word, 16) for word in words)
            elif first == TRIPS:
                edge, start, step, bits = map(int, words)
                self._inductions[edge] = (name, start, step, bits)

    def held(self, name: str, size: int, pc: int, frame: Frame) -> int | None:
        """What a variable holds at an instruction."""
        variable = self._by_name.get(name)
        if variable is None:
            return None
        if variable.constant is not None:
            return variable.constant % (1 << 8 * size)
        expression = variable.expression(pc)
        if expression is None and self._plain and not self._code.leads_on(pc):
            # Code that is not optimised has one place in the frame for each value.
            kept = {each.expression for each in variable.ranges if in_memory(each.expression)}
            expression = kept.pop() if len(kept) == 1 else None
        return (
            evaluate(expression, frame, self._function.frame_base, size) if expression is not None else None
        )

    def induction(self, back_edge: int) -> tuple[str, int, int, int]:
        """The variable that tells the trips of a loop, where it starts, its step, and its number of bits."""
        found = self._inductions.get(back_edge)
        if found is None or found[2] == 0 or not 0 < found[3] <= 8 * _WORD_SIZE:
            raise Unknown("no value tells the trips of a loop")
        return found


@dataclass(frozen=True)
class Values:
    """The values of one frame; ``stored`` is the base that its cell holds."""

    variables: Variables
    pc: int
    frame: Frame
    stored: str | None

    def of(self, value: Value | None) -> int:
        """A value of the path register."""
        if value is None:
            raise Unknown("the path register was never set")
        if value.base is None:
            return value.add % WORD
        base, cell = None, self.variables.cell
        if value.base != STACK_SLOT:
            base = self.variables.held(f"{VALUE}.{value.base}", _WORD_SIZE, self.pc, self.frame)
        if base is None and value.base in (STACK_SLOT, self.stored) and cell is not None:
            base = self.variables.held(cell.name, _WORD_SIZE, self.pc, self.frame)
        if base is None:
            raise Unknown("the path register is nowhere")
        return (base + value.add) % WORD

    def trips(self, back_edge: int) -> int:
        """How often a back edge was taken since its loop was entered."""
        name, start, step, bits = self.variables.induction(back_edge)
        value = self.variables.held(name, (bits + 7) // 8, self.pc, self.frame)
        if value is None:
            raise Unknown("what tells the trips of a loop is nowhere")
        distance = (value - start if step > 0 else start - value) % (1 << bits)
        return distance // abs(step)
