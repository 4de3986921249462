"""What becomes of a graph and its plan when some blocks get copies, each for one value of the path register.

Where the register is known no code is needed to carry it: not on the way that control takes most, if the
blocks of that way are there twice, once for whoever comes with the usual value and once for all others.  An
edge that arrives with the value of a copy leads to the copy; what is behind it is known in turn.  So a loop
that is entered in one way and turns in another gets its first turn apart, and a hot way through a procedure
ends in an increment at a fixed address, with nothing before it.

Copies are code only: counters, paths and everything that is told of a profile belong to the graph as it was.
Whoever reads where a frame stands makes the same graph anew from the same list of copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import starmap

from trodden.graph.cfg import Edge, EdgeKind, Graph, build
from trodden.plan.paths.path_register import Register, Value, track
from trodden.plan.probes import AddTrips, Paths, Plan, Probe

Copy = tuple[int, int]
"""A block, and what the path register holds in the copy of it."""


@dataclass(frozen=True)
class Copied:
    """The graph of the code, its blocks first and then the copies, and the plan that belongs to it.

    ``origins[v]`` is the block that vertex ``v`` stands for, ``edges[e]`` the edge that flow edge ``e``
    stands for; of a vertex that nothing leads to any more, one edge to EXIT is left that stands for none.
    """

    graph: Graph
    plan: Plan
    origins: tuple[int, ...]
    edges: tuple[int | None, ...]
    reached: frozenset[int]


def copied(graph: Graph, plan: Plan, copies: Sequence[Copy], register: Register | None = None) -> Copied:
    """The graph and the plan with copies of blocks; edges go to them wherever the register is known.

    ``register`` is what :func:`~trodden.plan.paths.path_register.track` says of the two, where that is known
    already.
    """
    size = graph.exit
    origins = (*range(size), *(block for block, _ in copies))
    leads = _led(graph, plan, copies, register or track(graph, plan))
    reached = _reached(leads, graph.root)
    exit_vertex = len(origins)
    flow: list[tuple[int, int]] = []
    stands: list[int | None] = []
    for vertex in range(exit_vertex):
        if vertex not in reached:
            flow.append((vertex, exit_vertex))
            stands.append(None)
            continue
        for edge, target in leads[vertex]:
            flow.append((vertex, target))
            stands.append(edge)
    labels = [f"b{number}" for number in range(exit_vertex)] + ["EXIT"]
    made = _built(graph, labels, flow)
    return Copied(made, _plan_for(made, plan, origins, stands), origins, tuple(stands), frozenset(reached))


def _built(graph: Graph, labels: Sequence[str], flow: Sequence[tuple[int, int]]) -> Graph:
    """The graph of the code; where every block can come to EXIT, every copy can, and need not be asked."""
    if any(edge.kind is EdgeKind.ENDLESS for edge in graph.edges):
        return build(graph.name, labels, flow, graph.root)
    edges = [*starmap(Edge, flow), Edge(len(labels) - 1, graph.root, EdgeKind.CLOSING)]
    return Graph(graph.name, tuple(labels), tuple(edges), graph.root)


def _led(graph: Graph, plan: Plan, copies: Sequence[Copy], register: Register) -> list[list[tuple[int, int]]]:
    """For every vertex its edges, each with the vertex that it leads to now."""
    number = {copy: graph.exit + place for place, copy in enumerate(copies)}
    exit_vertex = graph.exit + len(copies)
    held: list[tuple[int, Value | None]] = [(vertex, register.at[vertex]) for vertex in range(graph.exit)]
    held += [(block, Value(None, value)) for block, value in copies]
    leads: list[list[tuple[int, int]]] = []
    for origin, value in held:
        ways = []
        for edge in graph.out_edges[origin]:
            _, target, kind = graph.edges[edge]
            if kind is not EdgeKind.FLOW:
                continue
            after = register.after(value, plan.on_edges.get(edge, ()))
            if target == graph.exit:
                target = exit_vertex
            elif after is not None and after.base is None:
                target = number.get((target, after.add), target)
            ways.append((edge, target))
        leads.append(ways)
    return leads


def _reached(leads: Sequence[Sequence[tuple[int, int]]], root: int) -> set[int]:
    found = {root}
    waiting = [root]
    while waiting:
        for _, target in leads[waiting.pop()]:
            if target not in found and target < len(leads):
                found.add(target)
                waiting.append(target)
    return found


def _plan_for(made: Graph, plan: Plan, origins: Sequence[int], stands: Sequence[int | None]) -> Plan:
    turning = {
        (edge.src, stands[index]): index
        for index, edge in enumerate(made.edges)
        if edge.kind is EdgeKind.FLOW and edge.src == edge.dst
    }

    def moved(probe: Probe, source: int) -> Probe:
        if isinstance(probe, AddTrips):
            return AddTrips(probe.slot, turning[source, probe.back_edge])
        return probe

    on_edges = {
        index: tuple(moved(probe, made.edges[index].src) for probe in plan.on_edges[edge])
        for index, edge in enumerate(stands)
        if edge is not None and edge in plan.on_edges
    }
    on_blocks = {
        vertex: plan.on_blocks[origin] for vertex, origin in enumerate(origins) if origin in plan.on_blocks
    }
    paths = _paths_for(plan.paths, stands) if plan.paths is not None else None
    return replace(plan, on_edges=on_edges, on_blocks=on_blocks, paths=paths)


def _paths_for(paths: Paths, stands: Sequence[int | None]) -> Paths:
    def those(edges: Sequence[int]) -> tuple[int, ...]:
        wanted = set(edges)
        return tuple(index for index, edge in enumerate(stands) if edge in wanted)

    return replace(
        paths,
        back_edges=those(paths.back_edges),
        cuts=those(paths.cuts),
        handlers=those(paths.handlers),
    )
