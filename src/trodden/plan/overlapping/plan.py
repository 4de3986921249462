"""Path profiles whose paths are extended over back edges (TZG04 §2).

``count[r]++`` on an extended back edge becomes ``ro = r + y``, and the path is counted together with its
overlap.  Nothing is counted twice: a plan of any degree determines the paths that a plan without overlaps
counts.  An overlap of degree 0 stops where a path starts, so loops of degree 0 are left as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from trodden.graph.cfg import Graph
from trodden.plan.overlap_probes import (
    Channel,
    ClearOverlap,
    Overlaps,
    StartOverlap,
    StartOverlapAt,
)
from trodden.plan.overlapping.loops import LoopNest, affordable, extended_edges, largest_degree, loop_headers
from trodden.plan.overlapping.numbering import OverlapNumbering, loop_region
from trodden.plan.overlapping.path_graph import loop_path_graph
from trodden.plan.overlapping.placement import place_overlaps
from trodden.plan.overlapping.region import Ways
from trodden.plan.paths.chords import Increments, chord_increments
from trodden.plan.paths.dag import ArcKind, Dag
from trodden.plan.paths.limits import DEFAULT_LIMIT, DENSE
from trodden.plan.paths.numbering import LARGEST, count_dag_paths
from trodden.plan.paths.placement import PlacedProbes, place_probes, single_prefixes
from trodden.plan.paths.plan import choose_paths, with_self_loops
from trodden.plan.paths.unused import drop_unused
from trodden.plan.probes import CountableLoop, Paths, Plan, Probe

Degrees = Mapping[int, int | None] | int | None
"""A degree for the loop of each header, or one for all loops; ``None`` is the largest possible degree."""


def overlapping_plan(
    graph: Graph,
    weights: Sequence[float],
    degrees: Degrees,
    *,
    limit: int | None = DEFAULT_LIMIT,
    most: int = LARGEST,
    dense: int = DENSE,
    may_be_cut_short: Collection[int] = frozenset(),
    stack_slots: bool = True,
    resume_edges: Sequence[int] = (),
    rule: str = "cheapest",
    countable_loops: Sequence[CountableLoop] = (),
) -> Plan:
    """Number the overlapping paths of a procedure and place the probes that count them.

    Paths are cut as :func:`~trodden.plan.paths.plan.path_plan` cuts them.  If there are more than ``most``
    overlapping paths, the degrees are lowered: no loop keeps a degree above the largest one with which they
    fit.  Without ``stack_slots``, in which the register of an overlap could be kept, no path of a loop in
    which one may be cut short is extended.
    """
    paths, dag = choose_paths(
        graph,
        weights,
        limit=limit,
        may_be_cut_short=may_be_cut_short,
        stack_slots=stack_slots,
        resume_edges=resume_edges,
        rule=rule,
    )
    never = frozenset() if stack_slots else frozenset(may_be_cut_short)
    fitting = fitting_degrees(dag, paths, degrees, most, never)
    overlaps = Overlaps(tuple(sorted(fitting.items())))
    numbering = OverlapNumbering(graph, paths, overlaps, LARGEST, dag)
    increments = chord_increments(numbering, weights)
    uncounted = {*may_be_cut_short, *numbering.region.owners}
    placed = place_probes(numbering, increments, uncounted)
    _add_overlaps(numbering, increments, placed)
    placed = drop_unused(numbering.dag, placed, set(may_be_cut_short) - single_prefixes(numbering).keys())
    paths = replace(paths, number=numbering.whole.number, dense=numbering.number <= dense)
    overlaps = replace(overlaps, number=numbering.number)
    plan = Plan("overlapping", (), paths=paths, overlaps=overlaps)
    return with_self_loops(graph, plan, placed, weights, countable_loops)


def fitting_degrees(
    dag: Dag, paths: Paths, degrees: Degrees, most: int = LARGEST, never: Collection[int] = frozenset()
) -> dict[int, int | None]:
    """The degrees of the loops to extend, lowered until there are no more than ``most`` overlapping paths.

    A degree that reaches as far as the largest possible one becomes ``None``, since it needs no counting.
    Loops with blocks of ``never`` are not extended.
    """
    nest = LoopNest(dag.graph)
    headers = affordable(nest, loop_headers(dag, paths))
    headers = [h for h in headers if not any(nest.contains(h, block) for block in never)]
    ways = Ways(dag)
    largest = {header: largest_degree(ways, nest.owner(dag, header, None)) for header in headers}
    wanted = degrees if isinstance(degrees, Mapping) else dict.fromkeys(headers, degrees)

    def up_to(cap: int) -> dict[int, int | None]:
        found: dict[int, int | None] = {}
        for header in headers:
            asked = wanted.get(header, 0)
            degree = min(largest[header] if asked is None else asked, cap)
            if degree > 0 and largest[header] > 0:
                found[header] = None if degree >= largest[header] else degree
        return found

    def fits(cap: int) -> bool:
        chosen = up_to(cap)
        extended = extended_edges(dag, chosen, paths)
        region = loop_region(dag, nest, chosen, extended)
        return count_dag_paths(loop_path_graph(region, extended), most) <= most

    low, high = 0, max(largest.values(), default=0)
    if fits(high):
        return up_to(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return up_to(low)


def _add_overlaps(numbering: OverlapNumbering, increments: Increments, placed: PlacedProbes) -> None:
    """Add the probes of overlaps to those of paths.

    On an edge the overlap before is counted first; then the path that ends becomes that of the next overlap,
    and last the next path starts.  Behind a resume edge, where control may arrive from anywhere, no overlap
    is active.
    """
    if not numbering.extended:
        return
    degrees = dict(numbering.overlaps.degrees)
    limit = max((degree for degree in degrees.values() if degree is not None), default=0)
    adds = {
        arc.of: increments.chords.get(number, 0)
        for number, arc in enumerate(numbering.dag.arcs)
        if arc.kind is ArcKind.AHEAD
    }
    overlaps = place_overlaps(numbering.region, Channel.LOOP, adds, limit)
    for edge, header in numbering.extended.items():
        degree = degrees[header]
        enough = limit and len(numbering.graph.labels)
        passed = limit - (enough if degree is None else degree)
        placed.on_edges[edge] = [
            _belonging(probe, passed, numbering.nest.depth(header)) for probe in placed.on_edges[edge]
        ]
    cleared = set(numbering.paths.resume_edges) & numbering.dag.removed
    for edge in sorted({*overlaps.ends, *overlaps.steps, *cleared}):
        before: list[Probe] = [overlaps.ends[edge]] if edge in overlaps.ends else []
        before += [ClearOverlap(Channel.LOOP)] if edge in cleared else []
        placed.on_edges[edge] = before + overlaps.steps.get(edge, []) + placed.on_edges.get(edge, [])
    placed.on_entry.insert(0, ClearOverlap(Channel.LOOP))


def _belonging(probe: Probe, passed: int, depth: int) -> Probe:
    """The start of an overlap with what its loop adds to it."""
    if isinstance(probe, StartOverlap | StartOverlapAt):
        return replace(probe, passed=passed, depth=depth)
    return probe
