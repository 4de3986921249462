"""Which conditions of compound decisions have been shown to decide alone: MC/DC, as far as paths tell it.

A decision is the condition of a statement or an operator, a compound one has several tests joined by ``&&``
and ``||``.  Each execution of it is part of a path, which tells the tests that were evaluated, their outcomes
and where control went.  Two executions that went to different places and differ in one of the tests that both
evaluated show that this test decides alone (masking MC/DC, in which a test that was not evaluated is any).

Only code that was not optimised has the tests of its source, and only executions that are within one path are
known: one that is cut in the middle shows nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
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
        for region in _regions(locations):
            found = _cover(function, region)
            path = locations.path_of(region.at)
            if found is not None and region.at.line in getattr(files.get(path), "branches", {}):
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


def _cover(function: FunctionProfile, region: ConditionRegion) -> Covered | None:
    """The conditions of a decision that were shown to decide alone; None if it has only one.

    Also None where its branches are not its conditions one by one: some may ask whether a temporary object
    has to be destroyed.
    """
    blocks = frozenset(vertex for vertex in region.ending() if region.branches(vertex))
    conditions = {branch.vertex for branch in branches(function) if branch.vertex in blocks}
    source = region.deciding.condition
    if source is None or len(conditions) != len(source.tests) or len(conditions) < 2:
        return None
    executions = set(_executions(function, region, blocks))
    return Covered(len(_independent(executions) & conditions), len(conditions))


def _executions(
    function: FunctionProfile, region: ConditionRegion, blocks: frozenset[int]
) -> Iterator[Execution]:
    """The executions of a decision on the paths of its function."""
    facts = function.facts
    graph = facts.graph
    routes = {edge: region.follow(edge) for block in blocks for edge in region.locations.flow_out(block)}
    inner = {route.vertex for route in routes.values() if _stays(route)}
    results = _results(function, routes)
    for path in function.paths or ():
        evaluated: set[tuple[int, bool]] | None = None
        truth: Truth = None
        for position in range(path.context, min(len(path.blocks), len(path.edges))):
            block, edge = path.blocks[position], path.edges[position]
            if block in blocks and edge in routes:
                if evaluated is None and block not in inner:
                    evaluated = set()
                if evaluated is not None and truth is None:
                    evaluated.add((block, edge == graph.out_edges[block][0]))
                if not _stays(routes[edge]):
                    if evaluated and edge in results:
                        yield frozenset(evaluated), results[edge]
                    evaluated = None
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
