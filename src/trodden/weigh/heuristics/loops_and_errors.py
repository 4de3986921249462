"""Heuristics that go beyond those of the paper, for two-way branches (WL94 §8).

The paper asks for rates of the compiler at hand, for heuristics that look deeper into the graph, and for some
for switches (:mod:`trodden.weigh.heuristics.switches`).  Loops get more than one rate here:
the location of the test, what it compares, and which loops its edges leave predict how often a loop iterates.
"""

from __future__ import annotations

from functools import partial

from trodden.weigh.features.block_features import BlockEnding, OperandType, Origin, Relation, RightOperand
from trodden.weigh.features.branch import FIRST, NONE, Branch, EdgePositions
from trodden.weigh.features.dead_ends import is_dead_end
from trodden.weigh.features.known_functions import COMPARERS
from trodden.weigh.heuristics.heuristic import Heuristic, Scope


def _ends_badly(branch: Branch) -> EdgePositions:
    return branch.without(branch.context.terminates)


def _reports_error(branch: Branch) -> EdgePositions:
    return branch.without(branch.context.reports_error)


def _cold(branch: Branch) -> EdgePositions:
    return branch.without(branch.context.reaches_cold_call)


def _returns_normally(branch: Branch) -> EdgePositions:
    """The first edge of an invoke is that of a normal return."""
    return FIRST if branch.features.may_throw else NONE


def _heaviest(weights: tuple[int, ...], branch: Branch) -> EdgePositions:
    if len(weights) != len(branch.edges):
        return NONE
    most = max(weights)
    return [position for position, weight in enumerate(weights) if weight == most]


def _said(branch: Branch) -> EdgePositions:
    return _heaviest(branch.features.source_weights, branch)


def _guessed(branch: Branch) -> EdgePositions:
    return _heaviest(branch.features.compiler_weights, branch)


def _share(weights: tuple[int, ...]) -> float:
    most = max(weights)
    return most * weights.count(most) / sum(weights)


def _trips(branch: Branch) -> EdgePositions:
    return branch.staying() if _certain(branch) else NONE


def _certain(branch: Branch) -> int:
    """The trip count of the innermost loop, if it is known and this branch controls it.

    Other branches may leave the loop as well, but only to code that never returns.
    """
    number = branch.context.forest.innermost[branch.block]
    if number < 0:
        return 0
    loop = branch.context.forest.loops[number]
    trips = branch.context.features[loop.header].trip_count
    return 0 if trips and len(loop.exits) > 1 and _leads_to_dead_end(branch) else trips


def _leads_to_dead_end(branch: Branch) -> bool:
    """Whether some edge of the branch leaves the loop to code that never returns."""
    context = branch.context
    return any(
        edge in context.leaving
        and is_dead_end(
            context.graph, target, lambda block: context.features[block].ending is BlockEnding.NEVER_RETURNS
        )
        for edge, target in zip(branch.edges, branch.targets, strict=True)
    )


def _stays(branch: Branch) -> EdgePositions:
    leaving = branch.context.leaving
    return branch.unlike(branch.edges[0] in leaving, branch.edges[1] in leaving)


def _outer(branch: Branch) -> EdgePositions:
    """The back edge belongs to an outer loop: taking it leaves the inner loop."""
    context = branch.context
    back = [edge in context.back and edge in context.leaving for edge in branch.edges]
    return branch.unlike(back[0], back[1])


def _continue(branch: Branch) -> EdgePositions:
    """One edge is the back edge, the other one stays in the loop as well."""
    context = branch.context
    if branch.edges[0] in context.leaving or branch.edges[1] in context.leaving:
        return NONE
    return branch.like(branch.edges[0] in context.back, branch.edges[1] in context.back)


def _continues(branch: Branch) -> EdgePositions:
    """The edge that stays in the loop, if the branch is in its header or its latch."""
    context = branch.context
    if context.forest.innermost[branch.block] < 0:
        return NONE
    if branch.block in context.headers or branch.edges[0] in context.back or branch.edges[1] in context.back:
        return _stays(branch)
    return NONE


def _continues_on(what: str, branch: Branch) -> EdgePositions:
    continuing = _continues(branch)
    return continuing if continuing and _decided_by(branch) == what else NONE


def _decided_by(branch: Branch) -> str:
    """The kind of comparison that decides a branch, as far as it says something about trip counts."""
    test = branch.features.test
    if test is None:
        return ""
    if test.origin is Origin.CALL:
        return "call"
    if test.operand_type is OperandType.POINTER:
        return "null" if test.right is RightOperand.ZERO else "pointer"
    if test.operand_type is OperandType.INTEGER:
        if test.relation in (Relation.EQUAL, Relation.UNEQUAL):
            return "equal" if test.right is RightOperand.VARIABLE else "sentinel"
        return "limit" if test.right is RightOperand.VARIABLE else "constant"
    return {OperandType.CHARACTER: "character", OperandType.FLOAT: "float", OperandType.FLAG: "flag"}[
        test.operand_type
    ]


def _continues_over_options(branch: Branch) -> EdgePositions:
    context = branch.context
    return (
        _continues(branch) if context.forest.innermost[branch.block] in context.loops_over_options else NONE
    )


def _compares(branch: Branch) -> EdgePositions:
    test = branch.features.test
    if test is None or test.callee not in COMPARERS or test.right is not RightOperand.ZERO:
        return NONE
    return branch.like(test.relation is Relation.UNEQUAL, test.relation is Relation.EQUAL)


def _detour(branch: Branch) -> EdgePositions:
    join = branch.context.postdominators.idom[branch.block]
    return branch.unlike(branch.targets[0] == join, branch.targets[1] == join)


def _away_from_joins(in_edges: int, branch: Branch) -> EdgePositions:
    """A join of many otherwise unrelated edges is typically error handling."""
    into = branch.context.graph.in_edges
    return branch.unlike(len(into[branch.targets[0]]) >= in_edges, len(into[branch.targets[1]]) >= in_edges)


def _ahead(what: str, branch: Branch) -> tuple[bool, bool]:
    """Which of two edges has a property on every path to the immediate postdominator of the branch."""
    context, (first, second) = branch.context, branch.targets
    counted = getattr(context, what)
    return (
        context.before_join(counted, branch.block, first) > 0,
        context.before_join(counted, branch.block, second) > 0,
    )


def _towards(what: str, branch: Branch) -> EdgePositions:
    return branch.like(*_ahead(what, branch))


def _away_from(what: str, branch: Branch) -> EdgePositions:
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

LOOPS_AND_ERRORS = (
    Heuristic(
        "trips",
        "",
        "a loop continues up to its known trip count",
        Scope.TWO,
        _trips,
        strength=lambda branch: 1 - 1 / _certain(branch),
        decisive=True,
    ),
    Heuristic(
        "said",
        "",
        "goes where the source says (__builtin_expect)",
        Scope.ANY,
        _said,
        strength=lambda branch: _share(branch.features.source_weights),
        decisive=True,
    ),
    Heuristic(
        "guessed",
        "",
        "goes where the compiler expects",
        Scope.ANY,
        _guessed,
        strength=lambda branch: _share(branch.features.compiler_weights),
    ),
    Heuristic(
        "comes-back", "", "a call returns without an exception", Scope.TWO, _returns_normally, decisive=True
    ),
    Heuristic("ends-badly", "", "avoids code that ends the program", Scope.ANY, _ends_badly, decisive=True),
    Heuristic("complains", "", "avoids code that reports an error", Scope.ANY, _reports_error, decisive=True),
    Heuristic("cold", "", "avoids calls of cold functions", Scope.ANY, _cold, decisive=True),
    Heuristic(
        "turns-options",
        "",
        "a loop over command-line options continues",
        Scope.TWO,
        _continues_over_options,
        decisive=True,
    ),
    Heuristic("stays", "", "does not leave the innermost loop", _EXITS, _stays),
    Heuristic("outer-back", "", "does not take the back edge of an outer loop", Scope.LOOP, _outer),
    Heuristic("continue", "", "continues with the next iteration", Scope.LOOP, _continue),
    *(
        Heuristic(
            f"turns-{what}",
            "",
            f"the loop continues; its condition compares {words}",
            Scope.TWO,
            partial(_continues_on, what),
            decisive=True,
        )
        for what, words in _TESTS.items()
    ),
    Heuristic("compares", "", "two strings or buffers are not equal", Scope.PLAIN, _compares),
    Heuristic("detour", "", "does not jump straight to the join", Scope.PLAIN, _detour),
    Heuristic("joined", "", "avoids a join of several edges", Scope.PLAIN, partial(_away_from_joins, 2)),
    Heuristic("crowded", "", "avoids a join of many edges", Scope.PLAIN, partial(_away_from_joins, 5)),
    Heuristic(
        "surely-calls",
        "",
        "avoids a certain call",
        Scope.PLAIN,
        partial(_away_from, "certain_calls"),
    ),
    Heuristic(
        "surely-stores",
        "",
        "avoids a certain store",
        Scope.PLAIN,
        partial(_away_from, "certain_stores"),
    ),
    Heuristic(
        "surely-loops",
        "",
        "goes to a certain loop",
        Scope.PLAIN,
        partial(_towards, "certain_loops"),
    ),
    Heuristic(
        "surely-branches",
        "",
        "goes to a certain branch",
        Scope.PLAIN,
        partial(_towards, "certain_branches"),
    ),
)
