"""The code that tells, where a loop is left, how often it has turned (BL94 §6.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trodden.native.induction import Induction

# Written out, so that no pass sees what it does: LLVM would compute it from other values of the loop, which
# then stay alive and are spilled.
_COUNT_TRIP = {
    "x86_64": 'call i64 asm "incq $0", "=r,0,~{flags}"',
    "aarch64": 'call i64 asm "add $0, $0, #1", "=r,0"',
}


class TripCode:
    """Makes the code for the loops of one function.

    ``turning`` are the back edges of the loops whose trips a register of our own has to count.
    """

    def __init__(self, name: Callable[[], str], inductions: Mapping[int, Induction], machine: str) -> None:
        self._name = name
        self._machine = machine
        self.inductions = inductions
        self.turning: list[int] = []

    def distance(self, lines: list[str], back_edge: int) -> str:
        """How often a back edge was taken: (value - start) / step, in 64 bits."""
        induction = self.inductions[back_edge]
        if induction.own and back_edge not in self.turning:
            self.turning.append(back_edge)

        def emit(operation: str) -> str:
            name = self._name()
            lines.append(f"  %{name} = {operation}")
            return f"%{name}"

        value, start, type_ = f"%{induction.name}", induction.start, induction.type
        if induction.step < 0:
            value, start = start, value
        distance = value if start == "0" else emit(f"sub {type_} {value}, {start}")
        if type_ != "i64":
            distance = emit(f"zext {type_} {distance} to i64")
        step = abs(induction.step)
        if step & (step - 1) == 0:
            return emit(f"lshr exact i64 {distance}, {step.bit_length() - 1}") if step > 1 else distance
        return emit(f"udiv exact i64 {distance}, {step}")

    def turn(self, name: str) -> str:
        """What the block of a loop does to count its trips in ``name``."""
        return f"  %{name}.next = {_COUNT_TRIP[self._machine]}(i64 %{name})"
