"""Overlapping paths and tuples of paths, recovered from what plans count of walks."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

from hypothesis import given, settings

from tests.graphs import graphs, seeds
from tests.plan.overlapping.test_walks import Trial, trial
from tests.plan.overlapping.walked import overlapping_paths
from tests.plan.splitting import split
from trodden.graph.cfg import Graph
from trodden.plan.interpret import PathTally, tally
from trodden.plan.overlapping.fictitious import fictitious_overlaps
from trodden.plan.overlapping.interpret import interpret_overlaps
from trodden.plan.overlapping.interpret_pairs import interpret_chains
from trodden.plan.overlapping.pairs import with_chains
from trodden.plan.overlapping.tuples import most_paths
from trodden.plan.overlapping.unfinished import UnfinishedOverlaps
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.prefixes import RegisterOffset, SinglePrefix, register_offsets
from trodden.plan.probes import Plan
from trodden.plan.routes import PathEnd
from trodden.program.frame_word import HALF, MOST_NUMBERS, join
from trodden.recover.function_counts import FunctionCounts, Prefix
from trodden.recover.killed.paths import complete_paths
from trodden.recover.overlaps import overlapping_counts
from trodden.recover.paths import recover_paths
from trodden.recover.sparse_counters import SparseCounters


def counts_of(case: Trial, told: PathTally) -> FunctionCounts:
    """What frames and counters say after the walks, as a front end would have written it."""
    numbering, plan = case.numbering, case.plan
    overlaps = UnfinishedOverlaps(plan, numbering)
    offsets = register_offsets(case.graph, plan, numbering)
    prefixes: Counter[Prefix] = Counter()
    for (block, register), count in told.prefixes.items():
        if not plan.extends:
            prefixes[block, register] += count
            continue
        active = {o: n for (b, r, o), n in told.overlaps.items() if (b, r) == (block, register)}
        offset = offsets[block]
        assert offset is not None
        total = offset.sum if isinstance(offset, SinglePrefix) else 0
        if isinstance(offset, RegisterOffset):
            assert register is not None
            total = (register - offset.amount) % 2**64
        nothing = 0
        if overlaps.may_be_active(block):
            nothing = overlaps.none(numbering.prefix(block, total))
        for overlap, times in active.items():
            prefixes[block, join(register or 0, overlap)] += times
        prefixes[block, join(register or 0, nothing)] += count - sum(active.values())
    resumed = {block: -count for block, count in resumptions(case).items()}
    return FunctionCounts(SparseCounters.of(told.counters), resumed, prefixes, dict(told.sparse))


def resumptions(case: Trial) -> Counter[int]:
    """How often control came back to each block from elsewhere."""
    found: Counter[int] = Counter()
    for walk in case.walks:
        block = case.graph.root
        for edge in walk:
            source, target, _ = case.graph.edges[edge]
            found[source] += source != block
            block = target
    return +found


def small(case: Trial) -> bool:
    return case.numbering.number < MOST_NUMBERS // 2


@settings(max_examples=300)
@given(graphs(), seeds())
def test_frames_and_counters_determine_overlapping_paths(graph: Graph, seed: int) -> None:
    case = trial(graph, seed)
    plan = case.plan
    assert plan.paths is not None
    assert plan.overlaps is not None
    if small(case):
        counted = counts_of(case, interpret_overlaps(graph, plan, case.walks))
        assert overlapping_counts(graph, plan, counted) == overlapping_paths(
            graph, plan.paths, plan.overlaps, case.walks
        )


@settings(max_examples=300)
@given(graphs(), seeds())
def test_frames_and_counters_determine_paths_and_edges(graph: Graph, seed: int) -> None:
    case = trial(graph, seed, resume_edges=[])
    case.walks = [walk for walk in case.walks if is_walk(graph, walk)]
    if not small(case):
        return
    plan = case.plan
    assert plan.paths is not None
    counted = counts_of(case, interpret_overlaps(graph, plan, case.walks))
    flow = recover_paths(graph, plan, counted)
    truth = tally(graph, case.walks)
    assert flow.violations == ()
    assert (flow.blocks, flow.edges) == (truth.blocks, truth.edges)
    whole = Numbering(graph, plan.paths)
    walked = split(graph, plan.paths, case.walks)
    paths: Counter[int] = Counter()
    for route, count in [*walked.whole.items(), *walked.short.items()]:
        paths[whole.number_of(route)] += count
    assert {path.id: path.count for path in flow.paths} == paths


@settings(max_examples=200)
@given(graphs(), seeds())
def test_tuples_are_counted_by_the_numbers_of_paths(graph: Graph, seed: int) -> None:
    case = trial(graph, seed)
    length = random.Random(seed).choice([2, 3])
    if case.plan.numbers > most_paths(length):
        return
    plan = with_chains(graph, case.plan, length, 0)
    assert plan.paths is not None
    told = interpret_chains(graph, plan, case.walks)
    whole = Numbering(graph, plan.paths)
    found: Counter[tuple[int, ...]] = Counter()
    for numbers, count in told.tuples.items():
        found[tuple(case.numbering.number_of_whole(number) for number in numbers)] += count
    if plan.tuples is not None and length == 2:
        joins = set(plan.paths.back_edges) - {*plan.paths.cuts, *plan.paths.resume_edges}
        truth = Counter(
            (whole.number_of(path), whole.number_of(after))
            for sequence in split(graph, plan.paths, case.walks).sequences
            for path, after in pairwise(sequence)
            if path.ends is not PathEnd.UNWOUND
            and after.ends is not PathEnd.UNWOUND
            and path.edges[-1] in joins
        )
        assert found == truth


def as_killed(case: Trial) -> FunctionCounts:
    """The counts if the process was killed at the end of the last walk: nothing tells of its frame."""
    before = counts_of(case, interpret_overlaps(case.graph, case.plan, case.walks[:-1]))
    told = interpret_overlaps(case.graph, case.plan, case.walks)
    return FunctionCounts(SparseCounters.of(told.counters), {}, before.prefixes, dict(told.sparse))


@settings(max_examples=200)
@given(graphs(), seeds())
def test_counts_of_a_killed_process_are_completed(graph: Graph, seed: int) -> None:
    case = trial(graph, seed, resume_edges=[])
    if not small(case) or not case.walks:
        return
    case.walks = [walk for walk in case.walks if is_walk(graph, walk)] or [[]]
    plan: Plan = case.plan
    counted = as_killed(case)
    completed = complete_paths(graph, plan, counted)
    whole = counted if completed.missing is None else counted + completed.missing
    assert recover_paths(graph, plan, whole).violations == ()
    everything = counts_of(case, interpret_overlaps(graph, plan, case.walks))
    assert complete_paths(graph, plan, everything).missing is None


def is_walk(graph: Graph, walk: list[int]) -> bool:
    block = graph.root
    for edge in walk:
        if graph.edges[edge].src != block:
            return False
        block = graph.edges[edge].dst
    return True


def test_fictitious_overlaps_end_behind_all_others() -> None:
    @settings(max_examples=200)
    @given(graphs(), seeds())
    def check(graph: Graph, seed: int) -> None:
        case = trial(graph, seed)
        fictitious = fictitious_overlaps(case.plan, case.numbering)
        assert set(fictitious.starts) == set(case.numbering.region.owners)
        assert case.numbering.number + fictitious.numbers < HALF or not small(case)

    check()
