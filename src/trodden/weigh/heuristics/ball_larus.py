"""Ball and Larus's nine heuristics, as Wu and Larus tell them (WL94 §3.1).

Each looks at a branch and says along which edges control will go; it applies if those are some but not all of
the edges.  The details that the summary of the paper leaves out are those of Ball and Larus: a block that
passes control on unconditionally to a call, a return or the entry of a loop counts as if it had it
itself, for calls and loops only if it dominates them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Flag, auto

from trodden.weigh.features.branch import FIRST, NONE, SECOND, Branch, Places
from trodden.weigh.features.clues import Against, Relation, Sort


class Scope(Flag):
    """Which branches a heuristic is asked about: Algorithm 1 keeps them apart."""

    LOOP = auto()
    """Of two ways one is a back edge."""
    ROUND = auto()
    """Of two ways both are back edges."""
    PLAIN = auto()
    """Of two ways none is a back edge."""
    MANY_LOOP = auto()
    """Of more than two ways some are back edges."""
    MANY = auto()
    """Of more than two ways all or none are back edges."""

    TWO = LOOP | ROUND | PLAIN
    ANY = TWO | MANY_LOOP | MANY


@dataclass(frozen=True)
class Heuristic:
    """A rule of thumb: its key in a table of rates, the paper's short name for it if it is one of the nine,
    what it says, of which branches, and to which edges.

    ``strength`` is for those whose clue tells by itself how probable the edges are, so that the rate is only
    the most that is believed.  One that ``settles`` a branch knows, and others are not asked.
    """

    key: str
    short: str
    says: str
    scope: Scope
    predicts: Callable[[Branch], Places]
    strength: Callable[[Branch], float] | None = None
    settles: bool = False

    def mass(self, branch: Branch, rate: float) -> float:
        """How far it is believed about a branch it applies to."""
        return rate if self.strength is None else min(rate, self.strength(branch))


def scope_of(branch: Branch) -> Scope:
    """Which of the cases of Algorithm 1 a branch is."""
    edges, back = branch.edges, branch.around.back
    if len(edges) == 2:
        first, second = edges[0] in back, edges[1] in back
        return Scope.LOOP if first != second else Scope.ROUND if first else Scope.PLAIN
    return Scope.MANY_LOOP if 0 < sum(edge in back for edge in edges) < len(edges) else Scope.MANY


def _loop_branch(branch: Branch) -> Places:
    return branch.back()


def _pointer(branch: Branch) -> Places:
    test = branch.clues.test
    if test is None or test.sort is not Sort.POINTER:
        return NONE
    return _EQUALITY.get(test.relation, NONE)


def _opcode(branch: Branch) -> Places:
    """``x < 0``, ``x <= 0`` and ``x == c`` fail, so their opposites hold."""
    clues = branch.clues
    test = clues.test
    if test is None:
        return [clues.cases.index(None)] if len(clues.cases) == 2 and None in clues.cases else NONE
    if test.sort is not Sort.INTEGER and test.sort is not Sort.CHARACTER:
        return NONE
    if test.relation in _EQUALITY:
        return NONE if test.against is Against.VARIABLE else _EQUALITY[test.relation]
    return _ORDER[test.relation] if test.against is Against.ZERO and not test.unsigned else NONE


def _guard(branch: Branch) -> Places:
    places = branch.clues.guarded
    if not places:
        return NONE
    first, second = branch.targets
    around, block = branch.around, branch.block
    return branch.like(
        0 in places and not around.postdominates(first, block),
        1 in places and not around.postdominates(second, block),
    )


def _loop_exit(branch: Branch) -> Places:
    leaving, headers = branch.around.leaving, branch.around.headers
    first, second = branch.edges
    if branch.targets[0] in headers or branch.targets[1] in headers:
        return NONE
    return branch.unlike(first in leaving, second in leaving)


def _loop_header(branch: Branch) -> Places:
    first, second = branch.targets
    ahead, around, block = branch.around.headers_ahead, branch.around, branch.block
    if not (ahead[first] or ahead[second]):
        return NONE
    return branch.like(
        ahead[first] and not around.postdominates(first, block),
        ahead[second] and not around.postdominates(second, block),
    )


def _call(branch: Branch) -> Places:
    return branch.avoids(branch.around.calls_ahead)


def _store(branch: Branch) -> Places:
    first, second = branch.targets
    around, block = branch.around, branch.block
    return branch.unlike(
        around.clues[first].stores > 0 and not around.postdominates(first, block),
        around.clues[second].stores > 0 and not around.postdominates(second, block),
    )


def _return(branch: Branch) -> Places:
    ahead = branch.around.returns_ahead
    return branch.unlike(ahead[branch.targets[0]], ahead[branch.targets[1]])


_EQUALITY = {Relation.EQUAL: SECOND, Relation.UNEQUAL: FIRST}
_ORDER = {
    Relation.LESS: SECOND,
    Relation.AT_MOST: SECOND,
    Relation.MORE: FIRST,
    Relation.AT_LEAST: FIRST,
}

_BACK = Scope.LOOP | Scope.MANY_LOOP

NINE = (
    Heuristic("loop-branch", "LBH", "goes back to the loop's entry", _BACK, _loop_branch),
    Heuristic("pointer", "PH", "a pointer is not null, two are not equal", Scope.PLAIN, _pointer),
    Heuristic("call", "CH", "does not go where a call is", Scope.PLAIN, _call),
    Heuristic("opcode", "OH", "x < 0, x <= 0 and x == constant fail", Scope.PLAIN, _opcode),
    Heuristic("loop-exit", "LEH", "does not leave the loop", Scope.PLAIN, _loop_exit),
    Heuristic("return", "RH", "does not go where a return is", Scope.PLAIN, _return),
    Heuristic("store", "SH", "does not go where a store is", Scope.PLAIN, _store),
    Heuristic("loop-header", "LHH", "goes where a loop starts", Scope.PLAIN, _loop_header),
    Heuristic("guard", "GH", "goes where the compared value is used", Scope.PLAIN, _guard),
)
"""In the order of Table 1."""
