"""Paths that extend over calls and returns (TZG04 §3).

Type I is the prefix with which a caller reached a call, and the path that starts in the callee.  Type II is
the path with which a callee returned, and what its caller did behind the call.  Both parts have numbers of
their own, because the callee of a call may be unknown until it runs; what is counted has a key of four parts:
callee, call site, path in the callee and path in the caller.  Prefixes are named as those of paths that were
cut short are (:mod:`trodden.plan.paths.prefixes`), so the part in the caller of type I costs nothing until
the call.

*Protocol.*  Before a call the caller publishes call site, prefix and whom the call is meant for.  A callee
takes that on entry, and removes it, only if it was meant for it: code without probes may call back, and
whoever is called then continues nothing.  When the last path of a callee ends, the callee publishes itself
and the path. Behind the call the caller takes this only if the callee is whom it called.  Publishing a call
removes what earlier callees have left there.  Nothing is taken on landing pads and behind calls that return
twice.

*What the paper leaves open.*  Overlaps of type II end at the next call site of the caller, because another
overlap begins there.  Those of type I do not: the calls of a callee are part of its path.  The ways on from a
call are the edges on which it may return, so that a landing pad makes no predicate of a call site; a self
loop is no way on.  A tail call, which returns to somebody else, is no call site; and a block has one call
site at most, the last of its calls.

Calls have to be in blocks where paths may be cut short, so that no path is counted before its last call.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from trodden.graph.cfg import Graph
from trodden.plan.overlap_probes import (
    AddOverlap,
    BumpOverlap,
    Channel,
    ClearOverlap,
    CountPredicate,
    PublishCall,
    PublishCallAt,
    PublishReturn,
    PublishReturnAt,
    TakeCall,
    TakeReturn,
)
from trodden.plan.overlapping.numbering import OverlapNumbering, ahead_of
from trodden.plan.overlapping.path_graph import Beginning, entry_path_graph, return_path_graph
from trodden.plan.overlapping.placement import PlacedOverlaps, place_overlaps
from trodden.plan.overlapping.region import Owner, Region, Ways, lay_out
from trodden.plan.paths.arc_values import ArcValues
from trodden.plan.paths.chords import Increments, chord_increments
from trodden.plan.paths.dag import ArcKind, Dag
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.paths.placement import signed
from trodden.plan.paths.prefixes import RegisterOffset, SinglePrefix, register_offsets
from trodden.plan.probes import Bump, BumpAt, Plan, Probe


class CallSite(NamedTuple):
    """A call at the end of a block: the number of its site, and the edges on which it may return."""

    site: int
    block: int
    ways: tuple[int, ...]


class CallNumbering(ArcValues):
    """The numbers of overlaps that begin at the entry of a procedure, or behind its calls.

    Overlaps that begin in different places have the same numbers.
    """

    def __init__(self, dag: Dag) -> None:
        super().__init__(dag, LARGEST, separate_starts=True)
        self._begins = {dag.arcs[number].of: number for number in dag.outs[dag.entry]}

    def paths(self, block: int) -> int:
        """How many numbers the overlaps that begin at a block have."""
        return self.paths_from[self.dag.arcs[self._begins[block]].dst]

    def overlap(self, block: int, number: int) -> tuple[tuple[int, ...], int | None]:
        """The edges of an overlap that began at a block, and where it stopped."""
        if not 0 <= number < self.paths(block):
            raise ValueError(f"{self.dag.graph.name}: there is no overlap {number}")
        node = self.dag.arcs[self._begins[block]].dst
        return ahead_of(self.dag.arcs[arc] for arc, _ in self.follow(node, number))

    def start(self, increments: Increments, block: int) -> int:
        """What the register holds where an overlap begins."""
        return signed(increments.chords.get(self._begins[block], 0))


def with_entries(
    plan: Plan,
    numbering: Numbering,
    weights: Sequence[float],
    sites: Sequence[CallSite],
    degree: int | None,
    may_be_cut_short: Collection[int] = frozenset(),
) -> tuple[Plan, CallNumbering]:
    """Add what type I needs to a plan for paths: I-OL-k, in the role of the callee and in that of the caller.

    ``numbering`` is that of the plan.
    """
    dag = _plain(numbering)
    root = dag.graph.root
    owner = Owner(root, 1, degree, lambda _: True)
    region = lay_out(Ways(dag), [(owner, {root: 1})], may_be_cut_short)
    values = CallNumbering(entry_path_graph(region))
    increments = chord_increments(values, weights)
    placed = _placed(region, Channel.ENTERED, values, increments, degree)
    on_edges = _merged(plan, placed, dag, Channel.ENTERED, {})
    on_blocks = {block: tuple(probes) for block, probes in plan.on_blocks.items()}
    offsets = register_offsets(dag.graph, plan, numbering)
    reached = set(dag.order)
    for site in sites:
        if site.block in reached:
            publish = _publish_call(dag.graph, site, offsets[site.block])
            on_blocks[site.block] = (*on_blocks.get(site.block, ()), publish)
    on_entry = (TakeCall(values.start(increments, root)), *plan.on_entry)
    return replace(plan, on_edges=on_edges, on_blocks=on_blocks, on_entry=on_entry), values


def with_returns(
    plan: Plan,
    numbering: Numbering,
    weights: Sequence[float],
    sites: Sequence[CallSite],
    degree: int | None,
    may_be_cut_short: Collection[int] = frozenset(),
) -> tuple[Plan, CallNumbering]:
    """Add what type II needs to a plan for paths: II-OL-k, in both roles."""
    dag = _plain(numbering)
    edges = dag.graph.edges
    calling = {site.block for site in sites}
    assert plan.paths is not None
    reached, resumed = set(dag.order), plan.paths.resume_edges
    ways = Ways(dag)
    live = [
        site._replace(
            ways=tuple(edge for edge in site.ways if edge in ways.out(site.block) and edge not in resumed)
        )
        for site in sites
        if site.block in reached
    ]
    owner = Owner(dag.graph.root, 1, degree, lambda edge: edges[edge].src not in calling)
    begins, arrivals, counted = _beginnings(ways, owner, live)
    region = lay_out(ways, [(owner, arrivals)], may_be_cut_short)
    values = CallNumbering(return_path_graph(region, begins))
    increments = chord_increments(values, weights)
    placed = _placed(region, Channel.RETURNED, values, increments, degree)
    adds = _adds(values, increments)
    behind: dict[int, list[Probe]] = {}
    for site in live:
        for edge in site.ways:
            behind[edge] = [TakeReturn(site.site, values.start(increments, site.block))]
            if edge not in ways.onward(site.block):
                behind[edge].append(BumpOverlap(Channel.RETURNED, 0))
                continue
            if site.block in counted and edges[edge].dst in placed.counting:
                behind[edge].append(CountPredicate(Channel.RETURNED))
            if edge in begins[site.block].onward and adds.get(edge):
                behind[edge].append(AddOverlap(Channel.RETURNED, signed(adds[edge])))
    on_edges = _merged(_publishing(plan, dag), placed, dag, Channel.RETURNED, behind)
    on_entry = (ClearOverlap(Channel.RETURNED), *_with_publications(plan.on_entry))
    return replace(plan, on_edges=on_edges, on_entry=on_entry), values


def _plain(numbering: Numbering) -> Dag:
    return numbering.plain if isinstance(numbering, OverlapNumbering) else numbering.dag


def _beginnings(
    ways: Ways, owner: Owner, sites: Sequence[CallSite]
) -> tuple[dict[int, Beginning], dict[int, int], set[int]]:
    """How overlaps begin behind each call, ``passed`` where they arrive, and the calls that are predicates.

    None begins behind a call from which control arrives only by edges that it may take without a return.
    """
    edges = ways.dag.graph.edges
    begins: dict[int, Beginning] = {}
    arrivals: dict[int, int] = {}
    counted: set[int] = set()
    for site in sites:
        block = site.block
        if not site.ways:
            continue
        onward = [edge for edge in site.ways if edge in ways.onward(block)]
        predicate = len(site.ways) != 1 or not onward
        if predicate:
            counted.add(block)
        passed = owner.beyond(1, predicate)
        for edge in onward:
            arrivals[edges[edge].dst] = arrivals.get(edges[edge].dst, 0) | passed
        active = bool(owner.active(passed))
        stops = len(onward) < len(site.ways) or not active
        begins[block] = Beginning(tuple(onward) if active else (), stops)
    return begins, arrivals, counted


def _adds(values: CallNumbering, increments: Increments) -> dict[int, int]:
    return {
        arc.of: increments.chords.get(number, 0)
        for number, arc in enumerate(values.dag.arcs)
        if arc.kind is ArcKind.AHEAD
    }


def _placed(
    region: Region, channel: Channel, values: CallNumbering, increments: Increments, degree: int | None
) -> PlacedOverlaps:
    return place_overlaps(region, channel, _adds(values, increments), degree or 0)


def _merged(
    plan: Plan, placed: PlacedOverlaps, dag: Dag, channel: Channel, behind: Mapping[int, list[Probe]]
) -> dict[int, tuple[Probe, ...]]:
    """The probes of a plan with those of a channel before them; ``behind`` are those that begin overlaps."""
    assert plan.paths is not None
    cleared = set(plan.paths.resume_edges) & dag.removed
    on_edges = {edge: tuple(probes) for edge, probes in plan.on_edges.items()}
    for edge in sorted({*placed.ends, *placed.steps, *behind, *cleared}):
        first: list[Probe] = [placed.ends[edge]] if edge in placed.ends else []
        first += [ClearOverlap(channel)] if edge in cleared else []
        first += placed.steps.get(edge, [])
        on_edges[edge] = (*first, *behind.get(edge, ()), *on_edges.get(edge, ()))
    return dict(sorted(on_edges.items()))


def _publish_call(graph: Graph, site: CallSite, offset: SinglePrefix | RegisterOffset | None) -> Probe:
    match offset:
        case SinglePrefix(number):
            return PublishCallAt(site.site, number)
        case RegisterOffset(amount):
            return PublishCall(site.site, signed(-amount))
        case None:
            raise ValueError(f"{graph.name}: a path is counted before its call in block {site.block}")


def _publishing(plan: Plan, dag: Dag) -> Plan:
    """A plan that publishes each path that it counts where a path may end in EXIT.

    A path that ends otherwise is published in vain: the next one replaces it before the procedure returns.
    """
    leaving = {dag.graph.exit}
    for node in reversed(dag.order):
        arcs = (dag.arcs[number] for number in dag.outs[node])
        if any(arc.kind is ArcKind.REAL and arc.dst in leaving for arc in arcs):
            leaving.add(node)
    on_edges = {
        edge: _with_publications(probes)
        if edge not in dag.removed and dag.graph.edges[edge].dst in leaving
        else tuple(probes)
        for edge, probes in plan.on_edges.items()
    }
    return replace(plan, on_edges=on_edges)


def _with_publications(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    found: list[Probe] = []
    for probe in probes:
        found.append(probe)
        match probe:
            case Bump(add):
                found.append(PublishReturn(add))
            case BumpAt(path):
                found.append(PublishReturnAt(path))
    return tuple(found)
