"""The counts of a function, transferred into the counters that another build of it has.

The graph is the same in both builds, but the counters may be on other edges (other weights), or of another
kind (paths in one, edges in the other).  Edge counts determine what any counter of an edge or a block would
have held.  A path table can be filled only from another one with the same numbering; the paths that were cut
short are decoded with one plan and encoded again with the other (:mod:`trodden.recover.path_prefix`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.probes import BlockMeasure, Plan
from trodden.profile.model import FunctionProfile
from trodden.program.facts import FunctionFacts
from trodden.recover.function_counts import FunctionCounts, PathTotals, Prefix, Stop
from trodden.recover.path_prefix import PrefixDecoder, canonical_register
from trodden.recover.plain_form import PlainForm
from trodden.recover.sparse_counters import SparseCounters, nonzero

NO_EDGES = "its edges were not counted there"
CONTRADICTORY = "its counts contradict each other there"
_K = TypeVar("_K", bound=Hashable)
_UNDECODED = "it is not known there which of its paths were cut short"


class NotTransferable(Exception):
    """The counts do not fit; its text is the reason."""


def obstacle(source: FunctionFacts, target: FunctionFacts) -> str | None:
    """Why no counts of ``source`` can ever be transferred to ``target``, two functions with one graph."""
    theirs, ours = source.plan.paths, target.plan.paths
    if ours is None:
        return None
    if theirs is None:
        return "its paths were not counted there"
    if not theirs.same_numbers(ours):
        return "its paths end on other edges there"
    if target.plan.two_registers and source.plan != target.plan:
        return "its paths were not counted together with those behind them there, or otherwise"
    return "its paths were not timed there" if ours.timed and not theirs.timed else None


def same_layout(source: FunctionFacts, target: FunctionFacts) -> bool:
    """Whether both functions keep the same counts in the same form."""
    if source.registers != target.registers or source.clones != target.clones:
        return False
    return source.plan == target.plan


def transfer(
    source: FunctionFacts, counted: FunctionCounts, recovered: FunctionProfile, target: FunctionFacts
) -> FunctionCounts:
    """What the counters of ``target`` would have held in the runs that ``counted`` is about.

    ``recovered`` is what follows from ``counted``.  :class:`NotTransferable` if that is not enough.
    """
    if source.plan.two_registers and not target.plan.two_registers and target.plan.paths is not None:
        plain = PlainForm(source.graph, source.plan)
        source = replace(source, plan=plain.plan, registers={}, clones=())
        counted = plain.of(counted)
    cut_short = recovered.cut_short
    values = counter_values(target, recovered.counted_blocks, recovered.counted_edges, cut_short)
    stops = portable_stops(source, counted.stops, target)
    if target.plan.paths is None:
        counters = SparseCounters(target.plan.slots, values)
        without: dict[Stop, int] = _sums(
            ((block, None, position), times) for (block, _, position), times in stops.items()
        )
        return FunctionCounts(counters, {**cut_short}, stops=without, unlocated=counted.unlocated)
    dense, sparse = _path_table(source.plan, counted, target.plan)
    ended = {prefix: times for prefix, times in counted.prefixes.items() if times}
    registers = _registers(source, ended, target)
    return FunctionCounts(
        counters=SparseCounters(target.plan.slots, values | dense),
        active=counted.active,
        prefixes=_sums(((prefix[0], registers[prefix]), times) for prefix, times in ended.items()),
        sparse=sparse,
        stops=_sums(
            ((block, registers[block, register], position), times)
            for (block, register, position), times in stops.items()
            if (block, register) in registers
        ),
        unlocated=counted.unlocated,
    )


def portable_stops(
    source: FunctionFacts, stops: Mapping[Stop, int], target: FunctionFacts
) -> Mapping[Stop, int]:
    """The stops that mean the same in ``target``: a call does, a line only if blocks have the same lines."""

    def lines(facts: FunctionFacts, block: int) -> list[int]:
        return [ref.line for ref in facts.blocks[block].lines]

    return {
        stop: times
        for stop, times in stops.items()
        if stop[2] >= 0 or lines(source, stop[0]) == lines(target, stop[0])
    }


def _sums(amounts: Iterable[tuple[_K, int]]) -> dict[_K, int]:
    found: Counter[_K] = Counter()
    for key, times in amounts:
        found[key] += times
    return dict(found)


def counter_values(
    facts: FunctionFacts, blocks: Sequence[int], edges: Sequence[int | None], early: Mapping[int, int]
) -> dict[int, int]:
    """What the counters of a plan, other than those of paths, hold if blocks and edges have these counts."""
    values: dict[int, int] = {}
    for slot, measure in enumerate(facts.plan.measures):
        if isinstance(measure, BlockMeasure):
            ended = sum(early.values()) if measure.block == facts.graph.exit else 0
            value: int | None = blocks[measure.block] - ended
        else:
            value = edges[measure.edge]
        if value is None:
            raise NotTransferable(NO_EDGES)
        if value < 0:
            raise NotTransferable(CONTRADICTORY)
        if value:
            values[slot] = value
    return values


def _path_table(
    theirs: Plan, counted: FunctionCounts, ours: Plan
) -> tuple[dict[int, int], dict[int, PathTotals]]:
    """The paths of either table, dense or sparse, as counters by slot or as the sparse table of ``ours``."""
    assert ours.paths is not None
    number, first = ours.paths.number, len(theirs.measures)
    counts = Counter({path: count for path, (count, _) in counted.sparse.items()})
    cycles = Counter({path: spent for path, (_, spent) in counted.sparse.items()})
    for slot, value in nonzero(counted.counters):
        if slot >= first:
            timed, path = divmod(slot - first, number)
            (cycles if timed else counts)[path] += value
    if not ours.paths.timed:
        cycles.clear()
    if not ours.paths.dense:
        return {}, {path: (counts[path], cycles[path]) for path in dict.fromkeys((*counts, *cycles))}
    if any(path >= number for path in (*counts, *cycles)):
        raise NotTransferable(CONTRADICTORY)
    first = len(ours.measures)
    table = {first + path: count for path, count in counts.items() if count}
    return table | {first + number + path: spent for path, spent in cycles.items() if spent}, {}


def _registers(
    source: FunctionFacts, prefixes: Iterable[Prefix], target: FunctionFacts
) -> dict[Prefix, int | None]:
    """Each path that was cut short: from the register of one plan, by the sum of values, to the other's."""
    wanted = list(prefixes)
    if not wanted:
        return {}
    assert target.plan.paths is not None
    try:
        numbering = Numbering(target.graph, target.plan.paths, LARGEST)
    except ValueError as error:
        raise NotTransferable(CONTRADICTORY) from error
    theirs = PrefixDecoder(source.graph, source.plan, numbering)
    ours = PrefixDecoder(target.graph, target.plan, numbering)
    found: dict[Prefix, int | None] = {}
    for block, register in wanted:
        total = theirs.sum_of(block, register)
        prefix = None if total is None else ours.prefix_of(block, total)
        if prefix is None:
            raise NotTransferable(_UNDECODED)
        kept = canonical_register(target, *prefix)
        if prefix[1] is not None and kept != prefix[1]:
            raise NotTransferable(_UNDECODED)
        found[block, register] = kept
    return found
