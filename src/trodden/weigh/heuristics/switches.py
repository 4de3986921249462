"""Heuristics for branches with more than two edges, which the paper asks for (WL94 §8).

The paper gives all edges of such a branch the same probability.  Each case of a switch is an edge of its own,
also where several have the same target, so a block with many cases gets a share for each of them.
"""

from __future__ import annotations

from collections import Counter

from trodden.weigh.features.branch import NONE, Branch, EdgePositions
from trodden.weigh.heuristics.heuristic import Heuristic, Scope


def _cases(branch: Branch) -> EdgePositions:
    cases = branch.features.cases
    return (
        [position for position, case in enumerate(cases) if case is not None]
        if len(cases) == len(branch.edges)
        else NONE
    )


def _stays(branch: Branch) -> EdgePositions:
    return branch.staying()


def _returns(branch: Branch) -> EdgePositions:
    return branch.without(branch.context.returns_ahead)


def _calls(branch: Branch) -> EdgePositions:
    return branch.without(branch.context.calls_ahead)


def _shared(branch: Branch) -> EdgePositions:
    edges = Counter(branch.targets)
    return [position for position, target in enumerate(branch.targets) if edges[target] > 1]


_SCOPE = Scope.SWITCHES | Scope.MANY_LOOP

SWITCHES = (
    Heuristic("case-listed", "", "one of the cases, not the default", _SCOPE, _cases),
    Heuristic("case-stays", "", "a case that stays in the loop", _SCOPE, _stays),
    Heuristic("case-no-return", "", "a case without a return", _SCOPE, _returns),
    Heuristic("case-no-call", "", "a case without a call", _SCOPE, _calls),
    Heuristic("case-shared", "", "a case that shares its block with others", _SCOPE, _shared),
)
