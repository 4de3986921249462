"""Solving the flow law: unknowns on the edges of a graph, one equation for each node.

This is the propagation of BL94 Figures 6 and 8 in the form that all recoveries share.  A depth-first forest
of the unknown edges is visited from its leaves: at each node all unknown edges but one are known already.
Unknown edges outside the forest close a cycle; Figure 8 breaks the cycle by giving them the value 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Solution:
    """A solution of the equations; the values of the edges that are ``certain`` are the only possible ones.

    ``residues`` are nodes whose equation has no solution, with the amount that is missing on the side of the
    unknowns: the known numbers contradict each other.
    """

    values: list[int]
    certain: list[bool]
    residues: list[tuple[int, int]]


def solve(totals: Sequence[int], ends: Sequence[tuple[int, int]], tail_sign: int) -> Solution:
    """Find x so that at each node n: sum of x[e] into n + tail_sign * sum of x[e] out of n = totals[n].

    ``ends[e]`` is the source and the target of edge ``e``; ``tail_sign`` is -1 for a flow, +1 if the total of
    a node is the sum of all its edges (the graph is bipartite then).  An edge is certain if and only if it is
    on no cycle.
    """
    incident: list[list[int]] = [[] for _ in totals]
    for edge, (tail, head) in enumerate(ends):
        if tail != head:
            incident[tail].append(edge)
            incident[head].append(edge)
    order, parent_edge, spare = depth_first_forest(ends, incident, len(totals))
    left = list(totals)
    values = [0] * len(ends)
    certain = [True] * len(ends)
    covered = [0] * len(totals)
    position = {node: number for number, node in enumerate(order)}
    for edge in spare:
        certain[edge] = False
        upper, lower = sorted(ends[edge], key=position.__getitem__)
        covered[lower] += 1
        covered[upper] -= 1
    residues = []
    for node in reversed(order):
        edge = parent_edge[node]
        if edge < 0:
            if left[node]:
                residues.append((node, left[node]))
            continue
        tail, head = ends[edge]
        above = tail if node == head else head
        values[edge] = left[node] if node == head else left[node] * tail_sign
        left[above] -= values[edge] if above == head else values[edge] * tail_sign
        certain[edge] = covered[node] == 0
        covered[above] += covered[node]
    return Solution(values, certain, sorted(residues))


def depth_first_forest(
    ends: Sequence[tuple[int, int]], incident: Sequence[Sequence[int]], nodes: int
) -> tuple[list[int], list[int], list[int]]:
    """Nodes in the order of the search, the edge to the parent of each (-1 for roots), and the other edges.

    Because the search is depth first, each of the other edges joins a node with one of its ancestors.
    """
    order: list[int] = []
    parent_edge = [-1] * nodes
    met = [False] * nodes
    used = [False] * len(ends)
    for start in range(nodes):
        if met[start]:
            continue
        met[start] = True
        order.append(start)
        work = [(start, iter(incident[start]))]
        while work:
            node, remaining = work[-1]
            for edge in remaining:
                tail, head = ends[edge]
                other = head if node == tail else tail
                if not met[other]:
                    met[other] = used[edge] = True
                    parent_edge[other] = edge
                    order.append(other)
                    work.append((other, iter(incident[other])))
                    break
            else:
                work.pop()
    return order, parent_edge, [edge for edge in range(len(ends)) if not used[edge]]
