"""Where executions under way had started."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from trodden.graph.cfg import Graph, build
from trodden.plan.interpret import interpret_paths
from trodden.plan.paths.plan import checked_paths, path_plan
from trodden.recover.function_counts import FunctionCounts, Prefix
from trodden.recover.killed.procedure import Procedure
from trodden.recover.killed.sources import (
    Inherited,
    Source,
    SourcePool,
    after_ended_paths,
    after_others,
    entries,
    inherited_unfinished,
)
from trodden.recover.paths import PathFlow, recover_paths

LOOP = build("f", ["a", "h", "b", "e", "EXIT"], [(0, 1), (1, 2), (2, 1), (1, 3), (3, 4)])
"""a enters the loop of h and b, which is left for e."""
AH, HB, BACK, HE, LEAVE = range(5)
ROUND = build("g", ["r", "b", "EXIT"], [(0, 1), (1, 0), (0, 2)])
"""The root block is the entry of the loop."""
RB, AGAIN, OUT = range(3)


def procedure(graph: Graph, checked: bool = False) -> Procedure:
    plan = path_plan(graph, [1.0] * len(graph.edges), may_be_cut_short=range(graph.exit))
    return Procedure(graph, checked_paths(plan, graph) if checked else plan)


def recovered(made: Procedure, walk: list[int], prefixes: Mapping[Prefix, int] | None = None) -> PathFlow:
    counters = interpret_paths(made.graph, made.plan, [walk]).counters if walk else [0] * made.plan.slots
    return recover_paths(made.graph, made.plan, FunctionCounts(counters, {}, prefixes or {}))


@pytest.mark.parametrize(
    ("walk", "excess", "starts"),
    [
        ([AH, HB], {}, {}),
        ([AH, HB, BACK], {}, {1: 1}),
        ([AH, HB, BACK, HB, BACK, HE, LEAVE], {}, {}),
        ([AH, HB, BACK], {BACK: 2}, {1: 3}),
        ([AH, HB, BACK, HE, LEAVE], {BACK: -1, AH: 1}, {}),
    ],
    ids=["no path ended", "one did", "and another behind it", "ended uncounted", "only ends count"],
)
def test_a_path_starts_behind_each_that_ended(
    walk: list[int], excess: dict[int, int], starts: dict[int, int]
) -> None:
    made = procedure(LOOP)
    assert after_ended_paths(made, recovered(made, walk), excess) == starts


def test_starts_have_their_sums() -> None:
    made = procedure(LOOP)
    total = made.sums.at_start(1)
    assert total is not None
    assert after_others(made, {1: 3, 0: 9}) == [Source(1, total, 3)]


@pytest.mark.parametrize(
    ("excess", "known", "never", "times"),
    [
        ({}, 0, False, 0),
        ({RB: 3}, 0, False, 3),
        ({RB: 3, OUT: 1}, 2, False, 2),
        ({RB: 3}, 5, False, 0),
        ({RB: 1}, 1, True, 1),
        ({}, 1, True, 1),
        ({}, 0, True, 0),
    ],
    ids=[
        "nothing left the root",
        "all that did",
        "less those that came round the loop",
        "more came round",
        "what ran was entered",
        "even if nothing left the root again",
        "nothing ran",
    ],
)
def test_entries(excess: dict[int, int], known: int, never: bool, times: int) -> None:
    made = procedure(ROUND)
    found = entries(made, excess, [Source(0, 7, known), Source(1, 7, 50)] if known else [], never)
    assert [(each.block, each.times) for each in found] == ([(0, times)] if times else [])
    assert all(each.total == made.sums.at_entry() for each in found)


def _inherited(made: Procedure, walk: list[int]) -> dict[Prefix, int]:
    """A forked child begins where a walk was."""
    return {key: -times for key, times in interpret_paths(made.graph, made.plan, [walk]).prefixes.items()}


def test_an_inherited_path_that_did_not_end_shows_in_negative_counts() -> None:
    made = procedure(LOOP)
    prefixes = _inherited(made, [AH, HB])
    flow = recovered(made, [], prefixes)
    assert (flow.edges[AH], flow.edges[HB]) == (-1, -1)
    ((block, register),) = prefixes
    total = made.decoder.sum_of(block, register)
    assert total is not None
    found = inherited_unfinished(made, prefixes, flow, {}, {})
    assert (found.sources, found.begun) == ([Source(2, total, 1)], {})
    assert not any(times > 0 for times in found.excess.values())
    assert (found.edges[AH], found.edges[HB]) == (0, 0)


def test_an_inherited_path_that_ended_is_finished() -> None:
    """The child continued to the end: what the parent had executed is subtracted from that path."""
    made = procedure(LOOP)
    prefixes = _inherited(made, [AH, HB])
    flow = recovered(made, [AH, HB, BACK, HE, LEAVE], prefixes)
    assert inherited_unfinished(made, prefixes, flow, {}, {}) == Inherited([], {}, Counter(), flow.edges)


def test_with_counters_on_edges_the_excess_shows_it() -> None:
    """The child iterated the loop twice, and was killed in b; the path of its parent has ended."""
    made = procedure(LOOP, checked=True)
    prefixes = _inherited(made, [AH, HB])
    assert made.decoder.sum_of(*next(iter(prefixes))) is not None
    flow = recovered(made, [], prefixes)
    still = {AH: 1, HB: 1, BACK: 0, HE: 0, LEAVE: 0}
    found = inherited_unfinished(made, prefixes, flow, still, {})
    assert [(each.block, each.times) for each in found.sources] == [(2, 1)]
    assert found.excess == {AH: 0, HB: 0, BACK: 0, HE: 0, LEAVE: 0}
    none = dict.fromkeys(still, 0)
    assert inherited_unfinished(made, prefixes, flow, none, {}).sources == []


def test_an_inherited_entry_shows_in_the_number_of_entries() -> None:
    made = procedure(LOOP, checked=True)
    prefixes = _inherited(made, [])
    found = inherited_unfinished(made, prefixes, recovered(made, [], prefixes), {}, {})
    assert found.sources == [Source(0, made.sums.at_entry(), 1)]


def test_what_cannot_be_decoded_is_passed_over() -> None:
    made = procedure(LOOP)
    inherited = _inherited(made, [AH, HB])
    prefixes: dict[Prefix, int] = {(1, None): -1, (2, 999): -1, **inherited}
    found = inherited_unfinished(made, prefixes, recovered(made, [], inherited), {}, {})
    assert [(each.block, each.times) for each in found.sources] == [(2, 1)]


def test_walks_draw_from_the_sources_of_their_block_in_order() -> None:
    pool = SourcePool([Source(1, 10, 2), Source(0, 5, 1), Source(1, 20, 3)])
    assert list(pool.draw(1, 3)) == [(10, 2), (20, 1)]
    assert list(pool.draw(7, 1)) == []
    assert pool.left == [Source(0, 5, 1), Source(1, 20, 2)]
    assert list(pool.draw(1, 9)) == [(20, 2)]
    assert pool.left == [Source(0, 5, 1)]
