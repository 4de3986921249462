"""Heuristics about the regions that the edges of a branch lead to: most of the function, or an early return.

A check that fails leads to a few blocks and a return; one that succeeds leads to the rest of the function.
So the edge that dominates more blocks is the usual one, the more so the more there are.
"""

from __future__ import annotations

from functools import partial

from trodden.weigh.features.block_features import Relation, ReturnedConstant, RightOperand
from trodden.weigh.features.branch import FIRST, NONE, SECOND, Branch, EdgePositions
from trodden.weigh.features.known_functions import ALLOCATORS
from trodden.weigh.heuristics.heuristic import Heuristic, Scope

_TIMES = (2, 4, 16, 64)
_CALL_SITES = (2, 8, 32)
_RETURNED = {
    "zero": (ReturnedConstant.ZERO, "zero"),
    "null": (ReturnedConstant.NULL, "a null pointer"),
    "negative": (ReturnedConstant.NEGATIVE, "a negative number"),
    "constant": (ReturnedConstant.CONSTANT, "another constant"),
}


def _exclusive_blocks(branch: Branch, position: int) -> int:
    """How many blocks are reached through one edge only; none if its target has other predecessors."""
    context, target = branch.context, branch.targets[position]
    return context.dominated_blocks[target] if context.only_in_edge[target] == branch.edges[position] else 0


def _longer(times: int, early: bool, branch: Branch) -> EdgePositions:
    context, (first, second) = branch.context, branch.targets
    if context.postdominates(first, branch.block) or context.postdominates(second, branch.block):
        return NONE
    join = context.postdominators.idom[branch.block]
    if (join < 0 or join == context.graph.exit or context.returns_ahead[join]) is not early:
        return NONE
    return _larger(times, _exclusive_blocks(branch, 0), _exclusive_blocks(branch, 1))


def _larger(times: int, first: int, second: int) -> EdgePositions:
    if max(first, second) < times * max(1, min(first, second)):
        return NONE
    return FIRST if first > second else SECOND


def _returns_constant(what: ReturnedConstant, branch: Branch) -> EdgePositions:
    return branch.unlike(_returned_constant(branch, 0) is what, _returned_constant(branch, 1) is what)


def _returned_constant(branch: Branch, position: int) -> ReturnedConstant:
    """What is returned after one edge, set by its target or by the block itself."""
    context, target = branch.context, branch.targets[position]
    if context.gives[target] is ReturnedConstant.NOTHING and context.returns_ahead[target]:
        return branch.features.returned
    return context.gives[target]


def _popular(least: int, branch: Branch) -> EdgePositions:
    """Avoids a call of a function that has so many call sites."""
    sites, (first, second) = branch.context.fewest_call_sites, branch.targets
    context, block = branch.context, branch.block
    return branch.unlike(
        sites[first] >= least and not context.postdominates(first, block),
        sites[second] >= least and not context.postdominates(second, block),
    )


def _allocated(branch: Branch) -> EdgePositions:
    test = branch.features.test
    if test is None or test.callee not in ALLOCATORS or test.right is not RightOperand.ZERO:
        return NONE
    return branch.like(test.relation is Relation.UNEQUAL, test.relation is Relation.EQUAL)


REGION_SHAPE = (
    *(
        Heuristic(
            f"gives-{key}",
            "",
            f"avoids returning {says}",
            Scope.PLAIN,
            partial(_returns_constant, what),
        )
        for key, (what, says) in _RETURNED.items()
    ),
    *(
        Heuristic(
            f"popular-{sites}",
            "",
            f"avoids calling a function with {sites} call sites",
            Scope.PLAIN,
            partial(_popular, sites),
        )
        for sites in _CALL_SITES
    ),
    Heuristic("allocated", "", "allocations and opening files succeed", Scope.PLAIN, _allocated),
    *(
        Heuristic(
            f"long-way-{times}",
            "",
            f"stays in the function, {times} times as many blocks as before the return",
            Scope.PLAIN,
            partial(_longer, times, True),
        )
        for times in _TIMES
    ),
    *(
        Heuristic(
            f"long-side-{times}",
            "",
            f"takes the side with {times} times as many blocks",
            Scope.PLAIN,
            partial(_longer, times, False),
        )
        for times in _TIMES
    ),
)
