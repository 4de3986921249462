"""Which conditions of compound decisions have been shown to decide alone: MC/DC, as far as paths tell it.

A decision is the condition of a statement or an operator, a compound one has several tests joined by ``&&``
and ``||``.  Each execution of it is part of a path, which tells the tests that were evaluated, their outcomes
and where control went.  Two executions that went to different places and differ in one of the tests that both
evaluated show that this test decides alone (masking MC/DC, in which a test that was not evaluated is any).

Only code that was not optimised has the tests of its source, and only executions that are within one path are
known: one that is cut in the middle shows nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from trodden.profile.analysis.coverage import Covered
from trodden.profile.analysis.feasible import Truth, arrives
from trodden.profile.model import FunctionProfile
from trodden.program.facts import BranchKind, LineRef
from trodden.report.narrate.condition_region import Arrival, ConditionRegion, Route
from trodden.report.narrate.paths import Describer
from trodden.report.narrate.source_locations import FunctionLocations
from trodden.source.branches import branches
from trodden.source.files import FileCounts

_MOST_EXECUTIONS = 1024
"""How many different executions of a decision are compared with each other."""


_TRUE_AND_FALSE = 2


@dataclass(frozen=True)
class DecisionCoverage:
    """A compound decision: how many of its conditions were shown to decide alone."""

    function: str
    file: str
    line: int
    text: str
    conditions: Covered


Execution = tuple[frozenset[tuple[int, bool]], int]
"""The conditions that were evaluated, with their outcomes, and the block where control went."""


def decision_coverage(
    functions: Mapping[str, FunctionProfile], describer: Describer, files: Mapping[str, FileCounts]
) -> Iterator[DecisionCoverage]:
    """The compound decisions in these functions that have paths, as far as their lines are shown."""
    for name, function in functions.items():
        locations = describer.locations(function)
        if not function.paths or not locations.as_written:
            continue
        for region, found in _cover(function, list(_regions(locations))):
            path = locations.path_of(region.at)
            if region.at.line in getattr(files.get(path), "branches", {}):
                text = describer.index.text(path, region.deciding.first) or ""
                yield DecisionCoverage(name, path, region.deciding.first, text, found)


def _regions(locations: FunctionLocations) -> Iterator[ConditionRegion]:
    """The conditions of a function, each once."""
    seen: set[Hashable] = set()
    for block in locations.function.facts.blocks:
        ref = block.branch
        if block.kind is not BranchKind.IF or ref is None:
            continue
        deciding = locations.deciding(ref)
        if deciding is None or deciding.hides:
            continue
        key = id(deciding), ref.file, ref.instance
        if key not in seen:
            seen.add(key)
            yield ConditionRegion(locations, deciding, LineRef(ref.file, ref.line, ref.instance))


class _Decision:
    """A compound decision while the paths of its function are read."""

    def __init__(self, region: ConditionRegion, blocks: frozenset[int], conditions: frozenset[int]) -> None:
        self.region, self.blocks, self.conditions = region, blocks, conditions
        self.executions: set[Execution] = set()
        self._routes = {
            edge: region.follow(edge) for block in blocks for edge in region.locations.flow_out(block)
        }
        self._inner = {route.vertex for route in self._routes.values() if _stays(route)}
        self._results = _results(region.locations.function, self._routes)
        self._evaluated: set[tuple[int, bool]] | None = None

    def begin_path(self) -> None:
        """What follows is another path: an execution that is not complete shows nothing."""
        self._evaluated = None

    def take(self, block: int, edge: int, first: bool, decided: bool) -> None:
        """A path takes an edge, which is the ``first``, out of a branch of the condition.

        ``decided``: the branch merges a value that was known before, so that it evaluates no condition.
        """
        route = self._routes.get(edge)
        if route is None:
            return
        if self._evaluated is None and block not in self._inner:
            self._evaluated = set()
        if self._evaluated is not None and not decided:
            self._evaluated.add((block, first))
        if not _stays(route):
            if self._evaluated and edge in self._results:
                self.executions.add((frozenset(self._evaluated), self._results[edge]))
            self._evaluated = None


def _cover(
    function: FunctionProfile, regions: Sequence[ConditionRegion]
) -> Iterator[tuple[ConditionRegion, Covered]]:
    """For each decision of several conditions those that were shown to decide alone.

    Decisions whose branches are not their conditions one by one are left out: some branches may ask whether
    a temporary object has to be destroyed.
    """
    branching = frozenset(branch.vertex for branch in branches(function))
    found: list[_Decision] = []
    for region in regions:
        blocks = frozenset(vertex for vertex in region.ending if region.branches(vertex))
        conditions, source = blocks & branching, region.deciding.condition
        if source is not None and len(conditions) == len(source.tests) and len(conditions) > 1:
            found.append(_Decision(region, blocks, conditions))
    if found:
        _read_paths(function, found)
    for each in found:
        yield each.region, Covered(len(_independent(each.executions) & each.conditions), len(each.conditions))


def _read_paths(function: FunctionProfile, decisions: Sequence[_Decision]) -> None:
    """Show the decisions what the paths of their function executed; each path is read once."""
    facts = function.facts
    of_block: dict[int, list[_Decision]] = {}
    for decision in decisions:
        for block in decision.blocks:
            of_block.setdefault(block, []).append(decision)
    for path in function.paths or ():
        passed: set[int] = set()
        truth: Truth = None
        for position in range(path.context, min(len(path.blocks), len(path.edges))):
            block, edge = path.blocks[position], path.edges[position]
            for decision in of_block.get(block, ()):
                if id(decision) not in passed:
                    passed.add(id(decision))
                    decision.begin_path()
                first = edge == facts.graph.out_edges[block][0]
                phi = facts.truths.get(block)
                decision.take(block, edge, first, truth is not None and phi is not None and phi.logical)
            truth = arrives(facts, edge, truth)


def _stays(route: Route) -> bool:
    """Whether the decision is not made yet: another of its conditions is evaluated next."""
    return route.arrival is Arrival.BRANCH and not route.back


def _results(function: FunctionProfile, routes: Mapping[int, Route]) -> dict[int, int]:
    """The block that tells the result of a decision, for each edge that makes it.

    A front end gives a decision one block for true and one for false.  Where there are more, as where code
    was inlined into a condition, what counts is the first block on a line outside of it.
    """
    edges = function.facts.graph.edges
    made = {edge: edges[edge].dst for edge, route in routes.items() if not _stays(route)}
    if len(set(made.values())) == _TRUE_AND_FALSE:
        return made
    return {edge: routes[edge].vertex for edge in made if routes[edge].arrival is Arrival.EXIT}


def _independent(executions: Iterable[Execution]) -> set[int]:
    """The conditions in which two executions with different results differ, and in no other."""
    some = sorted(executions, key=lambda each: (sorted(each[0]), each[1]))[:_MOST_EXECUTIONS]
    found: set[int] = set()
    for (one, result), (other, another) in combinations(some, 2):
        if result != another:
            first, second = dict(one), dict(other)
            differing = [block for block in first.keys() & second.keys() if first[block] != second[block]]
            if len(differing) == 1:
                found.add(differing[0])
    return found
