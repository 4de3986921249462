"""Heuristics about what lies along the ways out of a branch: trouble, or most of the function.

A check that fails leads to a few blocks and out; one that holds leads to all the rest of the function.  So
the way with more blocks that only it leads to is the usual one, the more so the more there are.
"""

from __future__ import annotations

from functools import partial

from trodden.weigh.branch import FIRST, NONE, SECOND, Branch, Places
from trodden.weigh.heuristics import Heuristic, Scope

_TIMES = (2, 4, 16, 64)


def _complains(branch: Branch) -> Places:
    return branch.without(branch.around.complains)


def _only_way(branch: Branch, place: int) -> int:
    """How many blocks one edge alone leads to; none if its target can be reached otherwise."""
    around, target = branch.around, branch.targets[place]
    into = [edge for edge in around.graph.in_edges[target] if edge not in around.back]
    return around.owned[target] if into == [branch.edges[place]] else 0


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


def _reaches(times: int, branch: Branch) -> Places:
    """The way on which a call leads to more of the program, not counting what lies behind where ways meet."""
    reach = branch.around.reach
    first, second = (
        reach[target] if _only_way(branch, place) else 0 for place, target in enumerate(branch.targets)
    )
    return _larger(times, first, second)


WAYS = (
    Heuristic("complains", "complains", "does not go where an error is reported", Scope.ANY, _complains),
    *(
        Heuristic(
            f"long-way-{times}",
            f"long {times}",
            f"goes on with the function, {times} times as long as the way out",
            Scope.PLAIN,
            partial(_longer, times, True),
        )
        for times in _TIMES
    ),
    *(
        Heuristic(
            f"long-side-{times}",
            f"side {times}",
            f"goes the way that is {times} times as long",
            Scope.PLAIN,
            partial(_longer, times, False),
        )
        for times in _TIMES
    ),
    *(
        Heuristic(
            f"reaches-{times}",
            f"reach {times}",
            f"goes where a call leads to {times} times as many functions",
            Scope.PLAIN,
            partial(_reaches, times),
        )
        for times in _TIMES
    ),
)
