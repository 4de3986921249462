"""Block cloning: a graph and its plan with clones of some blocks, each for one value of the path register.

Where the register is known it needs no code.  It is known on the most frequent paths if their blocks are
cloned: the clone is for control that arrives with the usual value, the block itself for all other values.
An edge along which the register has the value of a clone leads to the clone, after which the register is
known in turn.  So a loop that is entered with one value and iterates with another has its first iteration
peeled, and a frequent path through a procedure ends in an increment at a fixed address, with nothing before
it.

Clones exist in the code only: counters, paths and whatever a profile reports belong to the original graph.
Locating an interrupted frame rebuilds the same graph from the same list of clones.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import starmap

from trodden.graph.cfg import Edge, EdgeKind, Graph, build
from trodden.plan.paths.path_register import Register, Value, track
from trodden.plan.probes import AddTripCount, Paths, Plan, Probe

Clone = tuple[int, int]
"""A block, and what the path register holds in this clone of it."""


@dataclass(frozen=True)
class ClonedGraph:
    """The graph of the code, its blocks first and then the clones, and the plan that belongs to it.

    ``origins[v]`` is the original block of vertex ``v``, ``edges[e]`` the original edge of flow edge ``e``;
    a vertex that has become unreachable keeps one edge to EXIT, which has no original.
    """

    graph: Graph
    plan: Plan
    origins: tuple[int, ...]
    edges: tuple[int | None, ...]
    reached: frozenset[int]


def clone_graph(
    graph: Graph, plan: Plan, clones: Sequence[Clone], register: Register | None = None
) -> ClonedGraph:
    """The graph and the plan with clones of blocks; edges lead to them wherever the register is known.

    ``register`` is the result of :func:`~trodden.plan.paths.path_register.track` for the two, where the
    caller has it.
    """
    size = graph.exit
    origins = (*range(size), *(block for block, _ in clones))
    out_edges = _redirected(graph, plan, clones, register or track(graph, plan))
    reached = _reached(out_edges, graph.root)
    exit_vertex = len(origins)
    flow: list[tuple[int, int]] = []
    original: list[int | None] = []
    for vertex in range(exit_vertex):
        if vertex not in reached:
            flow.append((vertex, exit_vertex))
            original.append(None)
            continue
        for edge, target in out_edges[vertex]:
            flow.append((vertex, target))
            original.append(edge)
    labels = [f"b{number}" for number in range(exit_vertex)] + ["EXIT"]
    result = _built(graph, labels, flow)
    new_plan = _plan_for(result, plan, origins, original, reached)
    return ClonedGraph(result, new_plan, origins, tuple(original), frozenset(reached))


def _built(graph: Graph, labels: Sequence[str], flow: Sequence[tuple[int, int]]) -> Graph:
    """The graph of the code; if every block can reach EXIT, so can every clone, without a check."""
    if any(edge.kind is EdgeKind.ENDLESS for edge in graph.edges):
        return build(graph.name, labels, flow, graph.root)
    edges = [*starmap(Edge, flow), Edge(len(labels) - 1, graph.root, EdgeKind.CLOSING)]
    return Graph(graph.name, tuple(labels), tuple(edges), graph.root)


def _redirected(
    graph: Graph, plan: Plan, clones: Sequence[Clone], register: Register
) -> list[list[tuple[int, int]]]:
    """The out-edges of every vertex, each with the vertex that it leads to now."""
    number = {clone: graph.exit + index for index, clone in enumerate(clones)}
    exit_vertex = graph.exit + len(clones)
    held: list[tuple[int, Value | None]] = [(vertex, register.at[vertex]) for vertex in range(graph.exit)]
    held += [(block, Value(None, value)) for block, value in clones]
    result: list[list[tuple[int, int]]] = []
    for origin, value in held:
        out_edges = []
        for edge in graph.out_edges[origin]:
            _, target, kind = graph.edges[edge]
            if kind is not EdgeKind.FLOW:
                continue
            after = register.after(value, plan.on_edges.get(edge, ()))
            if target == graph.exit:
                target = exit_vertex
            elif after is not None and after.base is None:
                target = number.get((target, after.add), target)
            out_edges.append((edge, target))
        result.append(out_edges)
    return result


def _reached(out_edges: Sequence[Sequence[tuple[int, int]]], root: int) -> set[int]:
    found = {root}
    waiting = [root]
    while waiting:
        for _, target in out_edges[waiting.pop()]:
            if target not in found and target < len(out_edges):
                found.add(target)
                waiting.append(target)
    return found


def _plan_for(
    graph: Graph,
    plan: Plan,
    origins: Sequence[int],
    original: Sequence[int | None],
    reached: Collection[int],
) -> Plan:
    """The plan for the graph of the code: the probes of an edge are on all edges that it has become.

    Those of a block are in its clones, and in the block itself if it can still be ``reached``.
    """
    self_loops = {
        (edge.src, original[index]): index
        for index, edge in enumerate(graph.edges)
        if edge.kind is EdgeKind.FLOW and edge.src == edge.dst
    }

    def moved(probe: Probe, source: int) -> Probe:
        if isinstance(probe, AddTripCount):
            return AddTripCount(probe.slot, self_loops[source, probe.back_edge])
        return probe

    on_edges = {
        index: tuple(moved(probe, graph.edges[index].src) for probe in plan.on_edges[edge])
        for index, edge in enumerate(original)
        if edge is not None and edge in plan.on_edges
    }
    on_blocks = {
        vertex: plan.on_blocks[origin]
        for vertex, origin in enumerate(origins)
        if origin in plan.on_blocks and vertex in reached
    }
    paths = _paths_for(plan.paths, original) if plan.paths is not None else None
    return replace(plan, on_edges=on_edges, on_blocks=on_blocks, paths=paths)


def _paths_for(paths: Paths, original: Sequence[int | None]) -> Paths:
    def now(edges: Sequence[int]) -> tuple[int, ...]:
        wanted = set(edges)
        return tuple(index for index, edge in enumerate(original) if edge in wanted)

    return replace(
        paths,
        back_edges=now(paths.back_edges),
        cuts=now(paths.cuts),
        resume_edges=now(paths.resume_edges),
    )
