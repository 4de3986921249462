"""Which vertices can be reached, and which regions can never be left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trodden.graph.cfg import Edge, Graph


def sweep(successors: Sequence[Iterable[int]], starts: Iterable[int]) -> set[int]:
    """All vertices reachable from ``starts``, the starts included."""
    seen = set(starts)
    stack = list(seen)
    while stack:
        for vertex in successors[stack.pop()]:
            if vertex not in seen:
                seen.add(vertex)
                stack.append(vertex)
    return seen


def reachable(graph: Graph) -> set[int]:
    """The vertices that a walk from the root can reach, and EXIT."""
    seen = {graph.root}
    stack = [graph.root]
    while stack:
        for index in graph.out_edges[stack.pop()]:
            vertex = graph.edges[index].dst
            if vertex not in seen:
                seen.add(vertex)
                stack.append(vertex)
    seen.add(graph.exit)
    return seen


def endless_regions(vertices: int, edges: Sequence[Edge], root: int, exit_vertex: int) -> list[int]:
    """One vertex of each region that is reachable from ``root`` and has no way to EXIT.

    A region is a strongly connected component without a way out; the vertex that a depth-first
    search from the root meets first stands for it, so the choice is stable for the same graph.
    """
    successors: list[list[int]] = [[] for _ in range(vertices)]
    predecessors: list[list[int]] = [[] for _ in range(vertices)]
    for edge in edges:
        successors[edge.src].append(edge.dst)
        predecessors[edge.dst].append(edge.src)
    leaving = sweep(predecessors, [exit_vertex])
    stuck = sweep(successors, [root]) - leaving
    return [component[0] for component in _sinks(successors, sorted(stuck))]


def _sinks(successors: Sequence[Sequence[int]], vertices: Sequence[int]) -> list[list[int]]:
    """The strongly connected components among ``vertices`` that no edge leaves (Tarjan, iterative)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    component_of: dict[int, int] = {}
    components: list[list[int]] = []
    pending: list[int] = []
    for start in vertices:
        if start in order:
            continue
        work: list[tuple[int, int]] = [(start, 0)]
        while work:
            vertex, position = work.pop()
            if position == 0:
                order[vertex] = low[vertex] = len(order)
                pending.append(vertex)
            descended = False
            for index in range(position, len(successors[vertex])):
                target = successors[vertex][index]
                if target not in order:
                    work.append((vertex, index + 1))
                    work.append((target, 0))
                    descended = True
                    break
                if target not in component_of:
                    low[vertex] = min(low[vertex], order[target])
            if descended:
                continue
            if low[vertex] == order[vertex]:
                members: list[int] = []
                while True:
                    member = pending.pop()
                    component_of[member] = len(components)
                    members.append(member)
                    if member == vertex:
                        break
                components.append(members[::-1])
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[vertex])
    return [
        members
        for number, members in enumerate(components)
        if all(component_of[t] == number for v in members for t in successors[v])
    ]
