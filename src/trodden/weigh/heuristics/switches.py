"""Heuristics for branches with more than two ways, which the paper asks for (WL94 §8).

The paper gives all ways of such a branch the same share.  Here each case of a switch is a way of its own,
also where several lead to the same block, so a block that many cases lead to gets a share for each of them.
"""

from __future__ import annotations

from collections import Counter

from trodden.weigh.features.branch import NONE, Branch, Places
from trodden.weigh.heuristics.ball_larus import Heuristic, Scope


def _cases(branch: Branch) -> Places:
    cases = branch.clues.cases
    return (
        [place for place, case in enumerate(cases) if case is not None]
        if len(cases) == len(branch.edges)
        else NONE
    )


def _stays(branch: Branch) -> Places:
    return branch.staying()


def _returns(branch: Branch) -> Places:
    return branch.without(branch.around.returns_ahead)


def _calls(branch: Branch) -> Places:
    return branch.without(branch.around.calls_ahead)


def _shared(branch: Branch) -> Places:
    edges = Counter(branch.targets)
    return [place for place, target in enumerate(branch.targets) if edges[target] > 1]


_SCOPE = Scope.MANY | Scope.MANY_LOOP

MANY = (
    Heuristic("case-listed", "", "one of the cases, not the default", _SCOPE, _cases),
    Heuristic("case-stays", "", "a case that stays in the loop", _SCOPE, _stays),
    Heuristic("case-no-return", "", "a case where no return is", _SCOPE, _returns),
    Heuristic("case-no-call", "", "a case where no call is", _SCOPE, _calls),
    Heuristic("case-shared", "", "a case that shares its block with others", _SCOPE, _shared),
)
