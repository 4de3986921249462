"""The code that tells, where a loop is left, how often it has turned (BL94 §6.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trodden.native.analysis.induction import Induction

# Written out, so that no pass sees what it does: LLVM would compute it from other values of the loop, which
# then stay alive and are spilled.
_COUNT_TRIP = {
    "x86_64": 'call i64 asm "incq $0", "=r,0,~{flags}"',
    "aarch64": 'call i64 asm "add $0, $0, #1", "=r,0"',
}

# Behind this, LLVM does not see what becomes of a value that comes out of a loop.  It would keep another one
# that is widened, divided or negated already, in a register of its own that turns with the loop.
_HIDE = 'call {} asm "", "=r,0"'


class TripCode:
    """Makes the code for the loops of one function.

    ``told`` are the loops, by back edge, whose trips were asked for, with what tells them; of these
    ``turning`` are those that a register of our own has to count.
    """

    def __init__(self, name: Callable[[], str], inductions: Mapping[int, Induction], machine: str) -> None:
        self._name = name
        self._machine = machine
        self._inductions = inductions
        self.told: dict[int, Induction] = {}

    @property
    def turning(self) -> dict[int, Induction]:
        """The loops that have no value of the program's to be told from."""
        return {edge: induction for edge, induction in self.told.items() if induction.own}

    def distance(self, lines: list[str], back_edge: int) -> str:
        """How often a back edge was taken: (value - start) / step, in 64 bits."""
        induction = self.told[back_edge] = self._inductions[back_edge]

        def emit(operation: str) -> str:
            name = self._name()
            lines.append(f"  %{name} = {operation}")
            return f"%{name}"

        value, start, type_ = f"%{turned(induction)}", induction.start, induction.type
        if not induction.own:
            value = emit(f"{_HIDE.format(type_)}({type_} {value})")
        if induction.step < 0:
            value, start = start, value
        distance = value if start == "0" else emit(f"sub {type_} {value}, {start}")
        if type_ != "i64":
            distance = emit(f"zext {type_} {distance} to i64")
        step = abs(induction.step)
        if step & (step - 1) == 0:
            return emit(f"lshr exact i64 {distance}, {step.bit_length() - 1}") if step > 1 else distance
        return emit(f"udiv exact i64 {distance}, {step}")

    def turn(self, induction: Induction) -> str:
        """What the block of a loop does to count its trips, each time it begins.

        The value it begins with is no longer needed behind that, so it takes one register and one
        instruction.
        """
        return f"  %{turned(induction)} = {_COUNT_TRIP[self._machine]}(i64 %{induction.name})"


def turned(induction: Induction) -> str:
    """The value that tells the trips inside a loop: one of our own has counted the block's beginning."""
    return f"{induction.name}.next" if induction.own else induction.name
