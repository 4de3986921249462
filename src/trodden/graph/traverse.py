"""Depth-first search, back edges and topological order (BL94 §5).

Only edges that the program can take are followed.  The closing edge EXIT -> root is not a back edge, although
a search would classify it as one, and endless edges are never taken.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

from trodden.graph.cfg import EdgeKind, Graph


def reachable(graph: Graph) -> set[int]:
    """The vertices that are reachable from the root, and EXIT."""
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


@dataclass(frozen=True)
class DepthFirst:
    """One depth-first search from the root, taking out-edges in the order of the graph.

    ``enter[v]`` is the preorder and ``leave[v]`` the postorder number of a vertex; both are -1 for a vertex
    that is not reachable.
    """

    preorder: tuple[int, ...]
    postorder: tuple[int, ...]
    enter: tuple[int, ...]
    leave: tuple[int, ...]
    parent_edge: tuple[int, ...]
    back_edges: frozenset[int]

    def descends(self, low: int, high: int) -> bool:
        """Whether ``low`` is a descendant of ``high`` in the depth-first tree (or is ``high``)."""
        return self.enter[high] <= self.enter[low] and self.leave[low] <= self.leave[high]


def depth_first(graph: Graph, barriers: Container[int] = frozenset()) -> DepthFirst:
    """Search the graph from its root without recursion: functions of 100,000 blocks exist.

    The search does not go on behind the vertices of ``barriers``, but starts there anew when it is done with
    everything before them.  So its back edges are those of the cycles without a barrier.
    """
    edges, out_edges = graph.edges, graph.out_edges
    size = len(graph.labels)
    enter, leave, parent_edge = [-1] * size, [-1] * size, [-1] * size
    preorder: list[int] = []
    postorder: list[int] = []
    back_edges = []
    starts = [graph.root]

    def visit(vertex: int) -> tuple[int, Iterator[int]]:
        enter[vertex] = len(preorder)
        preorder.append(vertex)
        if vertex not in barriers:
            return vertex, iter(out_edges[vertex])
        starts.extend(edges[index].dst for index in out_edges[vertex] if edges[index].kind is EdgeKind.FLOW)
        return vertex, iter(())

    for start in starts:
        work = [visit(start)] if enter[start] < 0 else []
        while work:
            vertex, remaining = work[-1]
            for index in remaining:
                edge = edges[index]
                if edge.kind is not EdgeKind.FLOW:
                    continue
                target = edge.dst
                if enter[target] < 0:
                    parent_edge[target] = index
                    work.append(visit(target))
                    break
                if leave[target] < 0:
                    back_edges.append(index)
            else:
                leave[vertex] = len(postorder)
                postorder.append(vertex)
                work.pop()
    return DepthFirst(
        tuple(preorder),
        tuple(postorder),
        tuple(enter),
        tuple(leave),
        tuple(parent_edge),
        frozenset(back_edges),
    )


def back_edges(graph: Graph) -> frozenset[int]:
    """The edges whose target is an ancestor of their source in the depth-first tree."""
    return depth_first(graph).back_edges


def topological_order(graph: Graph) -> tuple[int, ...]:
    """The reachable vertices in reverse postorder: every edge but the back edges goes forward."""
    return depth_first(graph).postorder[::-1]
