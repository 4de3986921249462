"""Ball and Larus's nine heuristics, as Wu and Larus state them (WL94 §3.1).

Each looks at a branch and predicts along which edges control will go; it applies if those are some but not
all of the edges.  The details that the paper's summary leaves out are those of Ball and Larus: a block that
jumps unconditionally to a call, a return or a loop header counts as if it contained it, for calls and loops
only if it dominates them.
"""

from __future__ import annotations

from trodden.weigh.features.block_features import OperandType, Relation, RightOperand
from trodden.weigh.features.branch import FIRST, NONE, SECOND, Branch, EdgePositions
from trodden.weigh.heuristics.heuristic import Heuristic, Scope


def _loop_branch(branch: Branch) -> EdgePositions:
    return branch.back()


def _pointer(branch: Branch) -> EdgePositions:
    test = branch.features.test
    if test is None or test.operand_type is not OperandType.POINTER:
        return NONE
    return _EQUALITY.get(test.relation, NONE)


def _opcode(branch: Branch) -> EdgePositions:
    """``x < 0``, ``x <= 0`` and ``x == c`` are false, so their opposites are true."""
    features = branch.features
    test = features.test
    if test is None:
        return [features.cases.index(None)] if len(features.cases) == 2 and None in features.cases else NONE
    if test.operand_type is not OperandType.INTEGER and test.operand_type is not OperandType.CHARACTER:
        return NONE
    if test.relation in _EQUALITY:
        return NONE if test.right is RightOperand.VARIABLE else _EQUALITY[test.relation]
    return _ORDER[test.relation] if test.right is RightOperand.ZERO and not test.unsigned else NONE


def _guard(branch: Branch) -> EdgePositions:
    positions = branch.features.guarded
    if not positions:
        return NONE
    first, second = branch.targets
    context, block = branch.context, branch.block
    return branch.like(
        0 in positions and not context.postdominates(first, block),
        1 in positions and not context.postdominates(second, block),
    )


def _loop_exit(branch: Branch) -> EdgePositions:
    leaving, headers = branch.context.leaving, branch.context.headers
    first, second = branch.edges
    if branch.targets[0] in headers or branch.targets[1] in headers:
        return NONE
    return branch.unlike(first in leaving, second in leaving)


def _loop_header(branch: Branch) -> EdgePositions:
    first, second = branch.targets
    ahead, context, block = branch.context.headers_ahead, branch.context, branch.block
    if not (ahead[first] or ahead[second]):
        return NONE
    return branch.like(
        ahead[first] and not context.postdominates(first, block),
        ahead[second] and not context.postdominates(second, block),
    )


def _call(branch: Branch) -> EdgePositions:
    return branch.avoids(branch.context.calls_ahead)


def _store(branch: Branch) -> EdgePositions:
    first, second = branch.targets
    context, block = branch.context, branch.block
    return branch.unlike(
        context.features[first].stores > 0 and not context.postdominates(first, block),
        context.features[second].stores > 0 and not context.postdominates(second, block),
    )


def _return(branch: Branch) -> EdgePositions:
    ahead = branch.context.returns_ahead
    return branch.unlike(ahead[branch.targets[0]], ahead[branch.targets[1]])


_EQUALITY = {Relation.EQUAL: SECOND, Relation.UNEQUAL: FIRST}
_ORDER = {
    Relation.LESS: SECOND,
    Relation.AT_MOST: SECOND,
    Relation.GREATER: FIRST,
    Relation.AT_LEAST: FIRST,
}

_BACK = Scope.LOOP | Scope.MANY_LOOP

BALL_LARUS = (
    Heuristic("loop-branch", "LBH", "takes the back edge", _BACK, _loop_branch),
    Heuristic("pointer", "PH", "a pointer is not null, two are not equal", Scope.PLAIN, _pointer),
    Heuristic("call", "CH", "avoids a call", Scope.PLAIN, _call),
    Heuristic("opcode", "OH", "x < 0, x <= 0 and x == constant are false", Scope.PLAIN, _opcode),
    Heuristic("loop-exit", "LEH", "does not leave the loop", Scope.PLAIN, _loop_exit),
    Heuristic("return", "RH", "avoids a return", Scope.PLAIN, _return),
    Heuristic("store", "SH", "avoids a store", Scope.PLAIN, _store),
    Heuristic("loop-header", "LHH", "enters a loop", Scope.PLAIN, _loop_header),
    Heuristic("guard", "GH", "goes to the use of the compared value", Scope.PLAIN, _guard),
)
"""In the order of Table 1."""
