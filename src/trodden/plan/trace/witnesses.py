"""Tracing by witnesses (BL94 §4.2): which edges write one, so that every predicate can be decided.

First the *blockers*: the edges on which predicates lead to a call or to EXIT with no other predicate in
between.  With a witness on each, what a predicate has to wait for has been written by its own activation.
Also the edges that leave a counted loop: only behind a witness is there a check for room, which the trip
count before it takes too, and a reader that begins there knows where control is.  Then the edges outside a
maximum spanning tree that has none of these: Trace(Ewit) is solved.  Last, where control leads from a call to
the next without passing a predicate, a witness behind the call (see :mod:`trodden.plan.trace.separators`).

Calls are at the ends of their blocks, so what is behind a call needs no edge in the tree: a predicate never
has to look there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.spanning import live_edges, maximum_spanning_tree
from trodden.graph.traverse import reachable
from trodden.plan.probes import EmitEntry, EmitWitness, Plan, Probe, Trace
from trodden.plan.trace.checked import checked_trace
from trodden.plan.trace.paths import countable, trip_counts
from trodden.plan.trace.predicates import witness_sets
from trodden.plan.trace.region_graph import check_trace, flow_out


def witness_plan(
    graph: Graph,
    weights: Sequence[float],
    calls: Mapping[int, int | None],
    *,
    counted: Collection[int] = (),
    resumes: Collection[int] = (),
    landings: Collection[int] = (),
    tails: Collection[int] = (),
    entered: bool = True,
    checked: bool = False,
    reuse: bool = False,
) -> Plan:
    """Place the witnesses of a procedure; the arguments are those of
    :func:`~trodden.plan.trace.paths.region_plan`.

    The most frequent edges have the smallest witnesses.  With ``reuse``, witnesses that are never
    alternatives have the same value.
    """
    trace = Trace(
        "witnesses",
        calls=dict(sorted(calls.items())),
        counted=countable(graph, calls, counted),
        resumes=tuple(sorted(resumes)),
        landings=tuple(sorted(landings)),
        entered=entered,
        tails=tuple(sorted(tails)),
    )
    check_trace(graph, trace)
    chosen = place_witnesses(graph, weights, trace)
    chosen |= separators(graph, trace, chosen)
    order = sorted(chosen, key=lambda edge: (-weights[edge], edge))
    trace = replace(trace, witnesses=tuple(order))
    if reuse:
        values = shared_values(graph, trace)
        trace = replace(trace, witness_values=tuple(values[edge] for edge in order))
    probes: dict[int, list[Probe]] = trip_counts(graph, trace.counted)
    for edge, value in witnesses_of(trace).items():
        probes.setdefault(edge, []).append(EmitWitness(value))
    on_edges = {edge: tuple(probes[edge]) for edge in sorted(probes)}
    plan = Plan("trace-witnesses", (), on_edges, on_entry=(EmitEntry(),) * entered, trace=trace)
    return checked_trace(plan, graph) if checked else plan


def witnesses_of(trace: Trace) -> dict[int, int]:
    """What each witnessed edge writes."""
    values = trace.witness_values or range(len(trace.witnesses))
    return dict(zip(trace.witnesses, values, strict=True))


def place_witnesses(graph: Graph, weights: Sequence[float], trace: Trace) -> set[int]:
    """Ewit in two phases: what needs a witness in any case, then what the spanning tree leaves out."""
    chosen = required(graph, trace)
    return chosen | outside_tree(graph, weights, trace, chosen)


def place_witnesses_tree_first(graph: Graph, weights: Sequence[float], trace: Trace) -> set[int]:
    """The phases in reverse (Figure 16 b): a spanning tree, then blockers where it has left paths open.

    That can cost more, because the tree does not know which of its edges will need a blocker.  As in the
    paper, it is a tree of the whole graph.
    """
    chosen = outside_tree(graph, weights, replace(trace, calls={}), behind_trip_counts(graph, trace))
    chosen |= behind_trip_counts(graph, trace)
    return chosen | blockers(graph, trace, {graph.exit, *trace.calls}, chosen)


def required(graph: Graph, trace: Trace) -> set[int]:
    """The edges that have a witness whatever they weigh: blockers, and those behind trip counts."""
    return blockers(graph, trace, {graph.exit, *trace.calls}) | behind_trip_counts(graph, trace)


def behind_trip_counts(graph: Graph, trace: Trace) -> set[int]:
    """The edges that leave counted loops."""
    return set(trip_counts(graph, trace.counted))


def blockers(
    graph: Graph, trace: Trace, targets: Collection[int], witnessed: Collection[int] = frozenset()
) -> set[int]:
    """The edges p -> x0 of paths p -> x0 -> ... -> xn without witnesses where xn is one of ``targets``, p is
    a predicate and x0 to x(n-1) are none; linear time.
    """
    reached = reachable(graph)
    predicates = {vertex for vertex in reached if decides(graph, trace, vertex)}
    found: set[int] = set()
    seen = set(targets)
    work = list(targets)
    while work:
        for index in graph.in_edges[work.pop()]:
            source, _, kind = graph.edges[index]
            passable = kind is EdgeKind.FLOW and source in reached and source not in trace.calls
            if not passable or index in witnessed or index in trace.counted:
                continue
            if source in predicates:
                found.add(index)
            elif source not in seen:
                seen.add(source)
                work.append(source)
    return found


def decides(graph: Graph, trace: Trace, vertex: int) -> bool:
    """Whether a vertex is a predicate, strictly: several edges leave it, counted loops aside.

    A call block is none: which way control has taken behind a call is recorded otherwise.
    """
    if vertex in trace.calls:
        return False
    return len([index for index in flow_out(graph, vertex) if index not in trace.counted]) > 1


def outside_tree(
    graph: Graph, weights: Sequence[float], trace: Trace, witnessed: Collection[int]
) -> set[int]:
    """The edges that a maximum spanning tree without the ``witnessed`` ones leaves out.

    Endless edges cannot write anything, so they are in the tree.
    """
    live = [
        index
        for index in live_edges(graph)
        if graph.edges[index].kind is EdgeKind.FLOW
        and index not in trace.counted
        and graph.edges[index].src not in trace.calls
    ]
    barred = set(range(len(graph.edges))).difference(live).union(witnessed)
    endless = [index for index, edge in enumerate(graph.edges) if edge.kind is EdgeKind.ENDLESS]
    tree = maximum_spanning_tree(graph, weights, endless, barred)
    return {index for index in live if index not in tree and index not in witnessed}


def separators(graph: Graph, trace: Trace, witnessed: Collection[int]) -> set[int]:
    """The edges behind calls from which control gets to another call, or to the end, without a witness.

    No such way passes a predicate, all of whose ways are blocked.  So there is one way from each call, and
    where these meet they weigh no less than the edges on which they have begun.
    """
    ends = {graph.exit} if trace.entered else set()
    quiet = _quietly_leading_to(graph, trace, {*trace.calls, *ends}, witnessed)
    found = set()
    for block in trace.calls.keys() & reachable(graph):
        for index in flow_out(graph, block):
            target = graph.edges[index].dst
            told = block in trace.resumes or target in trace.landings or target == graph.exit
            if target in quiet and not told and index not in witnessed:
                found.add(index)
    return found


def _quietly_leading_to(
    graph: Graph, trace: Trace, targets: Collection[int], witnessed: Collection[int]
) -> set[int]:
    """The blocks from which a path without records leads to ``targets``."""
    loops = {graph.edges[index].src for index in trace.counted}
    seen = set(targets)
    work = list(targets)
    while work:
        for index in graph.in_edges[work.pop()]:
            source, _, kind = graph.edges[index]
            writing = index in witnessed or source in loops or source in trace.calls
            if kind is EdgeKind.FLOW and not writing and source not in seen:
                seen.add(source)
                work.append(source)
    return seen


def witness_width(witnesses: int) -> int:
    """How many bits tell that many witnesses apart."""
    return max(witnesses - 1, 0).bit_length()


def shared_values(graph: Graph, trace: Trace) -> dict[int, int]:
    """Values for witnesses, the same for two of them unless a predicate has them on different ways.

    Colours are given greedily, in the order of the witnesses; in general that is not the fewest.  A value is
    tried if it is known on one of the same ways, or if no predicate has used up all values below it.
    """
    own = {edge: edge for edge in trace.witnesses}
    sets = witness_sets(graph, own, trace.calls, trace.counted)
    on_ways: dict[int, list[int]] = {edge: [] for edge in own}
    for way, witnesses in sets.items():
        for edge in witnesses:
            if edge in own:
                on_ways[edge].append(way)
    taken: dict[int, dict[int, int]] = {}
    of_way: dict[int, set[int]] = {}
    full_below: dict[int, int] = {}
    values: dict[int, int] = {}
    for edge in trace.witnesses:
        ways = [(taken.setdefault(graph.edges[way].src, {}), way) for way in on_ways[edge]]
        own_values = sorted(set().union(*(of_way.get(way, ()) for _, way in ways)))
        fresh = max((full_below.get(graph.edges[way].src, 0) for _, way in ways), default=0)
        value = next(
            value
            for value in chain(own_values, count(fresh))
            if all(used.get(value, way) == way for used, way in ways)
        )
        values[edge] = value
        for used, way in ways:
            used[value] = way
            of_way.setdefault(way, set()).add(value)
            predicate = graph.edges[way].src
            below = full_below.get(predicate, 0)
            while below in used:
                below += 1
            full_below[predicate] = below
    return values
