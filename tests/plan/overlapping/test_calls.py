"""What programs count over calls and returns is what their executions were, by definition."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings

from tests.graphs import seeds
from tests.plan.overlapping.programs import Execution, Procedure, random_procedures, replay
from tests.plan.overlapping.test_walks import counted
from tests.plan.overlapping.walked_calls import Entered, Returned, Truth
from trodden.plan.overlapping.interpret_calls import CallTally, Thread
from trodden.plan.routes import Route


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
    assert paths == truth.paths
