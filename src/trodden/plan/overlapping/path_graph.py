"""The path graph: the acyclic graph of BL96 with the overlapping graph behind it (TZG04 §2.3, Figure 1c).

Each block of the overlapping graph is a second node, v'.  The dummy arc of an extended back edge leads to the
header there instead of to EXIT (OVERLAP), edges between such nodes are AHEAD arcs, and where an overlap may
stop there is a STOP arc to EXIT.

There is one overlapping graph for all loops of a procedure.  In the paper each loop has its own, so that an
edge of an inner loop would need one addition for each loop around it, and a test for whose overlap is active.
Here it has one addition, at the price of some numbers that no path has: an overlap of the inner loop stops
where the loop is left, and numbers behind that are only for overlaps of the outer one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from trodden.plan.overlapping.region import Region
from trodden.plan.paths.dag import Arc, ArcKind, Dag


def overlap_nodes(region: Region) -> dict[int, int]:
    """The node v' of each block of an overlapping graph."""
    first = len(region.ways.dag.outs)
    return {block: first + index for index, block in enumerate(region.blocks)}


def loop_path_graph(region: Region, extended: Mapping[int, int]) -> Dag:
    """The path graph of a procedure whose ``extended`` back edges lead to these headers."""
    dag = region.ways.dag
    nodes = overlap_nodes(region)
    arcs = [
        Arc(arc.src, nodes[extended[arc.of]], ArcKind.OVERLAP, arc.of)
        if arc.kind is ArcKind.END and arc.of in extended
        else arc
        for arc in dag.arcs
    ]
    return _assemble(region, arcs + _arcs_behind(region, nodes), list(dag.order[:-1]), list(nodes.values()))


class Beginning(NamedTuple):
    """How overlaps behind a call begin: with one of the edges ``onward``; if ``stops``, some stop at once."""

    onward: tuple[int, ...]
    stops: bool


def entry_path_graph(region: Region) -> Dag:
    """The overlapping graph alone, for overlaps that begin where the procedure does and have numbers of their
    own.

    So it is in §3.3: there is no path of the same procedure that they continue.
    """
    dag = region.ways.dag
    nodes = overlap_nodes(region)
    arcs = [Arc(dag.entry, nodes[dag.graph.root], ArcKind.START, dag.graph.root)]
    return _assemble(region, arcs + _arcs_behind(region, nodes), [dag.entry], list(nodes.values()))


def return_path_graph(region: Region, begins: Mapping[int, Beginning]) -> Dag:
    """The overlapping graph alone, for overlaps that begin behind the calls in these blocks."""
    dag = region.ways.dag
    nodes = overlap_nodes(region)
    free = len(dag.outs) + len(nodes)
    arcs: list[Arc] = []
    for node, (block, beginning) in enumerate(sorted(begins.items()), free):
        arcs.append(Arc(dag.entry, node, ArcKind.START, block))
        arcs += [Arc(node, nodes[dag.graph.edges[e].dst], ArcKind.AHEAD, e) for e in beginning.onward]
        arcs += [Arc(node, dag.graph.exit, ArcKind.STOP, block)] if beginning.stops else []
    behind = [*range(free, free + len(begins)), *nodes.values()]
    return _assemble(region, arcs + _arcs_behind(region, nodes), [dag.entry], behind)


def _arcs_behind(region: Region, nodes: Mapping[int, int]) -> list[Arc]:
    """The arcs from one node of the overlapping graph to another, and those to EXIT."""
    graph = region.ways.dag.graph
    arcs = [
        Arc(nodes[graph.edges[edge].src], nodes[graph.edges[edge].dst], ArcKind.AHEAD, edge)
        for edge in sorted(region.ahead)
    ]
    return arcs + [Arc(nodes[block], graph.exit, ArcKind.STOP, block) for block in sorted(region.stops)]


def _assemble(region: Region, arcs: Sequence[Arc], before: Sequence[int], behind: Sequence[int]) -> Dag:
    """The graph with these arcs; ``before`` and ``behind`` are its nodes in topological order."""
    dag = region.ways.dag
    size = len(dag.outs) + len(behind)
    outs: list[list[int]] = [[] for _ in range(size)]
    ins: list[list[int]] = [[] for _ in range(size)]
    for number, arc in enumerate(arcs):
        outs[arc.src].append(number)
        ins[arc.dst].append(number)
    order = [*before, *behind, dag.graph.exit]
    return Dag(dag.graph, arcs, outs, ins, order, dag.arrival, dag.first_of, dag.back_edges, dag.removed)
