"""Loops whose trip count follows from an induction variable of the program (BL94 §6.3).

A phi of the loop header that changes by a constant in each iteration determines at every exit of the loop how
often the back edge was taken: its difference from the start, divided by its step.  No counter needs to run
inside the loop, however many exits it has.

Only variables that start from a constant are used.  One that starts from another value keeps that value
alive through the loop, and the spills this causes cost more than the counter: on bzip2 the block sort
grew by 45 million instructions with such loops and by 17 million without.

A loop of a single block that has no such variable gets one: a register that counts its iterations.  An
increment in memory has to wait for that of the previous iteration, which takes several cycles, longer than
most such loops; in a register it takes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trodden.native.ir.function import IRFunction
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.syntax.operands import is_integer

_WIDEST_STEP = 1 << 12
_TYPES = frozenset({"i32", "i64"})
_NO_WRAPPING = frozenset({"nuw", "nsw"})


@dataclass(frozen=True, slots=True)
class Induction:
    """Value ``name`` of LLVM type ``type`` is ``start`` on entry to a loop, plus ``step`` an iteration.

    ``own``: the program has no such value; it is added to count iterations.
    """

    name: str
    type: str
    start: str
    step: int
    own: bool = False

    @property
    def flush_cost(self) -> int:
        """About how many instructions it takes to add the trip count to a counter at an exit of the loop."""
        cost = 2
        if self.own:
            cost += 2
        if self.start != "0":
            cost += 1
        if abs(self.step) != 1:
            cost += 1
        if self.type != "i64":
            cost += 1
        return cost


def own_induction(header: int) -> Induction:
    """A value that is added to a loop only to count its iterations."""
    return Induction(f"trodden.trips.{header}", "i64", "0", 1, own=True)


def find_induction(function: IRFunction, header: int, latch: int, members: Sequence[int]) -> Induction | None:
    """The cheapest induction variable of the loop with this header and this only latch."""
    best: Induction | None = None
    latch_label = function.blocks[latch].label
    for phi in function.blocks[header].phis:
        candidate = _induction(function, phi, latch_label, members)
        if candidate is not None and (best is None or candidate.flush_cost < best.flush_cost):
            best = candidate
    return best


def _induction(
    function: IRFunction, phi: Instruction, latch: str, members: Sequence[int]
) -> Induction | None:
    type_ = phi.type
    if type_ not in _TYPES or phi.result is None:
        return None
    starts = {value for value, label in phi.incoming if label != latch}
    following = next((value for value, label in reversed(phi.incoming) if label == latch), "")
    if len(starts) != 1 or not following.startswith("%"):
        return None
    start = starts.pop()
    if not is_integer(start):
        return None
    definition = _definition(function, following[1:], members)
    step = None if definition is None else constant_step(definition, phi.result)
    if definition is None or step is None or definition.type != type_:
        return None
    if type_ != "i64" and _NO_WRAPPING.isdisjoint(definition.flags):
        return None
    if step == 0 or abs(step) > _WIDEST_STEP:
        return None
    return Induction(phi.result, type_, start, step)


def constant_step(instruction: Instruction, variable: str) -> int | None:
    """The constant that an instruction adds to a variable; None if it does anything else."""
    if instruction.opcode != "add":
        return None
    left, right = instruction.operands
    return int(right.value) if left.local == variable and is_integer(right.value) else None


def _definition(function: IRFunction, name: str, members: Sequence[int]) -> Instruction | None:
    """The instruction that defines a value in a loop."""
    for member in members:
        definition = function.blocks[member].definition(name)
        if definition is not None:
            return definition
    return None
