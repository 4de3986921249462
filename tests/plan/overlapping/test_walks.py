"""Whatever the plan, what it counts of some walks are their overlapping paths."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace

from hypothesis import given, settings

from tests.graphs import costs_for, graphs, seeds
from tests.plan.overlapping.walked import overlapping_paths
from tests.plan.splitting import dead_ends, decoded_prefixes, jumping_walk, split
from trodden.graph.cfg import Graph
from trodden.plan.interpret import PathTally, tally
from trodden.plan.overlapping.interpret import interpret_overlaps
from trodden.plan.overlapping.loops import LoopNest, loop_headers
from trodden.plan.overlapping.numbering import OverlapNumbering, OverlappingPath
from trodden.plan.overlapping.plan import overlapping_plan
from trodden.plan.overlapping.unfinished import UnfinishedOverlaps
from trodden.plan.paths.numbering import LARGEST
from trodden.plan.paths.prefixes import register_offsets
from trodden.plan.probes import WORD, BlockMeasure, Plan
from trodden.plan.routes import Route


@dataclass
class Trial:
    """A random plan, and walks."""

    graph: Graph
    plan: Plan
    walks: list[list[int]]
    may_be_cut_short: frozenset[int] = frozenset()

    @property
    def numbering(self) -> OverlapNumbering:
        assert self.plan.paths is not None
        assert self.plan.overlaps is not None
        return OverlapNumbering(self.graph, self.plan.paths, self.plan.overlaps)


def trial(graph: Graph, seed: int, **asked: object) -> Trial:
    rng = random.Random(seed)
    fraction = rng.choice([0.0, 0.3, 1.0])
    may_be_cut_short = dead_ends(graph) | {block for block in range(graph.exit) if rng.random() < fraction}
    may_return_twice = [
        index
        for index in graph.flow_edges()
        if graph.edges[index].dst != graph.exit and rng.random() < rng.choice([0.0, 0.0, 0.2])
    ]
    headers = LoopNest(graph).forest.of_header
    mixed = {header: rng.choice([0, 1, 2, None]) for header in headers}
    options: dict[str, object] = {
        "degrees": rng.choice([1, 2, 3, None, mixed, mixed]),
        "limit": rng.choice([None, None, 0, 5, 20]),
        "most": rng.choice([LARGEST, LARGEST, 30]),
        "dense": rng.choice([0, 10**9]),
        "resume_edges": may_return_twice,
        "rule": rng.choice(["cheapest", "cheapest", "loops", "node"]),
    } | asked
    weights = costs_for(graph, seed)
    plan = overlapping_plan(graph, weights, may_be_cut_short=may_be_cut_short, **options)  # type: ignore[arg-type]
    walks = [
        jumping_walk(graph, rng, rng.choice([3, 30, 60]), may_be_cut_short, may_return_twice)
        for _ in range(8)
    ]
    return Trial(graph, plan, [walk for walk in walks if walk is not None], frozenset(may_be_cut_short))


def counted(plan: Plan, told: PathTally) -> dict[int, int]:
    """The counts by number, of a table with or without a counter for each."""
    assert plan.paths is not None
    if not plan.paths.dense:
        return {number: count for number, (count, _) in told.sparse.items()}
    return {number: count for number, count in enumerate(told.counters[len(plan.measures) :]) if count}


def check(case: Trial) -> None:
    plan, graph, numbering = case.plan, case.graph, case.numbering
    assert plan.paths is not None
    assert plan.overlaps is not None
    assert numbering.number == plan.numbers
    assert numbering.whole.number == plan.paths.number
    told = interpret_overlaps(graph, plan, case.walks)
    by_number = counted(plan, told)
    found = Counter({numbering.overlapping(number): count for number, count in by_number.items()})
    for path, number in zip(found, by_number, strict=True):
        assert numbering.number_of_overlapping(path) == number
    found.update(unfinished(graph, plan, numbering, told))
    assert found == overlapping_paths(graph, plan.paths, plan.overlaps, case.walks)
    truth = split(graph, plan.paths, case.walks)
    whole: Counter[Route] = Counter()
    for overlapping, count in found.items():
        whole[overlapping.path] += count
    assert whole == truth.whole
    check_prefixes(case, told, truth.short)
    walked = tally(graph, case.walks)
    for measure, count in zip(plan.measures, told.counters, strict=False):
        if isinstance(measure, BlockMeasure):
            assert count == walked.blocks[measure.block]
        else:
            assert count == walked.edges[measure.edge]


def unfinished(
    graph: Graph, plan: Plan, numbering: OverlapNumbering, told: PathTally
) -> Counter[OverlappingPath]:
    """The overlaps in which walks were cut short."""
    offsets = register_offsets(graph, plan, numbering)
    overlaps = UnfinishedOverlaps(plan, numbering)
    found: Counter[OverlappingPath] = Counter()
    for (block, register, overlap), count in told.overlaps.items():
        (route,) = decoded_prefixes({(block, register): 1}, offsets, numbering.prefix)
        path = overlaps.overlap(route, overlap, WORD)
        assert path is not None
        found[path] += count
    return found


def all_overlaps(case: Trial, told: PathTally) -> Counter[OverlappingPath]:
    """The overlapping paths that were counted, and those in which walks were cut short."""
    by_number = counted(case.plan, told)
    found = Counter({case.numbering.overlapping(number): count for number, count in by_number.items()})
    found.update(unfinished(case.graph, case.plan, case.numbering, told))
    return found


def check_prefixes(case: Trial, told: PathTally, truth: Counter[Route]) -> None:
    numbering = case.numbering
    offsets = register_offsets(case.graph, case.plan, numbering)
    assert decoded_prefixes(told.prefixes, offsets, numbering.prefix) == truth


@settings(max_examples=500)
@given(graphs(), seeds())
def test_the_counters_determine_the_overlapping_paths(graph: Graph, seed: int) -> None:
    check(trial(graph, seed))


@settings(max_examples=200)
@given(graphs(max_blocks=14, max_edges=32), seeds())
def test_in_larger_graphs(graph: Graph, seed: int) -> None:
    check(trial(graph, seed))


@given(graphs(), seeds())
def test_numbers_and_overlapping_paths_are_the_same_thing(graph: Graph, seed: int) -> None:
    case = trial(graph, seed, most=200)
    numbering = case.numbering
    paths = [numbering.overlapping(number) for number in range(numbering.number)]
    assert len(set(paths)) == len(paths)
    assert [numbering.number_of_overlapping(path) for path in paths] == list(range(len(paths)))


@given(graphs(), seeds())
def test_without_degrees_it_is_a_path_profile(graph: Graph, seed: int) -> None:
    case = trial(graph, seed, degrees=0)
    assert case.plan.overlaps is not None
    assert case.plan.overlaps.degrees == ()
    assert case.numbering.extended == {}
    assert all(path == OverlappingPath(path.path) for path in map(case.numbering.overlapping, _some(case)))


@given(graphs(), seeds())
def test_degrees_are_lowered_until_numbers_fit(graph: Graph, seed: int) -> None:
    plain = trial(graph, seed, degrees=0).plan.paths
    assert plain is not None
    case = trial(graph, seed, degrees=None, most=2 * plain.number)
    assert case.plan.numbers <= 2 * plain.number
    assert set(loop_headers(case.numbering.plain, replace(plain, number=0))) >= set(
        case.numbering.extended.values()
    )


def _some(case: Trial) -> range:
    return range(min(case.numbering.number, 50))
