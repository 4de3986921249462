"""From frequencies to counts: integers that obey the flow law and are near the frequencies.

Rounding every edge by itself violates the law.  Therefore only the chords of a maximum spanning tree are
rounded, and the other edges follow (BL94 §3.2): the edges of the tree are those with the largest frequencies,
where the errors of the chords matter least.  An edge that would have no count, although it was taken, gets
one more along a cycle that contains it, which obeys the law too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from trodden.graph.unionfind import UnionFind
from trodden.recover.forest import solve


def whole_flow(
    vertices: int, ends: Sequence[tuple[int, int]], frequencies: Sequence[float], closing: int
) -> list[int]:
    """A count of at least one for each edge.

    Every edge is on a cycle; ``closing`` is the closing edge, and its count is its frequency rounded, unless
    an edge is on no other cycle.
    """
    tree = _tree(vertices, ends, frequencies, closing)
    counts = [max(1, round(frequency)) for frequency in frequencies]
    balance = [0] * vertices
    for edge, (src, dst) in enumerate(ends):
        if edge not in tree:
            balance[dst] -= counts[edge]
            balance[src] += counts[edge]
    listed = sorted(tree)
    solution = solve(balance, [ends[edge] for edge in listed], -1)
    for edge, count in zip(listed, solution.values, strict=True):
        counts[edge] = count
    out: list[list[int]] = [[] for _ in range(vertices)]
    for edge, (src, _) in enumerate(ends):
        if edge != closing:
            out[src].append(edge)
    for edge in listed:
        if counts[edge] < 1:
            missing = 1 - counts[edge]
            for each in [edge, *_path_back(ends, out, edge, closing)]:
                counts[each] += missing
    return counts


def _tree(
    vertices: int, ends: Sequence[tuple[int, int]], frequencies: Sequence[float], closing: int
) -> set[int]:
    """The maximum spanning tree without the closing edge, so that its count can be chosen."""
    joined = UnionFind(vertices)
    ranked = sorted((e for e in range(len(ends)) if e != closing), key=lambda e: -frequencies[e])
    return {edge for edge in ranked if joined.union(*ends[edge])}


def _path_back(
    ends: Sequence[tuple[int, int]], out: Sequence[Sequence[int]], edge: int, closing: int
) -> list[int]:
    """The edges of a path from the target of an edge to its source: in its loop, or over the closing edge."""
    source, target = ends[edge]
    exit_vertex, root = ends[closing]
    found = _shortest_path(ends, out, target, source)
    if found is not None:
        return found
    leaving = _shortest_path(ends, out, target, exit_vertex)
    entering = _shortest_path(ends, out, root, source)
    if leaving is None or entering is None:
        raise ValueError("an edge is on no cycle")
    return [*leaving, closing, *entering]


def _shortest_path(
    ends: Sequence[tuple[int, int]], out: Sequence[Sequence[int]], source: int, target: int
) -> list[int] | None:
    by = {source: -1}
    queue = deque([source])
    while queue and target not in by:
        vertex = queue.popleft()
        for edge in out[vertex]:
            if ends[edge][1] not in by:
                by[ends[edge][1]] = edge
                queue.append(ends[edge][1])
    if target not in by:
        return None
    path = []
    while target != source:
        path.append(by[target])
        target = ends[by[target]][0]
    return path[::-1]
