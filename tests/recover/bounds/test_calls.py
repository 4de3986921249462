"""Bounds on pairs of paths over calls and returns, held against executions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import seeds
from tests.plan.overlapping.programs import Execution, Procedure, random_procedures, replay
from tests.plan.overlapping.walked_calls import Truth
from trodden.plan.overlapping.interpret_calls import CallTally, Thread
from trodden.plan.routes import Route
from trodden.recover.bounds import calls
from trodden.recover.bounds.calls import (
    CallFacts,
    Crossing,
    Executed,
    Part,
    entered_facts,
    returned_facts,
    system_of_calls,
)
from trodden.recover.bounds.fixed_point import fixed_point
from trodden.recover.bounds.linear import tightest_bounds
from trodden.recover.bounds.system import Bounds, Range, System

Pairs = Counter[tuple[Route, Part]]
Key = tuple[int, int]
"""A callee and a call site."""


def crossings(tally: CallTally, key: Key, returned: bool) -> list[Crossing]:
    counts = tally.returned if returned else tally.entered
    return [Crossing(*each[2:], count) for each, count in counts.items() if each[:2] == key]


def known_facts(program: int, seed: int) -> Iterator[tuple[CallFacts, Pairs, int | None]]:
    """For each type, callee and call site what was counted, what happened, and the degree."""
    procedures = random_procedures(program)
    events = Execution(procedures, seed).events
    thread = Thread([(each.graph, each.plan) for each in procedures])
    truth = Truth(procedures, whole=True)
    replay(events, thread)
    replay(events, truth)
    sites = {site.site: (number, site) for number, own in enumerate(procedures) for site in own.sites}
    done = [executed(truth, procedures, number) for number in range(len(procedures))]
    for key in sorted({(each.callee, each.site) for each in thread.tally.entered}):
        caller, site = sites[key[1]]
        callee = procedures[key[0]]
        found = crossings(thread.tally, key, returned=False)
        known = entered_facts(found, site, done[caller], done[key[0]], callee.entries)
        pairs: Pairs = Counter()
        for entered, count in truth.entered.items():
            if (entered.callee, entered.site) == key:
                pairs[entered.prefix, entered.ahead] += count
        yield known, pairs, callee.degrees[0]
    for key in sorted({(each.callee, each.site) for each in thread.tally.returned}):
        caller, site = sites[key[1]]
        own = procedures[caller]
        found = crossings(thread.tally, key, returned=True)
        known = returned_facts(found, site, done[caller], done[key[0]], own.returns)
        pairs = Counter()
        for returned, count in truth.returned.items():
            if (returned.callee, returned.site) == key:
                pairs[returned.path, returned.ahead] += count
        yield known, pairs, own.degrees[1]


def systems(program: int, seed: int) -> Iterator[tuple[System[Route, Part], Pairs, int | None]]:
    for known, pairs, degree in known_facts(program, seed):
        yield known.system(), pairs, degree


def executed(truth: Truth, procedures: list[Procedure], number: int) -> Executed:
    paths = {route: count for (of, route), count in (truth.paths + truth.short).items() if of == number}
    return Executed(procedures[number].numbering, paths)


def contains(bounds: Bounds[Route, Part], pairs: Pairs) -> None:
    by_pair = bounds.by_pair()
    assert not bounds.contradictory
    assert pairs.keys() <= by_pair.keys()
    for pair, (low, high) in by_pair.items():
        assert low <= pairs[pair] <= high


@settings(max_examples=200)
@given(seeds(), seeds())
def test_bounds_contain_what_happened(program: int, seed: int) -> None:
    for system, pairs, degree in systems(program, seed):
        iterated = fixed_point(system)
        contains(fixed_point(system.as_printed()), pairs)
        contains(iterated, pairs)
        if degree is None:
            assert iterated.exact == len(iterated.pairs)
            assert iterated.definite_flow == pairs.total()


@settings(max_examples=60)
@given(seeds(), seeds())
def test_linear_programs_give_bounds_that_are_no_wider(program: int, seed: int) -> None:
    for system, pairs, _ in systems(program, seed):
        tightest, others = tightest_bounds(system), fixed_point(system).by_pair()
        contains(tightest, pairs)
        for pair, (low, high) in tightest.by_pair().items():
            assert others[pair].least <= low
            assert high <= others[pair].most


@settings(max_examples=150)
@given(seeds(), seeds(), st.sampled_from([0, 0, 1, 3]), st.sampled_from([0, 1 << 18]))
def test_tables_are_no_wider_than_linear_programs(
    program: int, seed: int, missing: int, most_rows: int
) -> None:
    for known, pairs, _ in known_facts(program, seed):
        known = replace(known, missing=missing)
        solved = tightest_bounds(known.system()).by_pair() if not missing else {}
        found: dict[tuple[Route, Part], Range] = {}
        with patch.object(calls, "_MOST_ROWS", most_rows):
            tables = known.margins()
        for table in tables:
            assert not table.contradictory
            found |= {(first, second): bounds for first, second, bounds in table.hottest()}
        assert pairs.keys() <= found.keys()
        for pair, bounds in found.items():
            assert bounds.least <= pairs[pair] <= bounds.most
            other = solved.get(pair, bounds)
            assert other.least <= bounds.least
            assert bounds.most <= other.most


@settings(max_examples=100)
@given(seeds(), seeds())
def test_the_number_of_calls_alone_bounds_all_pairs(program: int, seed: int) -> None:
    for system, pairs, _ in systems(program, seed):
        firsts: Counter[Route] = Counter()
        seconds: Counter[Part] = Counter()
        for (first, second), count in pairs.items():
            firsts[first] += count
            seconds[second] += count
        coarse = system_of_calls(pairs.total(), firsts, seconds)
        contains(fixed_point(coarse), pairs)
        known = fixed_point(system.as_printed()).by_pair()
        for pair, (low, high) in fixed_point(coarse.as_printed()).by_pair().items():
            other = known.get(pair, Range(0, 0))
            assert low <= other.most
            assert other.least <= high
