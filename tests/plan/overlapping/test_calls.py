"""What programs count over calls and returns is what their executions were, by definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hypothesis import given, settings

from tests.graphs import seeds
from tests.plan.overlapping.programs import Execution, Procedure, random_procedures, replay
from tests.plan.overlapping.test_walks import counted, unfinished
from tests.plan.overlapping.walked_calls import Entered, Returned, Truth
from trodden.plan.overlap_probes import Channel
from trodden.plan.overlapping.call_pairs import path_or_prefix
from trodden.plan.overlapping.interpret_calls import CallKey, CallTally, Thread
from trodden.plan.overlapping.numbering import OverlapNumbering
from trodden.plan.routes import Route
from trodden.recover.path_prefix import PrefixDecoder


def executed(procedures: list[Procedure], seed: int) -> tuple[CallTally, Truth]:
    events = Execution(procedures, seed).events
    thread = Thread([(each.graph, each.plan) for each in procedures])
    truth = Truth(procedures)
    replay(events, thread)
    replay(events, truth)
    return thread.tally, truth


def decoded_entries(procedures: list[Procedure], tally: CallTally) -> Counter[Entered]:
    callers = {site.site: (each, site.block) for each in procedures for site in each.sites}
    found: Counter[Entered] = Counter()
    for key, count in tally.entered.items():
        callee = procedures[key.callee]
        caller, block = callers[key.site]
        ahead, stop = callee.entries.overlap(callee.graph.root, key.in_callee)
        assert stop is not None
        prefix = caller.numbering.prefix(block, key.in_caller)
        found[Entered(key.callee, key.site, prefix, ahead, stop)] += count
    return found


def decoded_returns(procedures: list[Procedure], tally: CallTally) -> Counter[Returned]:
    callers = {site.site: (each, site.block) for each in procedures for site in each.sites}
    found: Counter[Returned] = Counter()
    for key, count in tally.returned.items():
        caller, block = callers[key.site]
        ahead, stop = caller.returns.overlap(block, key.in_caller)
        assert stop is not None
        path = procedures[key.callee].numbering.regenerate(key.in_callee)
        found[Returned(key.callee, key.site, path, ahead, stop)] += count
    return found


@settings(max_examples=500)
@given(seeds(), seeds())
def test_keys_determine_what_was_executed_over_calls_and_returns(program: int, seed: int) -> None:
    procedures = random_procedures(program)
    tally, truth = executed(procedures, seed)
    assert decoded_entries(procedures, tally) == truth.entered
    assert decoded_returns(procedures, tally) == truth.returned
    paths: Counter[tuple[int, Route]] = Counter()
    for number, (own, told) in enumerate(zip(procedures, tally.paths, strict=True)):
        for path, count in counted(own.plan, told).items():
            paths[number, own.numbering.regenerate(path)] += count
        if isinstance(own.numbering, OverlapNumbering):
            for found, count in unfinished(own.graph, own.plan, own.numbering, told).items():
                paths[number, found.path] += count
    assert paths == truth.paths


def route_of(own: Procedure, number: int) -> Route:
    """The path with a number, or the prefix that leads to a call."""
    return path_or_prefix(own.numbering, own.sites, number)


def pair_numbers(
    procedures: list[Procedure], tally: CallTally
) -> Iterator[tuple[Channel, CallKey, Route, int]]:
    """All pairs, with the path that ended last."""
    sites = {site.site: each for each in procedures for site in each.sites}
    for channel in (Channel.ENTERED, Channel.RETURNED):
        for key, count in tally.of(channel).items():
            entered = channel is Channel.ENTERED
            own = procedures[key.callee] if entered else sites[key.site]
            yield channel, key, route_of(own, key.in_callee if entered else key.in_caller), count
    for (channel, key, block, register), count in tally.cut_short.items():
        own = procedures[key.callee] if channel is Channel.ENTERED else sites[key.site]
        total = PrefixDecoder(own.graph, own.plan, own.numbering).sum_of(block, register)
        assert total is not None
        yield channel, key, own.numbering.prefix(block, total), count


@settings(max_examples=300)
@given(seeds(), seeds())
def test_pairs_of_paths_determine_overlaps_of_any_degree(program: int, seed: int) -> None:
    procedures = random_procedures(program, pairs=True)
    tally, truth = executed(procedures, seed)
    callers = {site.site: (n, site.block) for n, own in enumerate(procedures) for site in own.sites}
    entered: Counter[Entered] = Counter()
    returned: Counter[Returned] = Counter()
    for channel, key, route, count in pair_numbers(procedures, tally):
        caller, block = callers[key.site]
        if channel is Channel.ENTERED:
            prefix = procedures[caller].numbering.prefix(block, key.in_caller)
            part = truth.first_part(key.callee, route)
            entered[Entered(key.callee, key.site, prefix, *part)] += count
        else:
            path = procedures[key.callee].numbering.regenerate(key.in_callee)
            site = truth.site(caller, block)
            assert site is not None
            part = truth.behind_call(caller, site, route, route.blocks.index(block))
            returned[Returned(key.callee, key.site, path, *part)] += count
    assert entered == truth.entered
    assert returned == truth.returned
