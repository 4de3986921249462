"""Longer paths of loops from profiles of paths, held against walks; how many there are, against all paths."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import graphs, seeds
from tests.plan.overlapping.test_walks import Trial, trial
from tests.plan.splitting import split
from tests.recover.bounds.test_loops import truth
from trodden.graph.cfg import Graph
from trodden.plan.overlapping.loop_paths import LoopPath, before_back_edge, behind_back_edge
from trodden.plan.overlapping.possible import ends_at, iterations, parts_from
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Plan
from trodden.plan.routes import PathCount, PathStart
from trodden.profile.longer.call_sites import Callees
from trodden.profile.longer.ends import Ends
from trodden.profile.longer.function_paths import FunctionPaths
from trodden.profile.longer.loops import loops_of
from trodden.profile.longer.model import NotTold, PathPart, Solver, Source, part_of
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import FunctionFacts


def executed(graph: Graph, plan: Plan, paths: tuple[PathCount, ...]) -> FunctionPaths:
    facts = FunctionFacts("f", "f", 0, 1, graph, (), plan, 0)
    zeros = [0] * len(graph.labels)
    profile = FunctionProfile(facts, (), "", zeros, [0] * len(graph.edges), paths=paths)
    assert plan.paths is not None
    return FunctionPaths("f", profile, plan.paths)


def walked(case: Trial) -> FunctionPaths:
    """What a profile of the same walks has: the paths, whole or cut short."""
    assert case.plan.paths is not None
    found = split(case.graph, case.plan.paths, case.walks)
    paths = tuple(
        PathCount(number, count, route.blocks, route.edges, route.starts, route.ends)
        for number, (route, count) in enumerate((found.whole + found.short).items())
    )
    return executed(case.graph, case.plan, paths)


def ends_of(own: FunctionPaths) -> Ends:
    return Ends(Callees(Profile("paths", "", (), {"f": own.function})), {"f": own})


@pytest.mark.parametrize("solver", list(Solver))
@settings(max_examples=150)
@given(graph=graphs(), seed=seeds(), most=st.sampled_from([1, 3, 1000]))
def test_bounds_contain_what_happened(solver: Solver, graph: Graph, seed: int, most: int) -> None:
    case = trial(graph, seed)
    own = walked(case)
    happened = truth(case)
    ends = ends_of(own)
    for found in loops_of(own, ends, solver, most):
        assert not isinstance(found, NotTold)
        flow, listed = found
        pairs: Counter[tuple[PathPart, PathPart]] = Counter()
        for (before, after), count in happened.pop(flow.crossing.site, Counter()).items():
            parts = part_of(graph, before.start, before.edges), part_of(graph, after.start, after.edges)
            pairs[parts] += count
        assert flow.source is Source.PATHS
        assert flow.least <= pairs.total() <= flow.most
        assert flow.definite <= pairs.total() <= flow.potential
        assert flow.definite == sum(path.lower for path in listed)
        assert flow.listed == len(listed) <= flow.paths
        known = {(path.first, path.second): (path.lower, path.upper) for path in listed}
        for parts, count in pairs.items():
            low, high = known.get(parts, (0, flow.unlisted))
            assert low <= count <= high
        for parts, (low, _) in known.items():
            assert low <= pairs[parts]
        assert flow.certain <= flow.complete <= flow.paths
        complete = sum(ends.of(flow.crossing)(after) for (_, after), count in pairs.items() if count)
        assert flow.certain <= complete <= flow.complete <= ends.possible(flow.crossing)
    assert not any(pairs.total() for pairs in happened.values())


@settings(max_examples=200)
@given(graphs(), seeds())
def test_possible_longer_paths_are_counted_without_listing_them(graph: Graph, seed: int) -> None:
    plan = path_plan(graph, [1.0] * len(graph.edges), limit=None)
    own = executed(graph, plan, ())
    if own.numbering.number > 3000:
        return
    routes = [own.numbering.regenerate(number) for number in range(own.numbering.number)]
    for header in set(own.joining.values()):
        owner = own.loop(header)
        before: set[LoopPath] = set()
        after: set[LoopPath] = set()
        for route in routes:
            if route.edges and own.joining.get(route.edges[-1]) == header:
                before.add(before_back_edge(owner, route))
            if route.starts is not PathStart.ENTRY and route.blocks[0] == header:
                after.add(behind_back_edge(own.ways, owner, route))
        sources = {graph.edges[edge].src for edge, to in own.joining.items() if to == header}
        assert iterations(own.ways, header, sources) == len(before)
        assert parts_from(own.ways, owner, header) == len(after)
        assert all(ends_at(own.ways, owner, part_of(graph, *path).blocks[-1]) for path in after)
