"""The counts of overlapping paths (TZG04 §2) and of tuples of paths: what a profile with ``--overlap`` or
``--pairs`` knows beyond its paths.

:mod:`trodden.recover.bounds.loops` derives from them how often each two iterations of a loop followed each
other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from trodden.graph.cfg import Graph
from trodden.plan.overlapping.numbering import OverlapNumbering, OverlappingPath, numbering_of_plan
from trodden.plan.overlapping.tuples import FLAG, paths_of
from trodden.plan.probes import Plan
from trodden.recover.function_counts import FunctionCounts, Prefix
from trodden.recover.path_prefix import PrefixDecoder
from trodden.recover.sparse_counters import nonzero


def overlapping_counts(
    graph: Graph, plan: Plan, counted: FunctionCounts, numbering: OverlapNumbering | None = None
) -> Counter[OverlappingPath]:
    """How often each overlapping path of a function was executed, and each path that is not extended.

    An overlap that was active when control was lost stops in the block where that happened.  A count is
    negative for what a forked child has inherited.  ``numbering`` is that of the plan, if it is known.
    """
    assert plan.paths is not None
    assert plan.overlaps is not None
    numbering = numbering or OverlapNumbering(graph, plan.paths, plan.overlaps)
    found: Counter[OverlappingPath] = Counter()
    for number, count in overlapping_table(plan, counted).items():
        if number < numbering.number:
            found[numbering.overlapping(number)] += count
    if counted.prefixes and plan.extends:
        decoder = PrefixDecoder(graph, plan, numbering)
        for overlap, count in unfinished_overlaps(decoder, counted.prefixes).items():
            if isinstance(overlap, OverlappingPath):
                found[overlap] += count
    return Counter({path: count for path, count in found.items() if count})


def overlapping_table(plan: Plan, counted: FunctionCounts) -> dict[int, int]:
    """The counts by number, from the dense table and the sparse one."""
    first = len(plan.measures)
    found = {number: count for number, (count, _) in counted.sparse.items() if count and number < FLAG}
    for slot, count in nonzero(counted.counters):
        if first <= slot < plan.first_tuple:
            found[slot - first] = found.get(slot - first, 0) + count
    return found


def unfinished_overlaps(
    decoder: PrefixDecoder, prefixes: Mapping[Prefix, int]
) -> Counter[OverlappingPath | int]:
    """The overlaps that were active when paths were cut short; only the block where they are not known."""
    found: Counter[OverlappingPath | int] = Counter()
    for (block, register), count in prefixes.items():
        try:
            overlap = decoder.overlap(block, register)
        except ValueError:
            found[block] += count
        else:
            if overlap is not None:
                found[overlap] += count
    return found


def tuple_counts(graph: Graph, plan: Plan, counted: FunctionCounts) -> Counter[tuple[int, ...]]:
    """How often paths followed each other, by the ids that they have in a profile.

    A tuple of the length that is counted ends with each path that has enough others before it in its loop; a
    path with fewer is in a tuple with those that there are.  The last one may have been cut short.
    """
    found: Counter[tuple[int, ...]] = Counter()
    if plan.paths is None or plan.tuples is None:
        return found
    numbering = numbering_of_plan(graph, plan)

    def ids(numbers: Sequence[int]) -> tuple[int, ...]:
        if isinstance(numbering, OverlapNumbering):
            return tuple(map(numbering.number_of_whole, numbers))
        return tuple(numbers)

    for number, count in _tuple_table(plan, counted).items():
        paths = paths_of(plan, number)
        if paths is not None and len(paths) > 1 and all(path < numbering.number for path in paths):
            found[ids(paths)] += count
    decoder = PrefixDecoder(graph, plan, numbering) if counted.prefixes else None
    for (block, register), count in counted.prefixes.items():
        total = None if decoder is None else decoder.sum_of(block, register)
        if decoder is not None and total is not None and register is not None:
            before = decoder.before(register)
            if before:
                found[(*ids(before), decoder.path_id(block, total))] += count
    return Counter({paths: count for paths, count in found.items() if count})


def _tuple_table(plan: Plan, counted: FunctionCounts) -> dict[int, int]:
    """The counts of tuples by number, from the dense table and the sparse one."""
    found = {number - FLAG: count for number, (count, _) in counted.sparse.items() if number >= FLAG}
    for slot, count in nonzero(counted.counters):
        if slot >= plan.first_tuple:
            number = slot - plan.first_tuple
            found[number] = found.get(number, 0) + count
    return found
