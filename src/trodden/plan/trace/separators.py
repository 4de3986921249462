"""The separator rule: between what is only known together, something is written.

Witnesses, numbers and bits tell which way an activation took.  Besides them, a reader has to know whose
records come next: whatever is entered has been called by the call that the reader is waiting in.  So an
activation writes something between two of its calls, and between a call and its end, if code without probes
may have called it.  And each turn of a cycle writes something, or nobody could tell how many there were.
"""

from __future__ import annotations

from collections.abc import Iterable

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.components import strong_components
from trodden.graph.reach import sweep
from trodden.graph.traverse import reachable
from trodden.plan.probes import (
    EmitBits,
    EmitRegion,
    EmitRegionAt,
    EmitTripCount,
    EmitWitness,
    FlushBits,
    Plan,
    Probe,
    Trace,
)


def writes(probes: Iterable[Probe]) -> bool:
    """Whether the probes certainly write a record."""
    return any(
        isinstance(probe, EmitRegion | EmitRegionAt | EmitTripCount | EmitWitness)
        or (isinstance(probe, FlushBits) and probe.forced)
        for probe in probes
    )


def quiet_edges(graph: Graph, plan: Plan) -> list[int]:
    """The edges on which nothing is written, nor in the block that they lead to.

    Beside the probes, a record tells that a call has returned which may return twice, or was left for a
    landing pad.  An edge from a call block to EXIT is never taken: the call does not return to its block.
    """
    trace = plan.trace or Trace("")
    reached = reachable(graph)
    found = []
    for index, (src, dst, kind) in enumerate(graph.edges):
        probes = (*plan.on_edges.get(index, ()), *plan.on_blocks.get(dst, ()))
        if kind is not EdgeKind.FLOW or src not in reached or writes(probes):
            continue
        if src in trace.calls and (src in trace.resumes or dst in trace.landings or dst == graph.exit):
            continue
        found.append(index)
    return found


def unseparated(graph: Graph, plan: Plan) -> list[int]:
    """The call blocks, and EXIT, that can be reached from a call although nothing is written on the way."""
    trace = plan.trace or Trace("")
    onward: list[list[int]] = [[] for _ in graph.labels]
    behind = set()
    for index in quiet_edges(graph, plan):
        src, dst, _ = graph.edges[index]
        if src in trace.calls:
            behind.add(dst)
        else:
            onward[src].append(dst)
    quiet = {block for block in trace.calls if not writes(plan.on_blocks.get(block, ()))}
    if trace.entered:
        quiet.add(graph.exit)
    return sorted(sweep(onward, behind) & quiet)


def uncounted_cycles(graph: Graph, plan: Plan) -> list[list[int]]:
    """The blocks of each part of the graph where control can go round without writing anything.

    Turns of counted self loops are written where they are left, bits that wait are written later.
    """
    trace = plan.trace or Trace("")
    onward: list[list[int]] = [[] for _ in graph.labels]
    loops = set()
    for index in quiet_edges(graph, plan):
        src, dst, _ = graph.edges[index]
        told = any(isinstance(probe, EmitBits) for probe in plan.on_edges.get(index, ()))
        if told or index in trace.counted or (src in trace.calls and writes(plan.on_blocks.get(src, ()))):
            continue
        onward[src].append(dst)
        if src == dst:
            loops.add(src)
    components = strong_components(onward, sorted(reachable(graph)))
    return [members for members in components if len(members) > 1 or members[0] in loops]
