"""What calls do in the end: complain, or give up.

Programs check for errors everywhere and seldom meet one.  A heuristic that looks at a single function takes a
call for a call; but one that writes where errors go, or that does not come back, tells nearly for sure that
control does not go there.  A call of a function that does so on every way through it is as good, which is
found out here for all functions of a program together (WL94 §8 asks for a deeper look).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trodden.weigh.features.branch_context import Surroundings
from trodden.weigh.features.clues import BlockClues, CallClue, Ending, FunctionClues
from trodden.weigh.features.known_functions import complains
from trodden.weigh.interprocedural.callgraph import Known, Symbols

_TRAITS = {"ends": "ends_badly", "complains": "complains"}
"""For each mark of a call, what says of the callee's first block that it deserves it."""


def with_traits(functions: Sequence[Known]) -> list[FunctionClues]:
    """The clues of all functions, with the calls marked that complain or end because of what is called.

    A function ends if no way through it comes to a return; it complains if every way to a return does so.
    What is marked may make its callers to be marked as well, which goes on until nothing more is found.
    """
    resolve = Symbols(functions)
    callers: list[set[int]] = [set() for _ in functions]
    clues = [each.clues for each in functions]
    for number, each in enumerate(functions):
        for call in _calls(each.clues.blocks):
            callee = resolve(each.unit, call.callee) if call.callee else None
            if callee is not None:
                callers[callee].add(number)
    found: dict[str, set[int]] = {trait: set() for trait in _TRAITS}
    work = deque(number for number, each in enumerate(functions) if _any_trait(each.clues.blocks))
    waiting = set(work)
    while work:
        number = work.popleft()
        waiting.discard(number)
        known = functions[number]
        clues[number] = _marked(known, clues[number], resolve, found)
        around = Surroundings(known.graph, clues[number].blocks)
        news = False
        for trait, members in found.items():
            if number not in members and getattr(around, _TRAITS[trait])[known.graph.root]:
                members.add(number)
                news = True
        for caller in callers[number] if news else ():
            if caller not in waiting:
                waiting.add(caller)
                work.append(caller)
    return clues


def _calls(blocks: Iterable[BlockClues]) -> Iterable[CallClue]:
    return (call for block in blocks for call in block.calls)


def _any_trait(blocks: Sequence[BlockClues]) -> bool:
    return any(block.ending is Ending.NEVER_RETURNS for block in blocks) or any(
        call.ends or complains(call) for call in _calls(blocks)
    )


def _marked(
    known: Known, clues: FunctionClues, resolve: Symbols, found: Mapping[str, set[int]]
) -> FunctionClues:
    """The clues of a function with the calls marked that are of what has been found out so far."""
    blocks = list(clues.blocks)
    for place, block in enumerate(blocks):
        calls = tuple(_mark(call, resolve(known.unit, call.callee), found) for call in block.calls)
        if calls != block.calls:
            blocks[place] = replace(block, calls=calls)
    return replace(clues, blocks=tuple(blocks))


def _mark(call: CallClue, callee: int | None, found: Mapping[str, set[int]]) -> CallClue:
    if not call.callee or callee is None:
        return call
    marked = replace(
        call,
        ends=call.ends or callee in found["ends"],
        complains=call.complains or callee in found["complains"],
    )
    return call if marked == call else marked
