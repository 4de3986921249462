"""Which simple cycles a set of edges contains, and whether they have pipes (BL94 §2, §3.3.1).

Two edges lie on a common simple cycle exactly when they lie in the same biconnected component.  Two
edges that share a vertex are then adjacent on that cycle, so a component contains a cycle with a
pipe exactly when one of its vertices has an edge of the component coming in and another going out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from trodden.graph.cfg import Graph


def piped_cycles(graph: Graph, edges: Iterable[int]) -> Iterator[list[int]]:
    """Simple cycles within ``edges`` that have a pipe: a shortest one for every vertex where one can be.

    None at all means that counters on all other edges determine every block count (BL94's theorem).
    """
    for component in biconnected_components(graph, edges):
        for vertex in _pipes(graph, component):
            yield _shortest_cycle(graph, component, vertex)


def pipes(graph: Graph, edges: Iterable[int]) -> list[int]:
    """The vertices where a simple cycle within ``edges`` has a pipe: those whose counts are left open."""
    components = biconnected_components(graph, edges)
    return sorted({vertex for component in components for vertex in _pipes(graph, component)})


def _pipes(graph: Graph, component: Sequence[int]) -> list[int]:
    """Where an edge of a component can follow another in the same direction on a cycle."""
    sources = {graph.edges[index].src for index in component}
    targets = {graph.edges[index].dst for index in component}
    return [] if len(component) == 1 and sources != targets else sorted(sources & targets)


def biconnected_components(graph: Graph, edges: Iterable[int]) -> list[list[int]]:
    """The given edges, as undirected ones, grouped by biconnected component; self loops are groups apart."""
    incident: dict[int, list[int]] = {}
    components = []
    for index in edges:
        edge = graph.edges[index]
        if edge.src == edge.dst:
            components.append([index])
            continue
        incident.setdefault(edge.src, []).append(index)
        incident.setdefault(edge.dst, []).append(index)
    number: dict[int, int] = {}
    for start in incident:
        if start not in number:
            components += _components_from(graph, incident, start, number)
    return components


def _components_from(
    graph: Graph, incident: dict[int, list[int]], start: int, number: dict[int, int]
) -> Iterator[list[int]]:
    """Hopcroft and Tarjan's search from one vertex, with a stack of its own."""
    number[start] = len(number)
    low = {start: number[start]}
    pending: list[int] = []
    work = [(start, -1, iter(incident[start]))]
    while work:
        vertex, arrival, remaining = work[-1]
        for index in remaining:
            if index == arrival:
                continue
            edge = graph.edges[index]
            other = edge.dst if edge.src == vertex else edge.src
            if other not in number:
                pending.append(index)
                number[other] = low[other] = len(number)
                work.append((other, index, iter(incident[other])))
                break
            if number[other] < number[vertex]:
                pending.append(index)
                low[vertex] = min(low[vertex], number[other])
        else:
            work.pop()
            if not work:
                continue
            above = work[-1][0]
            low[above] = min(low[above], low[vertex])
            if low[vertex] >= number[above]:
                cut = len(pending) - 1 - pending[::-1].index(arrival)
                yield pending[cut:]
                del pending[cut:]


def _shortest_cycle(graph: Graph, component: Sequence[int], pipe: int) -> list[int]:
    """A shortest cycle of a biconnected component that passes ``pipe`` in the direction of its edges."""
    if len(component) == 1:
        return list(component)
    incident: dict[int, list[int]] = {}
    goals: dict[int, int] = {}
    arrival: dict[int, int] = {}
    for index in component:
        edge = graph.edges[index]
        if edge.dst == pipe:
            arrival.setdefault(edge.src, index)
        elif edge.src == pipe:
            goals.setdefault(edge.dst, index)
        else:
            incident.setdefault(edge.src, []).append(index)
            incident.setdefault(edge.dst, []).append(index)
    before: dict[int, int] = {}
    queue = deque(arrival)
    while queue:
        vertex = queue.popleft()
        if vertex in goals:
            cycle = [goals[vertex], arrival[vertex]]
            while vertex in before:
                vertex = before[vertex]
                cycle.append(arrival[vertex])
            return cycle
        for index in incident.get(vertex, ()):
            edge = graph.edges[index]
            other = edge.dst if edge.src == vertex else edge.src
            if other not in arrival:
                arrival[other] = index
                before[other] = vertex
                queue.append(other)
    raise AssertionError("two edges of a biconnected component lie on a common cycle")
