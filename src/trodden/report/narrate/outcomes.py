"""What the branches of a condition decided, in terms of the source.

The order of a branch's successors does not show it: compilers invert conditions, join several into one
and make several of one.  What shows it is where control continued.  If that is a line that the condition
guards, the condition was true.  If it is not, the condition was false, provided that the other successor
leads to the beginning of what is guarded; otherwise the branch may have decided something further inside as
well.

Where branches correspond to the tests of a condition (see :mod:`.evaluation`), each of them shows the value
of its test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from trodden.report.narrate.condition_region import Arrival, ConditionRegion, Side
from trodden.report.narrate.conditional_operators import ConditionalOperator
from trodden.report.narrate.conditions import TRUE, Test
from trodden.report.narrate.evaluation import Evaluation, match_tests
from trodden.report.narrate.statements import Statement
from trodden.report.narrate.switch_outcomes import SwitchOutcomes
from trodden.weigh.features.block_features import Origin

_VALUE_AND_BRANCH = 2
"""The instructions of a block that merges values and branches on the result."""


@dataclass(frozen=True)
class EdgeOutcome:
    """What it means that an edge was taken that leaves a branch of a condition.

    ``test`` is the number of the test that was decided, with its value, ``whole`` the value of the condition;
    None unless they are certain.  ``merged``: the tests were decided before, at other branches.  ``final``:
    control has left the condition for certain.
    """

    test: tuple[int, bool] | None = None
    whole: bool | None = None
    merged: bool = False
    final: bool = False


Shown = tuple[tuple[int, bool] | None, bool | None]
"""The test and the value of the whole condition that an edge shows."""


class ConditionOutcomes:
    """What the branches of one condition decided."""

    def __init__(self, region: ConditionRegion) -> None:
        self._region = region
        self._locations = region.locations
        self._graph = region.locations.function.facts.graph
        self._known: dict[int, EdgeOutcome] = {}
        self._shown: dict[int, Counter[Shown]] = {}
        self._successors: dict[tuple[int, Callable[[int], bool]], int] = {}

    @cached_property
    def _evaluation(self) -> Evaluation:
        condition = self._region.deciding.condition
        return Evaluation() if condition is None else match_tests(self._region, condition, self._whole)

    def of_edge(self, edge: int) -> EdgeOutcome:
        """What taking an edge means."""
        if edge not in self._known:
            self._known[edge] = self._of_edge(edge)
        return self._known[edge]

    def shown_by(self, source: int) -> Counter[Shown]:
        """The tests and values that the edges out of a block show."""
        if source not in self._shown:
            found = [self.of_edge(edge) for edge in self._locations.flow_out(source)]
            self._shown[source] = Counter((each.test, each.whole) for each in found)
        return self._shown[source]

    def _of_edge(self, edge: int) -> EdgeOutcome:
        condition, source = self._region.deciding.condition, self._graph.edges[edge].src
        if condition is None or not self._region.branches(source):
            return EdgeOutcome(final=self._leaves(edge))
        evaluation = self._evaluation
        test = evaluation.values.get(edge)
        if test is not None:
            return EdgeOutcome(test, final=edge not in evaluation.inner)
        only = condition.tests[0] if len(condition.tests) == 1 else None
        merged = source in evaluation.merges
        whole = self._whole(edge, only, merged)
        return EdgeOutcome(None, whole, merged, whole is not None or self._leaves(edge))

    @cached_property
    def cases(self) -> SwitchOutcomes:
        """Which cases the edges out of a switch lead to."""
        return SwitchOutcomes(self._region)

    def _leaves(self, edge: int) -> bool:
        """Whether lines show that an edge leads out of the condition."""
        statement = self._region.deciding
        apart = isinstance(statement, Statement) and not statement.shares
        return apart and self._region.side(self._graph.edges[edge].dst) in (Side.BODY, Side.OUTSIDE)

    def _whole(self, edge: int, last: Test | None = None, merged: bool = False) -> bool | None:
        """The value of the condition if an edge is taken; None unless it is certain.

        ``last`` is the test that the branch decides, if it is known that it decides this one and no other;
        ``merged`` that all tests have been evaluated before.
        """
        deciding = self._region.deciding
        as_written = self._as_written(edge, last)
        if as_written is not None:
            return as_written
        if isinstance(deciding, ConditionalOperator):
            found = self._chosen(deciding, edge, last)
        elif deciding.shares:
            single = not deciding.tests or (not deciding.hides and (last is not None or merged))
            found = self._on_one_line(edge, single)
        else:
            found = self._by_lines(deciding, edge, last is not None or merged)
            if found is None and merged:
                found = self._by_value(edge)
        if found is None:
            found = self._before_another_copy(edge, last)
        return self._by_comparison(edge, last) if found is None else found

    def _as_written(self, edge: int, last: Test | None) -> bool | None:
        """The value of a single test in code that was not optimised, whatever lines its operands lie on.

        Front ends for C and C++ branch to the first successor if a test holds, and to the second if it is
        negated and holds.  There has to be no other branch on the lines of the condition.
        """
        region, source = self._region, self._graph.edges[edge].src
        edges = self._locations.flow_out(source)
        if last is None or region.deciding.hides or not self._locations.unoptimised or len(edges) != 2:
            return None
        if region.may_hide_tests(source) or not self._negates_as_written(source, last):
            return None
        if self._branching != [source]:
            return None
        return ((edge == edges[0]) != last.negated) == (last.on_true == TRUE)

    @cached_property
    def _branching(self) -> list[int]:
        """The blocks that branch on a line of the condition."""
        return [each for each in self._region.ending if len(self._locations.flow_out(each)) > 1]

    def _negates_as_written(self, source: int, test: Test) -> bool:
        """Whether a branch has no other negation than the test shows.

        A macro may hide one, and of an overloaded operator the front end tests the result.
        """
        if test.comparison.relation is not None:
            return True
        compiled = self._region.compared(source, test)
        return compiled is not None and (compiled.origin is not Origin.CALL or bool(test.called))

    def _before_another_copy(self, edge: int, last: Test | None) -> bool | None:
        """The value of a single test if an edge leads to a branch of the same condition.

        That may be the next evaluation, in a copy that unrolling or peeling has made, or another branch of
        this one.  It is the former if the branch compares what the test does, and its other edge leads to
        where the source continues after the opposite outcome.
        """
        region, source = self._region, self._graph.edges[edge].src
        if last is None or region.deciding.hides or region.may_hide_tests(source):
            return None
        on_first = last.comparison.on_first(region.compared(source, last))
        if on_first is None or region.follow(edge).arrival is not Arrival.BRANCH:
            return None
        value = ((edge == self._locations.flow_out(source)[0]) == on_first) == (last.on_true == TRUE)
        opposite = region.reaches_else if value else region.enters_body
        return value if self._all_others(edge, opposite) else None

    def _by_comparison(self, edge: int, last: Test | None) -> bool | None:
        """What the comparison of a branch shows that decides one test and nothing else."""
        source = self._graph.edges[edge].src
        if last is None or self._region.deciding.hides or self._region.may_hide_tests(source):
            return None
        on_first = last.comparison.decided_by(self._region.compared(source, last))
        if on_first is None:
            return None
        return ((edge == self._locations.flow_out(source)[0]) == on_first) == (last.on_true == TRUE)

    def _by_value(self, edge: int) -> bool | None:
        """What a branch on the value of the condition alone shows if its other successor is the body."""
        region, (source, target, _) = self._region, self._graph.edges[edge]
        alone = self._locations.function.facts.blocks[source].size <= _VALUE_AND_BRANCH
        outside = alone and region.is_outside(target)
        return False if outside and self._all_others(edge, region.in_body) else None

    def _all_others(self, edge: int, holds: Callable[[int], bool]) -> bool:
        """Whether something holds for all other successors of an edge's source."""
        others = len(self._locations.flow_out(self._graph.edges[edge].src)) - 1
        return self._number_of_others(edge, holds) == others

    def _any_other(self, edge: int, holds: Callable[[int], bool]) -> bool:
        """Whether something holds for another successor of an edge's source."""
        return self._number_of_others(edge, holds) > 0

    def _number_of_others(self, edge: int, holds: Callable[[int], bool]) -> int:
        """For how many other successors something holds; each is asked once, of a switch there are many."""
        source, target, _ = self._graph.edges[edge]
        if (source, holds) not in self._successors:
            targets = [self._graph.edges[each].dst for each in self._locations.flow_out(source)]
            self._successors[source, holds] = sum(map(holds, targets))
        return self._successors[source, holds] - holds(target)

    def _by_lines(self, deciding: Statement, edge: int, last: bool) -> bool | None:
        """What the lines show where control continues."""
        region, target = self._region, self._graph.edges[edge].dst
        side = region.side(target)
        if side is Side.BODY and not self._all_others(edge, region.in_body):
            return True if region.executes_body(edge, last and not deciding.hides) else None
        if side is Side.OUTSIDE and not last and region.may_test_again(edge):
            return None
        if side is Side.OUTSIDE and self._any_other(edge, self._refutes):
            return False
        return self._by_else(edge)

    def _on_one_line(self, edge: int, single: bool) -> bool | None:
        """What the lines show if the condition and what it guards share one: the value of a single test."""
        region, target = self._region, self._graph.edges[edge].dst
        by_else = self._by_else(edge)
        if by_else is not None or not single:
            return by_else
        if region.begins_body(target) and self._all_others(edge, region.is_outside):
            return True
        if region.is_outside(target) and self._all_others(edge, region.begins_body):
            return False
        return None

    def _by_else(self, edge: int) -> bool | None:
        """Where only a jump is guarded, its code may lie anywhere; what is executed without it is known."""
        region, target = self._region, self._graph.edges[edge].dst
        if region.reaches_else(target):
            return False
        return True if region.is_outside(target) and self._any_other(edge, region.reaches_else) else None

    def _refutes(self, other: int) -> bool:
        """Whether a condition is false if control does not go to ``other``.

        It is if the body begins there.  Of tests that all have to hold it also is if the next of them is
        decided there, while the beginning of the body is reached from some branch of the condition.
        """
        region = self._region
        side = region.side(other)
        if side is Side.BODY:
            return region.enters_body(other)
        tests = region.deciding.tests if isinstance(region.deciding, Statement) else frozenset()
        next_test = side is Side.CONDITION and tests and tests <= {"&&", "and"} and region.decides(other)
        return bool(next_test) and self._guards

    @cached_property
    def _guards(self) -> bool:
        """Whether some branch of the condition leads to the beginning of the body."""
        region, graph = self._region, self._graph
        return any(
            region.in_body(graph.edges[edge].dst) and region.enters_body(graph.edges[edge].dst)
            for vertex in region.ending
            for edge in self._locations.flow_out(vertex)
        )

    def _chosen(self, operator: ConditionalOperator, edge: int, last: Test | None) -> bool | None:
        """The value of a conditional operator's condition.

        The lines of its operands show it, or, on one line, the comparison of its last test.  In the latter
        case both operands have to be there and to meet again: then nothing else is decided by the branch.
        """
        region, source = self._region, self._graph.edges[edge].src
        edges = self._locations.flow_out(source)
        if len(edges) != 2:
            return None
        if operator.arms is not None:
            other = edges[1 - edges.index(edge)]
            lines = [region.line(self._graph.edges[each].dst) for each in (edge, other)]
            for value, arms in ((True, operator.arms), (False, operator.arms[::-1])):
                if lines[0] in arms[0] and lines[1] in arms[1]:
                    return value
            return None
        on_first = None if last is None else last.comparison.on_first(region.compared(source, last))
        if last is None or on_first is None or operator.hides or not self._meet(edges):
            return None
        return ((edge == edges[0]) == on_first) == (last.on_true == TRUE)

    def _meet(self, edges: list[int]) -> bool:
        routes = [self._region.follow(edge) for edge in edges]
        passed = [set(route.passed) for route in routes]
        together = routes[0].vertex == routes[1].vertex != self._graph.exit
        blocks = self._locations.function.facts.blocks
        left = routes[0].arrival is Arrival.EXIT
        return together and left and any(blocks[block].size > 1 for block in passed[0] ^ passed[1])
