"""Paths that extend over calls and returns (TZG04 §3).

Type I is the prefix with which a caller reached a call, and the path that starts in the callee.  Type II is
the path with which a callee returned, and what its caller did behind the call.  Both parts have numbers of
their own, because the callee of a call may be unknown until it runs; what is counted has a key of four parts:
callee, call site, path in the callee and path in the caller.  Prefixes are named as those of paths that were
cut short are (:mod:`trodden.plan.paths.prefixes`), so the part in the caller of type I costs nothing until
the call.

How caller and callee tell each other is in :mod:`trodden.plan.overlapping.protocol`.

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

from trodden.plan.overlap_probes import (
    AddOverlap,
    BumpOverlap,
    CallOverlaps,
    CallSite,
    Channel,
    ClearOverlap,
    CountPredicate,
    TakeCall,
    TakeReturn,
)
from trodden.plan.overlapping.loop_paths import up_to_degree
from trodden.plan.overlapping.numbering import ahead_of
from trodden.plan.overlapping.path_graph import Beginning, entry_path_graph, return_path_graph
from trodden.plan.overlapping.placement import PlacedOverlaps, place_overlaps
from trodden.plan.overlapping.protocol import (
    plain_dag,
    publishing_calls,
    publishing_returns,
    returning_sites,
)
from trodden.plan.overlapping.region import Owner, Region, Ways, lay_out
from trodden.plan.paths.arc_values import ArcValues
from trodden.plan.paths.chords import Increments, chord_increments
from trodden.plan.paths.dag import ArcKind, Dag
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.paths.placement import signed
from trodden.plan.probes import Plan, Probe


class CallNumbering(ArcValues):
    """The numbers of overlaps that begin at the entry of a procedure, or behind its calls.

    Overlaps that begin in different places have the same numbers.
    """

    def __init__(self, dag: Dag, ways: Ways, owner: Owner, behind: Mapping[int, bool] | None = None) -> None:
        """``behind`` says of calls whether they are predicates; without it overlaps begin at the entry."""
        super().__init__(dag, LARGEST, separate_starts=True)
        self._ways = ways
        self._owner = owner
        self._behind = behind
        self._begins = {dag.arcs[number].of: number for number in dag.outs[dag.entry]}

    def paths(self, block: int) -> int:
        """How many numbers the overlaps that begin at a block have."""
        return self.paths_from[self.dag.arcs[self._begins[block]].dst]

    def paths_behind(self, block: int) -> int:
        """The same, or 1 for a block behind which none begins."""
        return self.paths(block) if block in self._begins else 1

    def overlap(self, block: int, number: int) -> tuple[tuple[int, ...], int | None]:
        """The edges of an overlap that began at a block, and where it stopped."""
        if not 0 <= number < self.paths(block):
            raise ValueError(f"{self.dag.graph.name}: there is no overlap {number}")
        node = self.dag.arcs[self._begins[block]].dst
        return ahead_of(self.dag.arcs[arc] for arc, _ in self.follow(node, number))

    def beginning(self, block: int, edges: Sequence[int], whole: bool = False) -> tuple[int, ...]:
        """The edges of the overlap that begins at a block, of a path that goes on like this; ``whole``: of
        the largest degree.
        """
        owner = replace(self._owner, degree=None) if whole else self._owner
        return up_to_degree(self._ways, owner, edges, None if self._behind is None else self._behind[block])

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
    dag = plain_dag(numbering)
    root = dag.graph.root
    region, values = _entries(dag, degree, may_be_cut_short)
    increments = chord_increments(values, weights)
    placed = _placed(region, Channel.ENTERED, values, increments, degree)
    on_edges = _merged(plan, placed, dag, Channel.ENTERED, {})
    on_blocks = publishing_calls(plan, numbering, dag, sites)
    on_entry = (TakeCall(values.start(increments, root)), *plan.on_entry)
    calls = replace(_told(plan, sites, may_be_cut_short), entered=degree)
    return replace(plan, on_edges=on_edges, on_blocks=on_blocks, on_entry=on_entry, calls=calls), values


def _entries(dag: Dag, degree: int | None, stops: Collection[int]) -> tuple[Region, CallNumbering]:
    root = dag.graph.root
    owner = Owner(root, 1, degree, lambda _: True)
    region = lay_out(Ways(dag), [(owner, {root: 1})], stops)
    return region, CallNumbering(entry_path_graph(region), region.ways, owner)


def entry_numbers(numbering: Numbering, calls: CallOverlaps) -> CallNumbering:
    """The numbers of overlaps of type I in a procedure with this numbering of paths, as its callee."""
    return _entries(plain_dag(numbering), calls.entered, calls.stops)[1]


def return_numbers(plan: Plan, numbering: Numbering, calls: CallOverlaps) -> CallNumbering:
    """The numbers of overlaps of type II, behind the calls of a procedure."""
    return _returns(plan, plain_dag(numbering), calls.sites, calls.returned, calls.stops)[-1]


def with_returns(
    plan: Plan,
    numbering: Numbering,
    weights: Sequence[float],
    sites: Sequence[CallSite],
    degree: int | None,
    may_be_cut_short: Collection[int] = frozenset(),
) -> tuple[Plan, CallNumbering]:
    """Add what type II needs to a plan for paths: II-OL-k, in both roles."""
    dag = plain_dag(numbering)
    edges = dag.graph.edges
    live, begins, counted, region, values = _returns(plan, dag, sites, degree, may_be_cut_short)
    ways = region.ways
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
            if counted[site.block] and edges[edge].dst in placed.counting:
                behind[edge].append(CountPredicate(Channel.RETURNED))
            if edge in begins[site.block].onward and adds.get(edge):
                behind[edge].append(AddOverlap(Channel.RETURNED, signed(adds[edge])))
    plan = publishing_returns(plan, dag)
    on_edges = _merged(plan, placed, dag, Channel.RETURNED, behind)
    on_entry = (ClearOverlap(Channel.RETURNED), *plan.on_entry)
    calls = replace(_told(plan, sites, may_be_cut_short), returned=degree)
    return replace(plan, on_edges=on_edges, on_entry=on_entry, calls=calls), values


def _returns(
    plan: Plan, dag: Dag, sites: Sequence[CallSite], degree: int | None, stops: Collection[int]
) -> tuple[list[CallSite], dict[int, Beginning], dict[int, bool], Region, CallNumbering]:
    """The sites that return, how overlaps begin behind them, which are predicates; and what follows."""
    edges = dag.graph.edges
    calling = {site.block for site in sites}
    ways = Ways(dag)
    live = returning_sites(plan, ways, sites)
    owner = Owner(dag.graph.root, 1, degree, lambda edge: edges[edge].src not in calling)
    begins, arrivals, counted = _beginnings(ways, owner, live)
    region = lay_out(ways, [(owner, arrivals)], stops)
    values = CallNumbering(return_path_graph(region, begins), ways, owner, counted)
    return live, begins, counted, region, values


def _told(plan: Plan, sites: Sequence[CallSite], stops: Collection[int]) -> CallOverlaps:
    """What the plan says so far of what it counts over calls."""
    known = plan.calls or CallOverlaps()
    return replace(known, sites=tuple(sites), extended=True, stops=tuple(sorted(stops)))


def _beginnings(
    ways: Ways, owner: Owner, sites: Sequence[CallSite]
) -> tuple[dict[int, Beginning], dict[int, int], dict[int, bool]]:
    """How overlaps begin behind each call, ``passed`` where they arrive, and whether calls are predicates.

    None begins behind a call from which control arrives only by edges that it may take without a return.
    """
    edges = ways.dag.graph.edges
    begins: dict[int, Beginning] = {}
    arrivals: dict[int, int] = {}
    counted: dict[int, bool] = {}
    for site in sites:
        block = site.block
        if not site.ways:
            continue
        onward = [edge for edge in site.ways if edge in ways.onward(block)]
        predicate = len(site.ways) != 1 or not onward
        counted[block] = predicate
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
