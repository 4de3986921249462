"""The frequency of every edge for one call of a function, given the probabilities of its branches.

This is Algorithm 2 of WL94 (§4).  As in the paper loops are solved from the innermost outwards, the header of
each as its last vertex, where the cyclic probability of the loop is known.  Unlike in the paper, loops with
several entries are solved just as exactly, and a loop that would not end is bounded in such a way that the
flow law still holds at every vertex.
"""

from __future__ import annotations

from collections.abc import Sequence

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.loop_forest import LoopForest
from trodden.graph.loop_nesting import back_edges_by_header, collapse
from trodden.graph.reach import sweep
from trodden.graph.traverse import depth_first
from trodden.weigh.frequency.propagate import propagate

MAX_ITERATIONS = 1e6
"""The largest expected trip count of a loop (the paper's epsilon is its inverse).

Known trip counts are mostly below it, so that they are used unchanged.  Combined heuristics hardly ever
come near it: that takes exits that the evidence next to rules out.
"""

ENDLESS_ITERATIONS = 1000.0
"""The expected trip count of a loop without exits, after which the program is assumed to end inside it.

More than heuristics expect of any loop that does end (three loops that share a header iterate 579 times, WL94
Figure 1c), since such a loop is the program's main loop; but no more than that, since it ends all the same.
"""

_NEVER = 1e-30
"""The probability of an edge that should never be taken, where EXIT is not reachable without it."""


def local_frequencies(
    graph: Graph,
    probabilities: Sequence[float],
    forest: LoopForest | None = None,
    max_iterations: float = MAX_ITERATIONS,
    endless_iterations: float = ENDLESS_ITERATIONS,
) -> list[float]:
    """The expected frequency of every edge for one call.

    ``probabilities[e]`` is the probability that the source of ``e`` is left along ``e``; those of virtual
    edges are not used.  The flow law holds at every vertex: the closing edge has frequency 1, and the endless
    edge of a region that cannot be left carries what has entered that region.  For a loop that would iterate
    more than ``max_iterations`` times each time it is entered, the probabilities of its exits are raised in
    proportion until it iterates just as often.  The edges of a block without probabilities are equally
    likely.  ``forest`` are the loops, if they are known.
    """
    found, stages = _stages(graph, forest)
    edges = [index for index, edge in enumerate(graph.edges) if edge.src in found]
    ends = [(graph.edges[index].src, graph.edges[index].dst) for index in edges]
    shares = _with_exit_reachable(graph, probabilities, edges, endless_iterations)
    weights = [0.0] * len(graph.edges)
    taken = propagate(len(graph.labels), ends, shares, graph.exit, 1.0, stages, max_iterations)
    for index, weight in zip(edges, taken, strict=True):
        weights[index] = weight
    return weights


def _stages(graph: Graph, forest: LoopForest | None) -> tuple[set[int], list[list[int]]]:
    """The reachable vertices, and the order of elimination: inner loops first, headers after bodies.

    The header of a loop is an ordinary vertex of the enclosing loop.
    """
    search = depth_first(graph)
    reached = set(search.preorder) | {graph.exit}
    if forest is not None and forest.reducible:
        stages: list[list[int]] = [[] for _ in range(len(forest.loops) + 1)]
        for vertex in search.preorder:
            loop = forest.innermost[vertex]
            if loop >= 0 and forest.loops[loop].header == vertex:
                loop = forest.loops[loop].parent
            stages[loop].append(vertex)
        outside = stages.pop()
        stages.reverse()
    else:
        loops = collapse(graph, search, back_edges_by_header(graph, search))
        stages = [list(loop.body) for loop in reversed(loops)]
        inside = {vertex for loop in loops for vertex in loop.body}
        outside = [vertex for vertex in search.preorder if vertex not in inside]
    return reached, [
        *stages,
        [vertex for vertex in outside if vertex not in (graph.root, graph.exit)],
        [graph.root],
    ]


def _with_exit_reachable(
    graph: Graph, probabilities: Sequence[float], edges: Sequence[int], endless_iterations: float
) -> list[float]:
    """The probabilities of ``edges``, raised from 0 where EXIT would not be reachable otherwise."""
    totals = [0.0] * len(graph.labels)
    for index in edges:
        if graph.edges[index].kind is EdgeKind.FLOW:
            totals[graph.edges[index].src] += probabilities[index]
    shares = []
    before: list[list[int]] = [[] for _ in graph.labels]
    for index in edges:
        src, dst, kind = graph.edges[index]
        if kind is EdgeKind.FLOW:
            share = probabilities[index] if totals[src] > 0 else 1.0
        elif kind is EdgeKind.ENDLESS:
            flow_edges = len(graph.out_edges[src]) - 1
            share = (totals[src] or flow_edges or endless_iterations) / (endless_iterations - 1)
        else:
            share = 1.0
        shares.append(share)
        if share > 0 and kind is not EdgeKind.CLOSING:
            before[dst].append(src)
    leading_on = sweep(before, [graph.exit])
    if len(leading_on) < len(graph.labels):
        for position, index in enumerate(edges):
            if graph.edges[index].src not in leading_on and not shares[position] > 0:
                shares[position] = _NEVER
    return shares
