"""Fictitious overlaps: what the register of overlaps holds where there is none.

TZG04 asks at every end of an overlap whether there is one.  Instead an executor may let a fictitious overlap
begin wherever control is where an overlap could be and none is.  Its numbers are those of an overlap behind
a path with the number ``number``, which does not exist, so that it ends with ``number`` or more.  Then
nothing has to be asked: counters behind those of the paths, which nobody reads, count what is fictitious.

A fictitious overlap is like a real one of the outermost loop whose overlaps may be active in a block: it
stops where that would, and ends where that does.  So its registers follow the same rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from trodden.plan.overlap_probes import AddOverlap, Channel
from trodden.plan.overlapping.numbering import OverlapNumbering
from trodden.plan.overlapping.path_graph import overlap_nodes
from trodden.plan.overlapping.region import Owner
from trodden.plan.paths.dag import ArcKind
from trodden.plan.probes import Plan


class Start(NamedTuple):
    """What an overlap that begins in a block has: ``ro``, ``ol`` and its depth."""

    register: int
    passed: int
    depth: int


@dataclass(frozen=True)
class Fictitious:
    """The fictitious overlaps by the blocks where they begin, and how many numbers they have."""

    starts: Mapping[int, Start] = field(default_factory=dict)
    numbers: int = 0

    def at(self, origins: Mapping[int, int]) -> Fictitious:
        """The same for the blocks of code that are clones of these."""
        starts = {block: self.starts[origin] for block, origin in origins.items() if origin in self.starts}
        return Fictitious(starts, self.numbers)


NONE = Fictitious()


def fictitious_overlaps(plan: Plan, numbering: OverlapNumbering) -> Fictitious:
    """The fictitious overlaps of the loops of a plan, whose numbering this is."""
    if not numbering.extended:
        return NONE
    ahead = overlap_offsets(plan, numbering)
    nodes = overlap_nodes(numbering.region)
    begins = passed_at_start(numbering)
    limit = _limit(numbering)
    starts: dict[int, Start] = {}
    numbers = 1
    for block, here in numbering.region.owners.items():
        outermost, _ = min(here, key=lambda each: each[0].depth)
        active = [(owner, owner.active(bits)) for owner, bits in here if owner.active(bits)]
        if not active:
            starts[block] = Start(numbering.number, limit + 1, outermost.depth)
            continue
        owner, bits = min(active, key=lambda each: each[0].depth)
        passed = begins[owner] + _lowest_bit(bits)
        starts[block] = Start(numbering.number + ahead[block], passed, owner.depth)
        numbers = max(numbers, numbering.paths_from[nodes[block]])
    return Fictitious(starts, numbers)


def passed_at_start(numbering: OverlapNumbering) -> dict[Owner, int]:
    """What the predicate counter of overlaps is where they begin, by the loop that they belong to.

    One limit serves loops of different degrees; an overlap of the largest degree never reaches it.
    """
    limit = _limit(numbering)
    enough = limit and len(numbering.graph.labels)
    owners = {owner for here in numbering.region.owners.values() for owner, _ in here}
    return {owner: limit - (enough if owner.degree is None else owner.degree) for owner in owners}


def overlap_offsets(plan: Plan, numbering: OverlapNumbering) -> dict[int, int]:
    """By how much ``ro`` exceeds the sum of values, in each block where an overlap may be active.

    It follows from the probes: where an overlap stops its register is its number.
    """
    edges = numbering.graph.edges
    adds = {
        edge: sum(p.value for p in probes if isinstance(p, AddOverlap) and p.channel is Channel.LOOP)
        for edge, probes in plan.on_edges.items()
    }
    found: dict[int, int] = {}
    for block, node in reversed(overlap_nodes(numbering.region).items()):
        for number in numbering.dag.outs[node]:
            arc, value = numbering.dag.arcs[number], numbering.value[number]
            if arc.kind is ArcKind.STOP:
                found[block] = value
                break
            found[block] = value - adds.get(arc.of, 0) + found[edges[arc.of].dst]
    return found


def _limit(numbering: OverlapNumbering) -> int:
    return max((degree for _, degree in numbering.overlaps.degrees if degree is not None), default=0)


def _lowest_bit(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
