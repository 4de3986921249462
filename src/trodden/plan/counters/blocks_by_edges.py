"""Block profiles from edge counters: the heuristic for Vprof(Ecnt) of BL94 §3.3.3, Figure 11.

Block counts are determined in spite of counter-free cycles whose edges alternate in direction (pipeless
cycles), because shifting flow around such a cycle changes no block count.  The heuristic starts from the
counters of an edge profile and drops each one whose chord closes such a cycle with the tree.

Figure 11 also marks the vertices of these cycles and keeps them apart, lest two of them combine into a
simple cycle with a pipe.  They cannot, so nothing is marked here and more counters go (a switch with
many cases for one target can gain by it).  The cycles belong to chords of one tree, so two that meet at all
share a path of the tree.  If they share no edge there, they make no further simple cycle.  If they do,
the shared edge at either end of the path leads away from that vertex or towards it, and then so does
the edge of each cycle that follows there: no pipe.  The same holds for chains of such cycles: between
two that meet in a vertex only, either another cycle of the chain passes that vertex, or the chain stays
on one side of it, and both cycles go there along the same edge.
"""

from __future__ import annotations

from collections.abc import Sequence

from trodden.graph.cfg import Graph
from trodden.graph.spanning import live_edges
from trodden.plan.counters.edges import chords_of, count_edges
from trodden.plan.probes import Plan


def vprof_by_edges(graph: Graph, costs: Sequence[float]) -> Plan:
    """Edge counters from which every block count follows; never more expensive than an edge profile.

    The edges that lost their counters are the plan's ``free`` edges.
    """
    chords = chords_of(graph, costs)
    tree = _RootedTree(graph, set(chords))
    free = frozenset(chord for chord in chords if tree.closes_pipeless_cycle(chord))
    return count_edges("vprof-edges", [index for index in chords if index not in free], free)


class _RootedTree:
    """The spanning tree that a set of chords leaves, rooted at EXIT."""

    def __init__(self, graph: Graph, chords: set[int]) -> None:
        self._graph = graph
        incident: list[list[int]] = [[] for _ in graph.labels]
        for index in live_edges(graph):
            if index not in chords:
                incident[graph.edges[index].src].append(index)
                incident[graph.edges[index].dst].append(index)
        self._up = [-1] * len(graph.labels)
        self._above = [-1] * len(graph.labels)
        self._depth = [0] * len(graph.labels)
        work = [graph.exit]
        while work:
            vertex = work.pop()
            for index in incident[vertex]:
                if index == self._up[vertex]:
                    continue
                edge = graph.edges[index]
                other = edge.dst if edge.src == vertex else edge.src
                self._up[other], self._above[other] = index, vertex
                self._depth[other] = self._depth[vertex] + 1
                work.append(other)

    def closes_pipeless_cycle(self, chord: int) -> bool:
        """Whether the cycle that ``chord`` closes has no pipe.

        Both ends climb until they meet.  The two cycle edges at a vertex must both leave it or both enter
        it; most cycles fail after a step or two, so few are ever followed to the end.
        """
        edge = self._graph.edges[chord]
        low, low_leaves = edge.src, True
        other, other_leaves = edge.dst, False
        while low != other:
            if self._depth[low] < self._depth[other]:
                low, low_leaves, other, other_leaves = other, other_leaves, low, low_leaves
            if (self._graph.edges[self._up[low]].src == low) != low_leaves:
                return False
            low, low_leaves = self._above[low], not low_leaves
        return low_leaves == other_leaves
