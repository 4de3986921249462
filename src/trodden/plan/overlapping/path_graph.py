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


def call_path_graph(region: Region, begins: Mapping[int, Sequence[int]]) -> Dag:
    """The overlapping graph alone, for overlaps behind calls, which have a number of their own (§3.3).

    ``begins[v]`` are the edges with which the overlaps behind the call in ``v`` begin.  If there are none,
    they begin with the block itself, as those do that continue the path of a caller.
    """
    dag = region.ways.dag
    nodes = overlap_nodes(region)
    entry = dag.entry
    free = len(dag.outs) + len(nodes)
    arcs: list[Arc] = []
    behind: list[int] = []
    for vertex, edges in sorted(begins.items()):
        if not edges:
            arcs.append(Arc(entry, nodes[vertex], ArcKind.START, vertex))
            continue
        node = free + len(behind)
        behind.append(node)
        arcs.append(Arc(entry, node, ArcKind.START, vertex))
        targets = [(edge, nodes.get(dag.graph.edges[edge].dst)) for edge in edges]
        onward = [Arc(node, target, ArcKind.AHEAD, edge) for edge, target in targets if target is not None]
        arcs += onward
        if len(onward) < len(edges):
            arcs.append(Arc(node, dag.graph.exit, ArcKind.STOP, vertex))
    arcs += _arcs_behind(region, nodes)
    return _assemble(region, arcs, [entry], behind + list(nodes.values()))


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
