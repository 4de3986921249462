"""Large procedures: nothing recurses, and a pass looks at each edge a few times at most."""

from __future__ import annotations

import random

from trodden.graph.cfg import Graph, build
from trodden.plan.overlap_probes import CallSite, Overlaps
from trodden.plan.overlapping.calls import with_entries, with_returns
from trodden.plan.overlapping.degrees import Budget, choose_degrees
from trodden.plan.overlapping.interpret import interpret_overlaps
from trodden.plan.overlapping.loops import LoopNest, loop_headers
from trodden.plan.overlapping.numbering import OverlapNumbering, loop_region
from trodden.plan.overlapping.plan import overlapping_plan
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.plan import choose_paths, path_plan
from trodden.recover.bounds.fixed_point import fixed_point
from trodden.recover.bounds.system import Range, pair_system

DIAMONDS = 7000


def labels(blocks: int) -> list[str]:
    return [f"b{number}" for number in range(blocks)] + ["EXIT"]


def one_loop() -> Graph:
    """A loop of 21,002 blocks with a branch in every third."""
    flow = [(0, 1)]
    for number in range(DIAMONDS):
        first = 1 + 3 * number
        flow += [(first, first + 1), (first, first + 2), (first + 1, first + 3), (first + 2, first + 3)]
    last = 1 + 3 * DIAMONDS
    flow += [(last, 1), (last, last + 1)]
    return build("one-loop", labels(last + 1), flow)


def many_loops() -> Graph:
    """7,000 loops, one after the other, of three blocks each, with a way to leave in the middle."""
    flow = []
    for number in range(DIAMONDS):
        first = 3 * number
        flow += [(first, first + 1), (first, first + 2), (first + 1, first + 2)]
        flow += [(first + 2, first), (first + 2, first + 3), (first + 1, first + 3)]
    return build("many-loops", labels(3 * DIAMONDS), flow)


def walk(graph: Graph, rng: random.Random, steps: int) -> list[int]:
    taken: list[int] = []
    block = graph.root
    while block != graph.exit and len(taken) < steps:
        taken.append(rng.choice([e for e in graph.out_edges[block] if e != graph.closing]))
        block = graph.edges[taken[-1]].dst
    return taken


def steps_of_overlap(graph: Graph, degree: int | None) -> int:
    """How many edges and blocks the overlapping graphs of a procedure have."""
    paths, dag = choose_paths(graph, [1.0] * len(graph.edges))
    degrees = dict.fromkeys(loop_headers(dag, paths), degree)
    numbering = OverlapNumbering(graph, paths, Overlaps(()), dag=dag)
    extended = {edge: graph.edges[edge].dst for edge in paths.back_edges if graph.edges[edge].dst in degrees}
    region = loop_region(dag, numbering.nest, degrees, extended)
    return len(region.ahead) + sum(len(owners) for owners in region.owners.values())


def test_overlapping_graphs_are_no_larger_than_the_loops() -> None:
    for graph in (one_loop(), many_loops()):
        assert steps_of_overlap(graph, None) <= len(graph.edges) + len(graph.labels)
        assert steps_of_overlap(graph, 3) <= len(graph.edges) + len(graph.labels)


def test_plans_and_walks_of_large_procedures() -> None:
    rng = random.Random(4)
    for graph in (one_loop(), many_loops()):
        weights = [1.0] * len(graph.edges)
        stops = frozenset({graph.exit - 1})
        plan = overlapping_plan(graph, weights, 2, may_be_cut_short=stops)
        assert plan.paths is not None
        assert plan.overlaps is not None
        numbering = OverlapNumbering(graph, plan.paths, plan.overlaps)
        told = interpret_overlaps(graph, plan, [walk(graph, rng, 60_000)])
        counts = [count for count in told.counters[len(plan.measures) :] if count]
        assert counts
        for number, count in enumerate(told.counters[len(plan.measures) :]):
            if count:
                assert numbering.overlapping(number).path.blocks


def test_degrees_and_calls_of_large_procedures() -> None:
    graph = many_loops()
    weights = [1.0] * len(graph.edges)
    paths, dag = choose_paths(graph, weights)
    chosen = choose_degrees(dag, paths, weights, Budget(100.0, 1e9))
    assert chosen
    assert set(chosen) <= set(LoopNest(graph).forest.of_header)
    blocks = range(1, graph.exit, 3)
    plan = path_plan(graph, weights, may_be_cut_short=blocks)
    assert plan.paths is not None
    numbering = Numbering(graph, plan.paths)
    sites = [CallSite(number, block, graph.out_edges[block]) for number, block in enumerate(blocks)]
    plan, entries = with_entries(plan, numbering, weights, sites, 2, blocks)
    plan, returns = with_returns(plan, numbering, weights, sites, 2, blocks)
    assert entries.paths(graph.root)
    assert all(returns.paths(site.block) for site in sites)


def deep_nest() -> Graph:
    """3,000 loops, each with a branch, around each other."""
    depth = 3000
    flow = []
    for level in range(depth):
        flow += [(level, level + 1), (level, 2 * depth - level)]
    flow += [(depth, depth + 1)]
    for level in range(depth):
        inner = 2 * depth - level
        flow += [(inner, level), (inner, inner + 1)]
    return build("deep-nest", labels(2 * depth + 1), flow)


def test_of_loops_that_nest_deeply_the_inner_ones_are_extended() -> None:
    graph = deep_nest()
    plan = overlapping_plan(graph, [1.0] * len(graph.edges), 1)
    assert plan.overlaps is not None
    extended = {header for header, _ in plan.overlaps.degrees}
    nest = LoopNest(graph)
    depths = {nest.depth(header) for header in extended}
    assert max(depths) == max(loop.depth for loop in nest.forest.loops)
    assert 0 < len(extended) < len(nest.forest.loops)
    assert depths == set(range(min(depths), max(depths) + 1))


def test_bounds_of_thousands_of_pairs() -> None:
    """A hundred loop paths, each of which is followed by each."""
    rng = random.Random(1)
    truth = {(p, q): rng.choice([0, 0, 0, rng.randrange(50)]) for p in range(100) for q in range(100)}
    facts = []
    for p in range(100):
        for beginning in range(20):
            pairs = [(p, q) for q in range(100) if q % 20 == beginning]
            total = sum(truth[pair] for pair in pairs)
            facts.append((pairs, Range(total, total)))
    columns = {q: sum(truth[p, q] for p in range(100)) for q in range(100)}
    system = pair_system(facts, {}, {q: Range(total, total) for q, total in columns.items()})
    bounds = fixed_point(system)
    assert not bounds.contradictory
    for pair, (low, high) in bounds.by_pair().items():
        assert low <= truth[pair] <= high
    printed = fixed_point(system.as_printed())
    assert printed.definite_flow <= bounds.definite_flow <= sum(truth.values())
    assert sum(truth.values()) <= bounds.potential_flow <= printed.potential_flow
