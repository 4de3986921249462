"""Heuristics about what lies along the ways out of a branch: most of the function, or a quick way out of it.

A check that fails leads to a few blocks and out; one that holds leads to all the rest of the function.  So
the way with more blocks that only it leads to is the usual one, the more so the more there are.
"""

from __future__ import annotations

from functools import partial

from trodden.weigh.features.branch import FIRST, NONE, SECOND, Branch, Places
from trodden.weigh.features.clues import Against, Given, Relation
from trodden.weigh.features.known_functions import ALLOCATORS
from trodden.weigh.heuristics.ball_larus import Heuristic, Scope

_TIMES = (2, 4, 16, 64)
_PLACES = (2, 8, 32)
_GIVEN = {
    "zero": (Given.ZERO, "zero"),
    "null": (Given.NULL, "a null pointer"),
    "negative": (Given.NEGATIVE, "a negative number"),
    "constant": (Given.CONSTANT, "another constant"),
}


def _only_way(branch: Branch, place: int) -> int:
    """How many blocks one edge alone leads to; none if its target can be reached otherwise."""
    around, target = branch.around, branch.targets[place]
    return around.owned[target] if around.only_way_in[target] == branch.edges[place] else 0


def _longer(times: int, early: bool, branch: Branch) -> Places:
    around, (first, second) = branch.around, branch.targets
    if around.postdominates(first, branch.block) or around.postdominates(second, branch.block):
        return NONE
    meeting = around.postdominators.idom[branch.block]
    if (meeting < 0 or meeting == around.graph.exit or around.returns_ahead[meeting]) is not early:
        return NONE
    return _larger(times, _only_way(branch, 0), _only_way(branch, 1))


def _larger(times: int, first: int, second: int) -> Places:
    if max(first, second) < times * max(1, min(first, second)):
        return NONE
    return FIRST if first > second else SECOND


def _gives(what: Given, branch: Branch) -> Places:
    return branch.unlike(_given(branch, 0) is what, _given(branch, 1) is what)


def _given(branch: Branch, place: int) -> Given:
    """What is returned after one edge: the target tells, or the block itself if the way out starts there."""
    around, target = branch.around, branch.targets[place]
    if around.gives[target] is Given.NOTHING and around.returns_ahead[target]:
        return branch.clues.gives
    return around.gives[target]


def _popular(places: int, branch: Branch) -> Places:
    """Away from a call of what is called in so many places."""
    sites, (first, second) = branch.around.popular, branch.targets
    around, block = branch.around, branch.block
    return branch.unlike(
        sites[first] >= places and not around.postdominates(first, block),
        sites[second] >= places and not around.postdominates(second, block),
    )


def _allocated(branch: Branch) -> Places:
    test = branch.clues.test
    if test is None or test.callee not in ALLOCATORS or test.against is not Against.ZERO:
        return NONE
    return branch.like(test.relation is Relation.UNEQUAL, test.relation is Relation.EQUAL)


WAYS = (
    *(
        Heuristic(
            f"gives-{key}", "", f"does not go where {says} is returned", Scope.PLAIN, partial(_gives, what)
        )
        for key, (what, says) in _GIVEN.items()
    ),
    *(
        Heuristic(
            f"popular-{places}",
            "",
            f"does not go where a function is called that {places} places call",
            Scope.PLAIN,
            partial(_popular, places),
        )
        for places in _PLACES
    ),
    Heuristic("allocated", "", "memory and files can be had", Scope.PLAIN, _allocated),
    *(
        Heuristic(
            f"long-way-{times}",
            "",
            f"goes on with the function, {times} times as long as the way out",
            Scope.PLAIN,
            partial(_longer, times, True),
        )
        for times in _TIMES
    ),
    *(
        Heuristic(
            f"long-side-{times}",
            "",
            f"goes the way that is {times} times as long",
            Scope.PLAIN,
            partial(_longer, times, False),
        )
        for times in _TIMES
    ),
)
