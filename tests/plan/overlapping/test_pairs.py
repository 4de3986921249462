"""Tuples of paths are what walks did, and they say the same as overlapping paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import costs_for, graphs, seeds
from tests.plan.overlapping.test_walks import all_overlaps, trial
from tests.plan.overlapping.walked import Definitions
from tests.plan.paths.test_walks import Trial
from tests.plan.paths.test_walks import trial as plain_trial
from tests.plan.splitting import split
from trodden.graph.cfg import Graph, build
from trodden.plan.overlapping.interpret import interpret_overlaps
from trodden.plan.overlapping.interpret_pairs import interpret_chains
from trodden.plan.overlapping.numbering import OverlappingPath
from trodden.plan.overlapping.pairs import with_chains
from trodden.plan.overlapping.tuples import FLAG, MOST_BEFORE, MOST_NUMBERS, most_paths
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.paths.plan import path_plan
from trodden.plan.paths.prefixes import RegisterOffset, SinglePrefix, register_offsets
from trodden.plan.routes import PathEnd, Route

Routes = tuple[Route, ...]


def chains_of(case: Trial, length: int) -> Counter[Routes]:
    """All tuples of a walk, by definition: the last path may have been cut short."""
    assert case.plan.paths is not None
    words = Definitions(case.graph, case.plan.paths)
    found: Counter[Routes] = Counter()
    for sequence in split(case.graph, case.plan.paths, case.walks).sequences:
        chain: Routes = ()
        for route in sequence:
            chain = (*chain, route)[-length:]
            if len(chain) > 1:
                found[chain] += 1
            if route.ends is PathEnd.UNWOUND or not words.extends(route.edges[-1]):
                chain = ()
    return found


def chains_counted(case: Trial, length: int) -> Counter[Routes]:
    """The tuples that a plan has counted."""
    graph, plan = case.graph, with_chains(case.graph, case.plan, length)
    assert plan.paths is not None
    numbering = Numbering(graph, plan.paths)
    told = interpret_chains(graph, plan, case.walks)

    def routes(numbers: Sequence[int]) -> Routes:
        return tuple(numbering.regenerate(number) for number in numbers)

    found = Counter({routes(numbers): count for numbers, count in told.tuples.items()})
    offsets = register_offsets(graph, plan, numbering)
    for (before, block, register), count in told.cut_short.items():
        match offsets[block]:
            case SinglePrefix(total):
                found[(*routes(before), numbering.prefix(block, total))] += count
            case RegisterOffset(amount):
                assert register is not None
                prefix = numbering.prefix(block, (register - amount) % 2**64)
                found[(*routes(before), prefix)] += count
            case None:
                raise AssertionError(f"nothing is known of {block}")
    return found


@settings(max_examples=300)
@given(graphs(), seeds(), st.integers(2, 4))
def test_tuples_are_counted_as_they_occur(graph: Graph, seed: int, length: int) -> None:
    case = plain_trial(graph, seed, context=False, timed=False)
    assert chains_counted(case, length) == chains_of(case, length)


@given(graphs(), seeds(), st.integers(3, 4))
def test_tuples_add_up_to_pairs(graph: Graph, seed: int, length: int) -> None:
    case = plain_trial(graph, seed, context=False, timed=False)
    pairs: Counter[Routes] = Counter()
    for routes, count in chains_counted(case, length).items():
        pairs[routes[-2:]] += count
    assert pairs == chains_counted(case, 2)


@settings(max_examples=200)
@given(graphs(), seeds(), st.sampled_from([1, 2, None]))
def test_pairs_and_overlapping_paths_agree(graph: Graph, seed: int, degree: int | None) -> None:
    case = trial(graph, seed, degrees=degree, most=LARGEST, limit=None, rule="cheapest")
    plan = case.plan
    assert plan.paths is not None
    assert plan.overlaps is not None
    words = Definitions(graph, plan.paths)
    degrees = dict(plan.overlaps.degrees)
    whole = path_plan(
        graph,
        costs_for(graph, seed),
        limit=None,
        may_be_cut_short=case.may_be_cut_short,
        resume_edges=plan.paths.resume_edges,
    )
    expected: Counter[OverlappingPath] = Counter()
    plain = Trial(graph, whole, set(case.may_be_cut_short), case.walks)
    for (before, after), count in chains_counted(plain, 2).items():
        header = after.blocks[0]
        if header in degrees:
            part = words.first_part(after, degrees[header], words.inside(header))
            expected[OverlappingPath(before, *part)] += count
    told = interpret_overlaps(graph, plan, case.walks)
    found = {path: count for path, count in all_overlaps(case, told).items() if path.stop is not None}
    assert found == expected


def test_tuples_have_numbers() -> None:
    graph = build("loop", ["A", "B", "EXIT"], [(0, 1), (1, 0), (0, 2), (1, 2)])
    plan = path_plan(graph, [1.0] * len(graph.edges))
    with pytest.raises(ValueError, match="no tuples of 1"):
        with_chains(graph, plan, 1)
    assert plan.numbers == 6
    assert most_paths(13) < plan.numbers <= most_paths(12)
    with pytest.raises(ValueError, match="no tuples of 13"):
        with_chains(graph, plan, 13)


@given(st.integers(2, 16))
def test_as_many_paths_as_fit_are_in_tuples(length: int) -> None:
    most = most_paths(length)
    assert (most + 1) ** (length - 1) < MOST_BEFORE
    assert (most + 1) ** length < FLAG
    assert most == MOST_NUMBERS or ((most + 2) ** (length - 1) >= MOST_BEFORE or (most + 2) ** length >= FLAG)


def test_a_procedure_without_loops_has_no_tuples() -> None:
    graph = build("diamond", ["A", "B", "C", "D", "EXIT"], [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
    plan = path_plan(graph, [1.0] * len(graph.edges))
    assert with_chains(graph, plan, 2) is plan
