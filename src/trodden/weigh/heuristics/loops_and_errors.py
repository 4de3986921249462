"""Heuristics that go beyond those of the paper, for branches of two ways (WL94 §8).

The paper asks for rates of the compiler at hand, for heuristics that look deeper into the graph, and for some
for branches with many ways (:mod:`trodden.weigh.heuristics.switches`).  Loops get more than one rate here:
where the test stands, what it compares, and what the edges do to the loops around say how often a loop turns.
"""

from __future__ import annotations

from functools import partial

from trodden.weigh.features.branch import FIRST, NONE, Branch, Places
from trodden.weigh.features.clues import Against, Ending, Origin, Relation, Sort
from trodden.weigh.features.dead_ends import is_dead_end
from trodden.weigh.features.known_functions import COMPARERS
from trodden.weigh.heuristics.ball_larus import Heuristic, Scope


def _ends_badly(branch: Branch) -> Places:
    return branch.without(branch.around.ends_badly)


def _complains(branch: Branch) -> Places:
    return branch.without(branch.around.complains)


def _cold(branch: Branch) -> Places:
    return branch.without(branch.around.runs_cold)


def _comes_back(branch: Branch) -> Places:
    """A call that may throw has two ways; the first one goes on."""
    return FIRST if branch.clues.may_throw else NONE


def _heaviest(weights: tuple[int, ...], branch: Branch) -> Places:
    if len(weights) != len(branch.edges):
        return NONE
    most = max(weights)
    return [place for place, weight in enumerate(weights) if weight == most]


def _said(branch: Branch) -> Places:
    return _heaviest(branch.clues.said, branch)


def _guessed(branch: Branch) -> Places:
    return _heaviest(branch.clues.guessed, branch)


def _share(weights: tuple[int, ...]) -> float:
    most = max(weights)
    return most * weights.count(most) / sum(weights)


def _trips(branch: Branch) -> Places:
    return branch.staying() if _certain(branch) else NONE


def _certain(branch: Branch) -> int:
    """How often the loop around turns, if that is certain and if it is this branch that ends it.

    Others may leave the loop as well, but only to where nothing returns.
    """
    number = branch.around.forest.innermost[branch.block]
    if number < 0:
        return 0
    loop = branch.around.forest.loops[number]
    trips = branch.around.clues[loop.header].trips
    return 0 if trips and len(loop.exits) > 1 and _gives_up(branch) else trips


def _gives_up(branch: Branch) -> bool:
    """Whether some way out of the loop leads to where nothing returns."""
    around = branch.around
    return any(
        edge in around.leaving
        and is_dead_end(
            around.graph, target, lambda block: around.clues[block].ending is Ending.NEVER_RETURNS
        )
        for edge, target in zip(branch.edges, branch.targets, strict=True)
    )


def _stays(branch: Branch) -> Places:
    leaving = branch.around.leaving
    return branch.unlike(branch.edges[0] in leaving, branch.edges[1] in leaving)


def _outer(branch: Branch) -> Places:
    """The back edge belongs to a loop further out: to take it is to leave the loop inside."""
    around = branch.around
    back = [edge in around.back and edge in around.leaving for edge in branch.edges]
    return branch.unlike(back[0], back[1])


def _continue(branch: Branch) -> Places:
    """One way goes back to the entry, the other stays in the loop as well."""
    around = branch.around
    if branch.edges[0] in around.leaving or branch.edges[1] in around.leaving:
        return NONE
    return branch.like(branch.edges[0] in around.back, branch.edges[1] in around.back)


def _turns(branch: Branch) -> Places:
    """The way that stays, if this is where the loop is meant to end: at its entry or where it goes back."""
    around = branch.around
    if around.forest.innermost[branch.block] < 0:
        return NONE
    if branch.block in around.headers or branch.edges[0] in around.back or branch.edges[1] in around.back:
        return _stays(branch)
    return NONE


def _turns_on(what: str, branch: Branch) -> Places:
    turns = _turns(branch)
    return turns if turns and _decided_by(branch) == what else NONE


def _decided_by(branch: Branch) -> str:
    """What sort of comparison decides a branch, as far as it tells how long a loop may run."""
    test = branch.clues.test
    if test is None:
        return ""
    if test.origin is Origin.CALL:
        return "call"
    if test.sort is Sort.POINTER:
        return "null" if test.against is Against.ZERO else "pointer"
    if test.sort is Sort.INTEGER:
        if test.relation in (Relation.EQUAL, Relation.UNEQUAL):
            return "equal" if test.against is Against.VARIABLE else "sentinel"
        return "limit" if test.against is Against.VARIABLE else "constant"
    return {Sort.CHARACTER: "character", Sort.FLOAT: "float", Sort.FLAG: "flag"}[test.sort]


def _turns_options(branch: Branch) -> Places:
    around = branch.around
    return _turns(branch) if around.forest.innermost[branch.block] in around.loops_over_options else NONE


def _compares(branch: Branch) -> Places:
    test = branch.clues.test
    if test is None or test.callee not in COMPARERS or test.against is not Against.ZERO:
        return NONE
    return branch.like(test.relation is Relation.UNEQUAL, test.relation is Relation.EQUAL)


def _detour(branch: Branch) -> Places:
    meeting = branch.around.postdominators.idom[branch.block]
    return branch.unlike(branch.targets[0] == meeting, branch.targets[1] == meeting)


def _away_from_crowds(ways: int, branch: Branch) -> Places:
    """Where many ways come together that have nothing else in common, there is the handling of errors."""
    into = branch.around.graph.in_edges
    return branch.unlike(len(into[branch.targets[0]]) >= ways, len(into[branch.targets[1]]) >= ways)


def _ahead(what: str, branch: Branch) -> tuple[bool, bool]:
    """Look as far as to where the ways meet again: which of two ways has something on it for sure."""
    around, (first, second) = branch.around, branch.targets
    counted = getattr(around, what)
    return (
        around.before_meeting(counted, branch.block, first) > 0,
        around.before_meeting(counted, branch.block, second) > 0,
    )


def _towards(what: str, branch: Branch) -> Places:
    return branch.like(*_ahead(what, branch))


def _away_from(what: str, branch: Branch) -> Places:
    return branch.unlike(*_ahead(what, branch))


_EXITS = Scope.PLAIN | Scope.ROUND
_TESTS = {
    "null": "a pointer against null",
    "pointer": "two pointers",
    "equal": "two integers for equality",
    "sentinel": "an integer with a constant for equality",
    "limit": "an integer with a limit that is no constant",
    "constant": "an integer with a constant limit",
    "character": "a character",
    "float": "floating-point numbers",
    "flag": "a truth value",
    "call": "the result of a call",
}

FURTHER = (
    Heuristic(
        "trips",
        "",
        "turns as often as is certain",
        Scope.TWO,
        _trips,
        strength=lambda branch: 1 - 1 / _certain(branch),
        settles=True,
    ),
    Heuristic(
        "said",
        "",
        "goes where the source says",
        Scope.ANY,
        _said,
        strength=lambda branch: _share(branch.clues.said),
        settles=True,
    ),
    Heuristic(
        "guessed",
        "",
        "goes where the compiler guesses",
        Scope.ANY,
        _guessed,
        strength=lambda branch: _share(branch.clues.guessed),
    ),
    Heuristic(
        "comes-back", "", "a call comes back without an exception", Scope.TWO, _comes_back, settles=True
    ),
    Heuristic("ends-badly", "", "does not go where the program ends", Scope.ANY, _ends_badly, settles=True),
    Heuristic("complains", "", "does not go where an error is reported", Scope.ANY, _complains, settles=True),
    Heuristic("cold", "", "does not go where only cold calls are", Scope.ANY, _cold, settles=True),
    Heuristic("turns-options", "", "a loop over options goes on", Scope.TWO, _turns_options, settles=True),
    Heuristic("stays", "", "does not leave the smallest loop", _EXITS, _stays),
    Heuristic("outer-back", "", "does not go back in a loop further out", Scope.LOOP, _outer),
    Heuristic("continue", "", "goes back early, within the loop", Scope.LOOP, _continue),
    *(
        Heuristic(
            f"turns-{what}",
            "",
            f"the loop goes on; its end compares {words}",
            Scope.TWO,
            partial(_turns_on, what),
            settles=True,
        )
        for what, words in _TESTS.items()
    ),
    Heuristic("compares", "", "two strings or memories are not equal", Scope.PLAIN, _compares),
    Heuristic("detour", "", "does not go straight to where the ways meet", Scope.PLAIN, _detour),
    Heuristic(
        "joined", "", "does not go where several ways meet", Scope.PLAIN, partial(_away_from_crowds, 2)
    ),
    Heuristic("crowded", "", "does not go where many ways meet", Scope.PLAIN, partial(_away_from_crowds, 5)),
    Heuristic(
        "surely-calls",
        "",
        "does not go where a call lies ahead",
        Scope.PLAIN,
        partial(_away_from, "surely_calls"),
    ),
    Heuristic(
        "surely-stores",
        "",
        "does not go where a store lies ahead",
        Scope.PLAIN,
        partial(_away_from, "surely_stores"),
    ),
    Heuristic(
        "surely-loops",
        "",
        "goes where a loop lies ahead",
        Scope.PLAIN,
        partial(_towards, "surely_loops"),
    ),
    Heuristic(
        "surely-branches",
        "",
        "goes where a branch lies ahead",
        Scope.PLAIN,
        partial(_towards, "surely_branches"),
    ),
)
