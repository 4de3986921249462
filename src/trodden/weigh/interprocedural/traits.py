"""Which calls report an error or do not return, through any number of calls.

Programs check for errors everywhere, and errors are rare.  To a heuristic that looks at a single function all
calls are alike; but one that writes to standard error, or that does not return, is nearly certain evidence
that control does not go there.  A call of a function that does so on every path is just as good, which is
computed here for all functions of a program together (WL94 §8 asks for interprocedural evidence).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trodden.weigh.features.branch_context import BranchContext
from trodden.weigh.features.clues import BlockClues, CallClue, Ending, FunctionClues
from trodden.weigh.features.known_functions import complains
from trodden.weigh.interprocedural.callgraph import KnownFunction, Symbols

_TRAITS = {"ends": "terminates", "complains": "complains"}
"""For each trait of a call, the property of the callee's entry block from which it follows."""


def with_traits(functions: Sequence[KnownFunction]) -> list[FunctionClues]:
    """The features of all functions, with the traits of each call.

    A call does not return if no path of the callee reaches a return; it reports an error if every path to a
    return does.  Traits propagate from callees to callers until a fixed point.
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
        context = BranchContext(known.graph, clues[number].blocks)
        news = False
        for trait, members in found.items():
            if number not in members and getattr(context, _TRAITS[trait])[known.graph.root]:
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
    known: KnownFunction, clues: FunctionClues, resolve: Symbols, found: Mapping[str, set[int]]
) -> FunctionClues:
    """The features of a function with the traits of its calls that are known so far."""
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
