"""The counts of overlapping paths (TZG04 §2): what a profile with ``--overlap`` knows beyond its paths.

:mod:`trodden.recover.bounds.loops` derives from them how often each two iterations of a loop followed each
other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from trodden.graph.cfg import Graph
from trodden.plan.overlapping.numbering import OverlapNumbering, OverlappingPath
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
    found = {number: count for number, (count, _) in counted.sparse.items() if count}
    for slot, count in nonzero(counted.counters):
        if slot >= first:
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
