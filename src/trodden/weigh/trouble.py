"""Which calls mean trouble: a program that complains or gives up has left its usual way.

Programs check for errors everywhere and seldom meet one.  A heuristic that looks at a single function takes a
call for a call; but one that writes where errors go, or that does not come back, tells nearly for sure that
control does not go there.  So does a call of a function that does so on every way through it, which is
found out here for all functions of a program together (WL94 §8 asks for a deeper look).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from trodden.weigh.callgraph import Known, Symbols
from trodden.weigh.clues import BlockClues, CallClue, Ending, FunctionClues
from trodden.weigh.complainers import COMPLAINERS
from trodden.weigh.surroundings import Surroundings


def complains(call: CallClue) -> bool:
    """Whether a call reports that something has gone wrong."""
    return call.complains or call.callee in COMPLAINERS


def troubled(functions: Sequence[Known]) -> list[FunctionClues]:
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
    ends: set[int] = set()
    loud: set[int] = set()
    work = [number for number, each in enumerate(functions) if _any_trouble(each.clues.blocks)]
    waiting = set(work)
    while work:
        number = work.pop()
        waiting.discard(number)
        known = functions[number]
        clues[number] = _marked(known, clues[number], resolve, ends, loud)
        around = Surroundings(known.graph, clues[number].blocks)
        found = False
        for doomed, members in ((around.ends_badly, ends), (around.complains, loud)):
            if doomed[known.graph.root] and number not in members:
                members.add(number)
                found = True
        for caller in callers[number] if found else ():
            if caller not in waiting:
                waiting.add(caller)
                work.append(caller)
    return clues


def _calls(blocks: Iterable[BlockClues]) -> Iterable[CallClue]:
    return (call for block in blocks for call in block.calls)


def _any_trouble(blocks: Sequence[BlockClues]) -> bool:
    return any(block.ending is Ending.NEVER_RETURNS for block in blocks) or any(
        complains(call) or call.ends for call in _calls(blocks)
    )


def _marked(
    known: Known, clues: FunctionClues, resolve: Symbols, ends: set[int], loud: set[int]
) -> FunctionClues:
    """The clues of a function with the calls marked that are of what has been found out so far."""
    blocks = list(clues.blocks)
    for place, block in enumerate(blocks):
        calls = tuple(_mark(call, resolve(known.unit, call.callee), ends, loud) for call in block.calls)
        if calls != block.calls:
            blocks[place] = replace(block, calls=calls)
    return replace(clues, blocks=tuple(blocks))


def _mark(call: CallClue, callee: int | None, ends: set[int], loud: set[int]) -> CallClue:
    if not call.callee or callee is None:
        return call
    now_ends, now_complains = call.ends or callee in ends, call.complains or callee in loud
    if (now_ends, now_complains) == (call.ends, call.complains):
        return call
    return replace(call, ends=now_ends, complains=now_complains)
