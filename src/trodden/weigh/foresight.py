"""What only a look at the whole program tells of its calls (WL94 §8 asks for a deeper look).

Two things: whether a call means trouble (:mod:`trodden.weigh.trouble`), and how much of the program it leads
to.  Most of a program lies behind a few calls, and a run that did not come to them would do nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trodden.graph.components import strong_components
from trodden.weigh.callgraph import Known, Symbols
from trodden.weigh.clues import BlockClues, CallClue, FunctionClues
from trodden.weigh.trouble import troubled


def foreseen(functions: Sequence[Known]) -> list[FunctionClues]:
    """The clues of all functions of a program, their calls with what is known of what is called."""
    marked = troubled(functions)
    reach = _Reach(functions)
    found: list[FunctionClues] = []
    for known, clues in zip(functions, marked, strict=True):
        blocks = tuple(_block(block, known.unit, reach) for block in clues.blocks)
        found.append(replace(clues, blocks=blocks))
    return found


def _block(block: BlockClues, unit: int, reach: _Reach) -> BlockClues:
    if not block.calls:
        return block
    calls = tuple(replace(call, reach=reach.of(unit, call)) for call in block.calls)
    return replace(block, calls=calls)


class _Reach:
    """How many functions can be reached by a call, worked out for all at once.

    Sets of functions are the bits of whole numbers.  Calls through pointers of one signature are a vertex
    behind those of the functions.
    """

    def __init__(self, functions: Sequence[Known]) -> None:
        self._resolve = Symbols(functions)
        self._signatures: dict[str, int] = {}
        successors: list[list[int]] = []
        for known in functions:
            targets = {
                target
                for block in known.clues.blocks
                for call in block.calls
                if (target := self._target(known.unit, call, len(functions))) is not None
            }
            successors.append(sorted(targets))
        pointed: dict[str, list[int]] = {}
        for number, known in enumerate(functions):
            if known.taken:
                pointed.setdefault(known.clues.signature, []).append(number)
        successors += [pointed.get(signature, []) for signature in self._signatures]
        self._sizes = _sizes(successors, len(functions))
        self._functions = len(functions)

    def of(self, unit: int, call: CallClue) -> int:
        """How many functions a call leads to."""
        target = self._target(unit, call, self._functions)
        return 0 if target is None else self._sizes[target]

    def _target(self, unit: int, call: CallClue, functions: int) -> int | None:
        if call.callee:
            return self._resolve(unit, call.callee)
        return self._signatures.setdefault(call.signature, functions + len(self._signatures))


def _sizes(successors: Sequence[Sequence[int]], functions: int) -> list[int]:
    sets = [0] * len(successors)
    for members in strong_components(successors, range(len(successors))):
        together = 0
        for member in members:
            if member < functions:
                together |= 1 << member
            for target in successors[member]:
                together |= sets[target]
        for member in members:
            sets[member] = together
    return [each.bit_count() for each in sets]
