"""Reachability, and regions that can never be left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trodden.graph.components import strong_components


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


def endless_regions(
    vertices: int, edges: Sequence[tuple[int, int]], root: int, exit_vertex: int
) -> list[int]:
    """One vertex of each region that is reachable from ``root`` and that no edge leaves.

    A region is a strongly connected component without outgoing edges, EXIT's own left out.  It is
    represented by the vertex that a depth-first search from the root visits first, so the choice is stable
    for the same graph.
    """
    successors: list[list[int]] = [[] for _ in range(vertices)]
    predecessors: list[list[int]] = [[] for _ in range(vertices)]
    for src, dst in edges:
        successors[src].append(dst)
        predecessors[dst].append(src)
    leaving = sweep(predecessors, [exit_vertex])
    stuck = sweep(successors, [root]) - leaving
    components = strong_components(successors, sorted(stuck))
    number_of = {vertex: number for number, members in enumerate(components) for vertex in members}
    return [
        members[0]
        for number, members in enumerate(components)
        if all(number_of[target] == number for vertex in members for target in successors[vertex])
    ]
