"""When the witnesses of a procedure tell which way it took (BL94 §4).

A *predicate* has at least two different successors.  *Strictly*, two edges are enough, even if they are
parallel: then not only the blocks but also the edges of an execution follow from its trace.

The paper assumes that EXIT can be reached from everywhere.  Where it cannot, the endless edges of the graph
stand for the program being killed there; they are never in Ewit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.components import strong_components
from trodden.graph.directed_cycles import diamonds, directed_cycle
from trodden.graph.reach import sweep
from trodden.graph.traverse import reachable

EOF = -1
"""The witness that is always the last one."""


def is_predicate(graph: Graph, vertex: int, strict: bool = False) -> bool:
    """Whether control can leave a vertex in several ways."""
    return _several(graph, [e for e in ways(graph, vertex) if graph.edges[e].kind is EdgeKind.FLOW], strict)


def _several(graph: Graph, edges: Sequence[int], strict: bool) -> bool:
    return len(edges if strict else {graph.edges[index].dst for index in edges}) > 1


def ways(graph: Graph, vertex: int) -> list[int]:
    """The edges that leave a vertex, without the closing edge."""
    return [index for index in graph.out_edges[vertex] if graph.edges[index].kind is not EdgeKind.CLOSING]


def traced_edges(graph: Graph) -> list[int]:
    """The edges that an execution can consist of."""
    reached = reachable(graph)
    return [
        index
        for index, edge in enumerate(graph.edges)
        if edge.src in reached and edge.kind is not EdgeKind.CLOSING
    ]


def witness_sets(
    graph: Graph,
    witnesses: Mapping[int, int],
    calls: Collection[int] = frozenset(),
    counted: Collection[int] = frozenset(),
) -> dict[int, frozenset[int]]:
    """For each edge of a predicate the witnesses that can be next where control takes it.

    ``witnesses[e]`` is what edge ``e`` writes.  The paper's witness(p, q) is the union over the edges p -> q.
    Nothing is looked for behind ``calls``; the edges of ``counted`` loops are no ways of their blocks.
    """
    reached = reachable(graph)
    edges = graph.edges
    onward: list[list[int]] = [[] for _ in graph.labels]
    for vertex in reached.difference(calls):
        onward[vertex] = [index for index in ways(graph, vertex) if index not in counted]
    free = [[edges[index].dst for index in outs if index not in witnesses] for outs in onward]
    behind: dict[int, frozenset[int]] = {}
    for component in strong_components(free, sorted(reached)):
        found = {EOF} if graph.exit in component else set()
        for vertex in component:
            found.update(witnesses[index] for index in onward[vertex] if index in witnesses)
            for target in free[vertex]:
                found |= behind.get(target, frozenset())
        shared = frozenset(found)
        behind.update(dict.fromkeys(component, shared))
    return {
        index: frozenset({witnesses[index]}) if index in witnesses else behind[edges[index].dst]
        for outs in onward
        if len(outs) > 1
        for index in outs
    }


def disjoint_witness_sets(graph: Graph, witnesses: Mapping[int, int], strict: bool = False) -> bool:
    """Trace(Ewit) by its definition: no witness is in the sets of two ways of a predicate."""
    sets = witness_sets(graph, witnesses)
    for vertex in reachable(graph):
        leaving = ways(graph, vertex)
        if not _several(graph, leaving, strict):
            continue
        seen: dict[int, int] = {}
        for index in leaving:
            way = index if strict else graph.edges[index].dst
            if any(seen.setdefault(witness, way) != way for witness in sets[index]):
                return False
    return True


def solves_trace(graph: Graph, witnessed: Collection[int], strict: bool = False) -> bool:
    """Trace(Ewit) by its theorem: E - Ewit has neither a directed cycle nor a diamond."""
    free = [index for index in traced_edges(graph) if index not in witnessed]
    return directed_cycle(graph, free) is None and not any(diamonds(graph, free, strict))


def unblocked(
    graph: Graph, witnessed: Collection[int], calls: Iterable[int], strict: bool = False
) -> list[int]:
    """The predicates from which a witness-free path leads to a call or to EXIT (§4.2); linear time.

    None at all is the blocking property.  A call is at the end of its block, so its block is no predicate,
    and no path goes on behind it.
    """
    reached = reachable(graph)
    calls = set(calls)
    before: list[list[int]] = [[] for _ in graph.labels]
    for index, edge in enumerate(graph.edges):
        if edge.kind is EdgeKind.FLOW and index not in witnessed and edge.src not in calls:
            before[edge.dst].append(edge.src)
    open_to = sweep(before, {graph.exit, *calls})
    return sorted(v for v in open_to & reached - calls if is_predicate(graph, v, strict))
