"""Block profiles from block counters: every block, or the fewest (Vprof(Vcnt) of BL94 §3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.knuth_stevenson import reduce_to_blocks
from trodden.graph.traverse import reachable
from trodden.graph.unionfind import UnionFind
from trodden.plan.probes import BlockMeasure, Count, Plan, Probe


def every_block(graph: Graph) -> Plan:
    """A counter in each reachable block: BL94's redundant profiling, its baseline."""
    reduced = reduce_to_blocks(graph)
    blocks = [vertex for vertex in sorted(reachable(graph)) if vertex != graph.exit]
    if reduced.entering[graph.exit] == reduced.leaving[graph.exit]:
        blocks.append(graph.exit)
    return _count_blocks(graph, "every-block", blocks)


def vprof_by_blocks(graph: Graph, block_costs: Sequence[float]) -> Plan:
    """The cheapest set of block counters from which every block count follows (Knuth and Stevenson 1973).

    In the reduced graph each block is an arc between two classes of edges, and block counts are a flow
    on it.  So the blocks of a spanning tree need no counter; a maximum spanning tree leaves the cheapest
    ones to be counted.  EXIT cannot hold a counter and is added to the tree first.
    """
    reduced = reduce_to_blocks(graph)
    trees = UnionFind(reduced.classes)
    by_price = sorted(reachable(graph) - {graph.exit}, key=lambda vertex: (-block_costs[vertex], vertex))
    counted = [
        vertex
        for vertex in (graph.exit, *by_price)
        if not trees.union(reduced.entering[vertex], reduced.leaving[vertex])
    ]
    return _count_blocks(graph, "vprof-blocks", sorted(counted))


def _count_blocks(graph: Graph, scheme: str, blocks: Iterable[int]) -> Plan:
    """One counter for each block; that of EXIT is placed on the edges into it.

    EXIT needs one only where the root is the header of a loop whose latch is also its exit: block counts
    alone cannot distinguish calls of the procedure from iterations of the loop.
    """
    on_edges: dict[int, tuple[Probe, ...]] = {}
    on_blocks: dict[int, tuple[Probe, ...]] = {}
    measures = []
    reached = reachable(graph)
    for slot, vertex in enumerate(blocks):
        measures.append(BlockMeasure(vertex))
        if vertex != graph.exit:
            on_blocks[vertex] = (Count(slot),)
            continue
        for index in graph.in_edges[vertex]:
            if graph.edges[index].kind is EdgeKind.FLOW and graph.edges[index].src in reached:
                on_edges[index] = (Count(slot),)
    return Plan(scheme, tuple(measures), on_edges, on_blocks)
