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

from trodden.weigh.features.block_features import BlockEnding, BlockFeatures, CallFeatures, FunctionFeatures
from trodden.weigh.features.branch_context import BranchContext
from trodden.weigh.features.known_functions import reports_error
from trodden.weigh.interprocedural.callgraph import KnownFunction, Symbols

_TRAITS = {"ends": "terminates", "reports_error": "reports_error"}
"""For each trait of a call, the property of the callee's entry block from which it follows."""


def with_traits(functions: Sequence[KnownFunction]) -> list[FunctionFeatures]:
    """The features of all functions, with the traits of each call.

    A call does not return if no path of the callee reaches a return; it reports an error if every path to a
    return does.  Traits propagate from callees to callers until a fixed point.
    """
    resolve = Symbols(functions)
    callers: list[set[int]] = [set() for _ in functions]
    features = [each.features for each in functions]
    for number, each in enumerate(functions):
        for call in _calls(each.features.blocks):
            callee = resolve(each.unit, call.callee) if call.callee else None
            if callee is not None:
                callers[callee].add(number)
    found: dict[str, set[int]] = {trait: set() for trait in _TRAITS}
    work = deque(number for number, each in enumerate(functions) if _any_trait(each.features.blocks))
    waiting = set(work)
    while work:
        number = work.popleft()
        waiting.discard(number)
        known = functions[number]
        features[number] = _marked(known, features[number], resolve, found)
        context = BranchContext(known.graph, features[number].blocks)
        news = False
        for trait, members in found.items():
            if number not in members and getattr(context, _TRAITS[trait])[known.graph.root]:
                members.add(number)
                news = True
        for caller in callers[number] if news else ():
            if caller not in waiting:
                waiting.add(caller)
                work.append(caller)
    return features


def _calls(blocks: Iterable[BlockFeatures]) -> Iterable[CallFeatures]:
    return (call for block in blocks for call in block.calls)


def _any_trait(blocks: Sequence[BlockFeatures]) -> bool:
    return any(block.ending is BlockEnding.NEVER_RETURNS for block in blocks) or any(
        call.ends or reports_error(call) for call in _calls(blocks)
    )


def _marked(
    known: KnownFunction, features: FunctionFeatures, resolve: Symbols, found: Mapping[str, set[int]]
) -> FunctionFeatures:
    """The features of a function with the traits of its calls that are known so far."""
    blocks = list(features.blocks)
    for position, block in enumerate(blocks):
        calls = tuple(_mark(call, resolve(known.unit, call.callee), found) for call in block.calls)
        if calls != block.calls:
            blocks[position] = replace(block, calls=calls)
    return replace(features, blocks=tuple(blocks))


def _mark(call: CallFeatures, callee: int | None, found: Mapping[str, set[int]]) -> CallFeatures:
    if not call.callee or callee is None:
        return call
    marked = replace(
        call,
        ends=call.ends or callee in found["ends"],
        reports_error=call.reports_error or callee in found["reports_error"],
    )
    return call if marked == call else marked
