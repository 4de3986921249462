"""Bounds on pairs of successive iterations, held against what walks did."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import graphs, seeds
from tests.plan.overlapping.test_walks import Trial, all_overlaps, trial
from tests.plan.overlapping.walked import Definitions, successive_paths
from tests.plan.splitting import split
from trodden.graph.cfg import Graph
from trodden.plan.overlapping.interpret import interpret_overlaps
from trodden.plan.overlapping.loop_paths import LoopPath
from trodden.plan.overlapping.region import Ways
from trodden.plan.paths.numbering import LARGEST
from trodden.recover.bounds.fixed_point import fixed_point
from trodden.recover.bounds.linear import tightest_bounds
from trodden.recover.bounds.loops import LoopFacts, loop_facts, loop_margins, loop_system
from trodden.recover.bounds.system import Bounds, Range, System

Pairs = Counter[tuple[LoopPath, LoopPath]]


def truth(case: Trial) -> dict[int, Pairs]:
    """How often each pair of loop paths was executed, by header."""
    assert case.plan.paths is not None
    words = Definitions(case.graph, case.plan.paths)
    found: dict[int, Pairs] = {}
    for (path, after), count in successive_paths(case.graph, case.plan.paths, case.walks).items():
        header = after.blocks[0]
        first = path.blocks.index(header) if header in path.blocks else 0
        edges, _ = words.first_part(after, None, words.inside(header))
        pair = LoopPath(path.blocks[first], path.edges[first:-1]), LoopPath(header, edges)
        found.setdefault(header, Counter())[pair] += count
    return found


def facts_of(case: Trial, degree: int | None = None) -> dict[int, LoopFacts]:
    assert case.plan.paths is not None
    counts = all_overlaps(case, interpret_overlaps(case.graph, case.plan, case.walks))
    short = split(case.graph, case.plan.paths, case.walks).short
    return loop_facts(case.numbering, counts, short, degree)


def systems_of(case: Trial, degree: int | None = None) -> dict[int, System[LoopPath, LoopPath]]:
    ways = Ways(case.numbering.plain)
    return {header: loop_system(ways, facts) for header, facts in facts_of(case, degree).items()}


def contains(bounds: Bounds[LoopPath, LoopPath], pairs: Pairs) -> None:
    by_pair = bounds.by_pair()
    assert not bounds.contradictory
    assert pairs.keys() <= by_pair.keys()
    for pair, (low, high) in by_pair.items():
        assert low <= pairs[pair] <= high
    assert bounds.definite_flow <= pairs.total() <= bounds.potential_flow


def inside(
    narrow: Bounds[LoopPath, LoopPath], wide: Bounds[LoopPath, LoopPath], *, same: bool = False
) -> None:
    others = wide.by_pair()
    for pair, (low, high) in narrow.by_pair().items():
        assert others[pair].least <= low
        assert high <= others[pair].most
    assert not same or narrow.by_pair() == others


@settings(max_examples=300)
@given(graphs(), seeds())
def test_bounds_contain_what_happened(graph: Graph, seed: int) -> None:
    case = trial(graph, seed)
    happened = truth(case)
    for header, system in systems_of(case).items():
        pairs = happened.pop(header, Counter())
        printed, iterated = fixed_point(system.as_printed()), fixed_point(system)
        contains(printed, pairs)
        contains(iterated, pairs)
        inside(iterated, printed)
    assert not happened


@settings(max_examples=100)
@given(graphs(), seeds())
def test_linear_programs_give_bounds_that_are_no_wider(graph: Graph, seed: int) -> None:
    case = trial(graph, seed)
    happened = truth(case)
    for header, system in systems_of(case).items():
        tightest = tightest_bounds(system)
        contains(tightest, happened.get(header, Counter()))
        inside(tightest, fixed_point(system))


@settings(max_examples=200)
@given(graphs(), seeds(), st.sampled_from([-1, None]))
def test_tables_give_the_bounds_of_linear_programs(graph: Graph, seed: int, degree: int | None) -> None:
    case = trial(graph, seed)
    ways = Ways(case.numbering.plain)
    for header, facts in facts_of(case, degree).items():
        happened = truth(case).get(header, Counter())
        tightest = tightest_bounds(loop_system(ways, facts)).by_pair()
        found: dict[tuple[LoopPath, LoopPath], Range] = {}
        for table in loop_margins(ways, facts):
            assert not table.contradictory
            found |= {(first, second): bounds for first, second, bounds in table.hottest()}
        assert happened.keys() <= found.keys()
        for pair, bounds in found.items():
            assert bounds.least <= happened[pair] <= bounds.most
            assert bounds == tightest[pair]
        assert all(bounds.most == 0 for pair, bounds in tightest.items() if pair not in found)


@settings(max_examples=150)
@given(graphs(), seeds(), st.randoms(use_true_random=False))
def test_the_order_of_the_equations_does_not_matter(graph: Graph, seed: int, rng: random.Random) -> None:
    for system in systems_of(trial(graph, seed)).values():
        facts, totals = list(system.facts), list(system.totals)
        rng.shuffle(facts)
        rng.shuffle(totals)
        other = System(system.pairs, system.most, tuple(totals), tuple(facts))
        assert fixed_point(system).by_pair() == fixed_point(other).by_pair()


@settings(max_examples=200)
@given(graphs(), seeds())
def test_the_largest_degree_is_exact(graph: Graph, seed: int) -> None:
    case = trial(graph, seed, degrees=None, most=LARGEST)
    happened = truth(case)
    for header, system in systems_of(case).items():
        bounds = fixed_point(system)
        if header in case.numbering.extended.values():
            assert {pair: low for pair, (low, _) in bounds.by_pair().items()} == happened.get(header, {})
            assert bounds.exact == len(bounds.pairs)


@settings(max_examples=150)
@given(graphs(), seeds())
def test_higher_degrees_tell_more(graph: Graph, seed: int) -> None:
    case = trial(graph, seed, degrees=None, most=LARGEST)
    wider: dict[int, Bounds[LoopPath, LoopPath]] = {}
    for degree in (-1, 0, 1, 2, 3):
        for header, system in systems_of(case, degree).items():
            narrower = fixed_point(system)
            if header in wider:
                inside(narrower, wider[header])
            wider[header] = narrower


@settings(max_examples=150)
@given(graphs(), seeds(), st.sampled_from([1, 2, 3]))
def test_facts_of_a_lower_degree_are_those_that_it_would_have_counted(
    graph: Graph, seed: int, degree: int
) -> None:
    every = trial(graph, seed, degrees=None, most=LARGEST)
    fewer = trial(graph, seed, degrees=degree, most=LARGEST)
    fewer.walks = every.walks
    lowered, counted_so = facts_of(every, degree), facts_of(fewer)
    for header, facts in lowered.items():
        assert facts.starts == counted_so[header].starts
        assert facts.crossings == counted_so[header].crossings
