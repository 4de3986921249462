"""How often every edge of a function runs for one call, given the odds of its branches.

This is Algorithm 2 of WL94 (§4).  As in the paper loops are worked off from the inside out, the entry of each
as its last vertex, where the cyclic probability of the loop shows.  Other than there, loops that can be
entered at several places are solved just as exactly, and a loop that would not end is bounded in such a way
that the flow law still holds at every vertex.
"""

from __future__ import annotations

from collections.abc import Sequence

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.loop_forest import LoopForest
from trodden.graph.loop_nesting import back_edges_by_header, collapse
from trodden.graph.reach import sweep
from trodden.graph.traverse import depth_first
from trodden.weigh.frequency.propagate import propagate

MOST_TURNS = 1e6
"""How often a loop turns at most each time it is entered (the paper's epsilon is one in so many).

Loops whose number of turns is certain mostly stay below, so that this is believed.  What heuristics say of
a branch, all taken together, hardly ever comes near: it takes exits that evidence next to rules out.
"""

ENDLESS_TURNS = 1000.0
"""How often a loop turns that has no way out at all, before the program is taken to end inside it.

More than heuristics expect of any loop that does end (three loops that share a head turn 579 times, WL94
Figure 1c), since such a loop is what a program is about; but no more than that, since it stops all the same.
"""

_NEVER = 1e-30
"""The odds of an edge that is said never to be taken, where it is the only way on."""


def local_frequencies(
    graph: Graph,
    odds: Sequence[float],
    forest: LoopForest | None = None,
    most_turns: float = MOST_TURNS,
    endless_turns: float = ENDLESS_TURNS,
) -> list[float]:
    """The expected frequency of every edge for one call.

    ``odds[e]`` is the probability that the source of ``e`` is left along ``e``; for virtual edges it does not
    matter.  The flow law holds at every vertex: the closing edge has 1, and the endless edge of a region that
    cannot be left carries what has come to that region.  A loop that would turn more than ``most_turns``
    times each time it is entered has its exits raised, all in proportion, until it turns just as often.  A
    block without odds is left along all its edges alike.  ``forest`` are the loops, where they are known.
    """
    found, stages = _stages(graph, forest)
    edges = [index for index, edge in enumerate(graph.edges) if edge.src in found]
    ends = [(graph.edges[index].src, graph.edges[index].dst) for index in edges]
    shares = _with_a_way_on(graph, odds, edges, endless_turns)
    weights = [0.0] * len(graph.edges)
    taken = propagate(len(graph.labels), ends, shares, graph.exit, 1.0, stages, most_turns)
    for index, weight in zip(edges, taken, strict=True):
        weights[index] = weight
    return weights


def _stages(graph: Graph, forest: LoopForest | None) -> tuple[set[int], list[list[int]]]:
    """What can be reached; and what to eliminate when: loops before those around them, entries after bodies.

    The entry of a loop is an ordinary vertex of the loop around it.
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


def _with_a_way_on(
    graph: Graph, odds: Sequence[float], edges: Sequence[int], endless_turns: float
) -> list[float]:
    """The odds of ``edges``, so that EXIT can be reached from everywhere along edges that have some."""
    totals = [0.0] * len(graph.labels)
    for index in edges:
        if graph.edges[index].kind is EdgeKind.FLOW:
            totals[graph.edges[index].src] += odds[index]
    shares = []
    before: list[list[int]] = [[] for _ in graph.labels]
    for index in edges:
        src, dst, kind = graph.edges[index]
        if kind is EdgeKind.FLOW:
            share = odds[index] if totals[src] > 0 else 1.0
        elif kind is EdgeKind.ENDLESS:
            flow_edges = len(graph.out_edges[src]) - 1
            share = (totals[src] or flow_edges or endless_turns) / (endless_turns - 1)
        else:
            share = 1.0
        shares.append(share)
        if share > 0 and kind is not EdgeKind.CLOSING:
            before[dst].append(src)
    leading_on = sweep(before, [graph.exit])
    if len(leading_on) < len(graph.labels):
        for place, index in enumerate(edges):
            if graph.edges[index].src not in leading_on and not shares[place] > 0:
                shares[place] = _NEVER
    return shares
