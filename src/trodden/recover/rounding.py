"""From frequencies to counts: whole numbers that obey the flow law, near the frequencies they come from.

Rounding every edge by itself breaks the law.  So only the chords of a maximum spanning tree are rounded,
and the others follow (BL94 §3.2): the edges of such a tree are those with the largest frequencies, to which
the errors of the chords matter least.  An edge that would be left with nothing, though it was taken, is
taken once more along a cycle that leads over it, which keeps the law too.
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

    Every edge lies on a cycle; ``closing`` is the one that closes the graph, and its count is its frequency
    rounded, unless no other cycle leads over an edge.
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
            for each in [edge, *_way_back(ends, out, edge, closing)]:
                counts[each] += missing
    return counts


def _tree(
    vertices: int, ends: Sequence[tuple[int, int]], frequencies: Sequence[float], closing: int
) -> set[int]:
    """The maximum spanning tree; the closing edge stays outside, so that its count can be chosen."""
    joined = UnionFind(vertices)
    ranked = sorted((e for e in range(len(ends)) if e != closing), key=lambda e: -frequencies[e])
    return {edge for edge in ranked if joined.union(*ends[edge])}


def _way_back(
    ends: Sequence[tuple[int, int]], out: Sequence[Sequence[int]], edge: int, closing: int
) -> list[int]:
    """The edges of a way from the target of an edge to its source: in its loop, or round by the root."""
    source, target = ends[edge]
    exit_vertex, root = ends[closing]
    found = _way(ends, out, target, source)
    if found is not None:
        return found
    leaving, entering = _way(ends, out, target, exit_vertex), _way(ends, out, root, source)
    if leaving is None or entering is None:
        raise ValueError("an edge lies on no cycle")
    return [*leaving, closing, *entering]


def _way(
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
    way = []
    while target != source:
        way.append(by[target])
        target = ends[by[target]][0]
    return way[::-1]
