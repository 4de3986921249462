"""Where overlaps are counted, added to and numbered on the edges of a procedure (TZG04 §2.3).

Additions follow the rules of the paper: none on a DNI edge, one on a DI edge, and on a PI edge one that asks
for the predicate counter.  The counter is kept only where such a test lies ahead.  TZG04 tests ``ol < k``,
but by its own definition an edge behind k predicates is still part of the overlap, so the test here is ``ol
<= k``.

An overlap is counted on the edge that ends it, if there is one: every block can be reached from the entry
without a back edge, so that there need not be.  On the exit of an inner loop the overlap may be that of the
inner loop, which ends, or that of an outer one, which goes on; their depths tell them apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trodden.plan.overlap_probes import AddOverlap, BumpOverlap, Channel, CountPredicate
from trodden.plan.overlapping.region import Region
from trodden.plan.paths.placement import signed
from trodden.plan.probes import Probe


@dataclass
class PlacedOverlaps:
    """The probes of a channel: what ends overlaps on an edge, and what follows those that go on.

    ``counting`` are the blocks before which the predicate counter has to be right.
    """

    ends: dict[int, BumpOverlap] = field(default_factory=dict)
    steps: dict[int, list[Probe]] = field(default_factory=dict)
    counting: set[int] = field(default_factory=set)


def place_overlaps(region: Region, channel: Channel, adds: Mapping[int, int], limit: int) -> PlacedOverlaps:
    """The probes of the overlaps of a region.

    ``adds`` has the increments of its edges, ``limit`` how many predicates an overlap may pass.
    """
    placed = PlacedOverlaps()
    blocks = [node for node in region.ways.dag.order if node < region.ways.dag.graph.exit]
    for block in blocks:
        for edge in region.ways.out(block):
            ends, goes_on = region.ended(edge)
            if ends:
                placed.ends[edge] = BumpOverlap(channel, max((owner.depth for owner in goes_on), default=0))
    _place_steps(region, channel, blocks, adds, limit, placed)
    return placed


def _place_steps(
    region: Region,
    channel: Channel,
    blocks: list[int],
    adds: Mapping[int, int],
    limit: int,
    placed: PlacedOverlaps,
) -> None:
    """One pass backward, with the blocks before which predicates have to be counted."""
    ways, edges = region.ways, region.ways.dag.graph.edges
    for block in reversed(blocks):
        for edge in ways.onward(block):
            if not region.ended(edge)[1]:
                continue
            value = adds.get(edge, 0)
            asks = value != 0 and region.ahead[edge]
            steps: list[Probe] = []
            if asks or edges[edge].dst in placed.counting:
                placed.counting.add(block)
                if ways.predicate(block):
                    steps.append(CountPredicate(channel))
            if value:
                steps.append(AddOverlap(channel, signed(value), limit if asks else None))
            if steps:
                placed.steps[edge] = steps
