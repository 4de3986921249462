"""Which branch of the compiled code decides which test of a condition.

The branches of a condition and the tests of its source are two graphs.  If the first is an image of the
second, each branch deciding one test, the value of a test is known from the edge that was taken.  Compilers
join tests (then there are fewer branches), drop those whose value is known, and make several branches of one.
So all branches that are reached from the first have to correspond, and where there are several
correspondences, only what they have in common is taken.  A comparison that contradicts a correspondence rules
it out.

Outside of ``if``, front ends let the tests meet in one block and branch there on the value of the condition.
Such a *merge* is reached with the value known, or with a last test evaluated and not branched on.

An edge on which control stays in the condition decides nothing but its test.  Neither does the other edge out
of the same block: if a test of another statement had been joined to this one, both would lead out of the
condition.  Where both do, the lines have to show the value.

Iterations that were peeled or unrolled evaluate the same condition several times, each perhaps without the
tests that are known there.  Then a branch has to identify its test by the function whose result it tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from trodden.program.facts import BranchKind
from trodden.report.narrate.comparisons import joined
from trodden.report.narrate.condition_region import Arrival, ConditionRegion, Route
from trodden.report.narrate.conditions import TRUE, Condition, Test
from trodden.weigh.features.block_features import Origin

_MOST_TESTS = 24
_MOST_STEPS = 2000
_MERGE = -1

Whole = Callable[[int, Test | None], bool | None]
"""The value of the condition if an edge is taken; with a test, at a branch that decides this one last."""


@dataclass(frozen=True)
class Evaluation:
    """The tests that edges decide, with their values, and the blocks where tests meet.

    ``inner`` are the edges among them on which control stays in the condition.
    """

    values: Mapping[int, tuple[int, bool]] = field(default_factory=dict)
    merges: frozenset[int] = frozenset()
    inner: frozenset[int] = frozenset()


def match_tests(region: ConditionRegion, condition: Condition, whole: Whole) -> Evaluation:
    """What is certain of the branches of a condition that has several tests."""
    if region.deciding.hides or not 1 < len(condition.tests) <= _MOST_TESTS:
        return Evaluation()
    return _Matching(region, condition, whole).evaluation()


@dataclass
class _Attempt:
    """A correspondence as far as it has been tried.

    ``arrivals`` are the tests that are to be decided at a block, or the values that are known there;
    ``roles`` what blocks decide: the test, and whether the first edge is taken if it holds.
    """

    arrivals: dict[int, frozenset[int]]
    roles: dict[int, tuple[int, bool]] = field(default_factory=dict)

    def arriving(self, block: int, state: int) -> _Attempt:
        states = self.arrivals.get(block, frozenset()) | {state}
        return _Attempt({**self.arrivals, block: states}, self.roles)

    def deciding(self, block: int, role: tuple[int, bool]) -> _Attempt:
        return _Attempt(self.arrivals, {**self.roles, block: role})

    def next(self) -> int | None:
        """The block with the earliest test that is to be decided."""
        waiting = [
            (min(state for state in states if state >= 0), block)
            for block, states in self.arrivals.items()
            if block not in self.roles and max(states) >= 0
        ]
        return min(waiting)[1] if waiting else None

    @property
    def complete(self) -> bool:
        return self.arrivals.keys() == self.roles.keys()


class _Matching:
    def __init__(self, region: ConditionRegion, condition: Condition, whole: Whole) -> None:
        self._region, self._tests, self._whole = region, condition.tests, whole
        facts = region.locations.function.facts
        self._facts = facts
        self._branches = [vertex for vertex in region.ending if region.branches(vertex)]
        self._edges = {v: region.locations.flow_out(v) for v in self._branches}
        self._routes = {edge: region.follow(edge) for edges in self._edges.values() for edge in edges}
        self._once = region.evaluated_once(len(condition.tests))
        self._tests_first = region.of_loop and not region.tests_last
        self._steps = 0

    def evaluation(self) -> Evaluation:
        reached = {
            route.vertex
            for route in self._routes.values()
            if route.arrival is Arrival.BRANCH and not route.back
        }
        roles: dict[int, set[tuple[int, bool]]] = {}
        for first in self._branches:
            if first not in reached:
                for found in self._attempts(first):
                    for block, role in found.roles.items():
                        roles.setdefault(block, set()).add(role)
        if self._steps > _MOST_STEPS:
            return Evaluation()
        certain = {block: next(iter(found)) for block, found in roles.items() if len(found) == 1}
        values: dict[int, tuple[int, bool]] = {}
        for block, (number, on_first) in certain.items():
            if number != _MERGE:
                values |= self._values(block, number, on_first)
        merges = frozenset(block for block, found in roles.items() if (_MERGE, True) in found)
        inner = frozenset(
            edge
            for edge, (number, value) in values.items()
            if self._inner(self._routes[edge], self._tests[number], value)
        )
        return Evaluation(values, merges, inner)

    def _values(self, block: int, number: int, on_first: bool) -> dict[int, tuple[int, bool]]:
        """What the edges out of a block say of the test that it decides."""
        test = self._tests[number]
        first, second = self._edges[block]
        found = {first: (number, on_first), second: (number, not on_first)}
        if any(self._inner(self._routes[edge], test, value) for edge, (_, value) in found.items()):
            return found
        return {edge: value for edge, value in found.items() if self._whole(edge, test) is not None}

    @staticmethod
    def _inner(route: Route, test: Test, value: bool) -> bool:
        """Whether control is still in the condition."""
        following = test.on_true if value else test.on_false
        return following >= 0 or (route.arrival is Arrival.BRANCH and not route.back)

    def _attempts(self, first: int) -> list[_Attempt]:
        """All correspondences of an evaluation that begins at a block."""
        found: list[_Attempt] = []
        open_attempts = [_Attempt({first: frozenset({0})})]
        while open_attempts and self._steps <= _MOST_STEPS:
            self._steps += 1
            attempt = open_attempts.pop()
            block = attempt.next()
            if block is None:
                found += [attempt] if attempt.complete else []
            elif not self._usable(block):
                continue
            elif len(attempt.arrivals[block]) > 1:
                open_attempts += self._merged(attempt, block)
            else:
                [number] = attempt.arrivals[block]
                for on_first in (True, False):
                    open_attempts += self._decided(attempt, block, number, on_first)
        return found

    def _usable(self, block: int) -> bool:
        two = len(self._edges[block]) == 2 and self._facts.blocks[block].kind is not BranchKind.SWITCH
        return two and not self._region.may_hide_tests(block)

    def _merged(self, attempt: _Attempt, block: int) -> list[_Attempt]:
        """A block that several states reach branches on the value of the condition."""
        compiled = self._region.compiled(block)
        meeting = compiled is None or compiled.origin is Origin.PHI
        last = all(self._tests[state].decisive for state in attempt.arrivals[block] if state >= 0)
        out = all(self._leaves(self._routes[edge]) for edge in self._edges[block])
        return [attempt.deciding(block, (_MERGE, True))] if meeting and last and out else []

    @staticmethod
    def _leaves(route: Route) -> bool:
        return route.arrival is Arrival.EXIT or (route.arrival is Arrival.BRANCH and route.back)

    def _decided(self, attempt: _Attempt, block: int, number: int, on_first: bool) -> list[_Attempt]:
        """A block decides a test, so that its first edge is taken if the test holds, or if it does not."""
        test, compiled = self._tests[number], self._region.compiled(block)
        compared = self._region.compared(block, test)
        if not test.comparison.fits(compared) or self._calls_another(block, test):
            return []
        if not self._once and not self._identified(block, test):
            return []
        if test.comparison.on_first(compared) not in (None, on_first):
            return []
        edges = self._edges[block]
        holds, fails = edges if on_first else edges[::-1]
        followed = (holds, test.on_true), (fails, test.on_false)
        routes = [self._routes[edge] for edge, _ in followed]
        inner = [self._inner(routes[0], test, True), self._inner(routes[1], test, False)]
        if any(inner) and joined(compiled):
            return []
        if not self._apart(routes, [state for _, state in followed]):
            return []
        attempt = attempt.deciding(block, (number, on_first))
        for (edge, state), route in zip(followed, routes, strict=True):
            if any(map(self._region.may_hide_tests, route.passed)):
                return []
            if route.arrival is Arrival.BRANCH and not (state < 0 and route.back):
                if route.vertex in attempt.roles or (route.back and not self._tests_first):
                    return []
                attempt = attempt.arriving(route.vertex, state)
                continue
            whole = self._whole(edge, None if any(inner) else test)
            if state >= 0 or route.arrival is Arrival.UNKNOWN or whole not in (None, state == TRUE):
                return []
        return [attempt]

    def _identified(self, block: int, test: Test) -> bool:
        """Whether a branch is on the result of a function that this test calls and no other."""
        compiled = self._region.compared(block, test)
        if compiled is None or not compiled.callee:
            return False
        return [each for each in self._tests if each.calls(compiled.callee)] == [test]

    def _calls_another(self, block: int, test: Test) -> bool:
        """Whether a branch tests the result of a function that only other tests call."""
        compiled = self._region.compiled(block)
        callee = "" if compiled is None else compiled.callee
        named = [each for each in self._tests if callee and each.calls(callee)]
        own = all(ref.instance == self._region.at.instance for ref in self._facts.blocks[block].lines)
        return own and bool(named) and test not in named

    def _apart(self, routes: list[Route], states: list[int]) -> bool:
        """Of two routes to one block, those have code of their own on which a test is still evaluated."""
        if routes[0].vertex != routes[1].vertex or routes[0].arrival is not Arrival.BRANCH:
            return True
        passed = [set(route.passed) for route in routes]
        own = passed[0] - passed[1], passed[1] - passed[0]
        works = [any(self._facts.blocks[block].size > 1 for block in blocks) for blocks in own]
        return all(work == (state >= 0) for work, state in zip(works, states, strict=True))
