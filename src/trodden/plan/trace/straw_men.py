"""What a trace was before witnesses were placed on edges: blocks that record themselves (BL94 §4, §6.2).

Either every block does, or, as in the first version of AE, every block that a predicate leads to.  Both
records can be regenerated from, and hold more than BL94's witnesses: they are what these are compared with.
"""

from __future__ import annotations

from collections.abc import Collection

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import reachable
from trodden.plan.trace.predicates import is_predicate, ways


def every_block(graph: Graph) -> set[int]:
    """All blocks that control can reach; leaving the procedure is no block."""
    return reachable(graph) - {graph.exit}


def targets_of_predicates(graph: Graph) -> set[int]:
    """The blocks that follow another one of which they are not the only successor."""
    blocks = every_block(graph)
    predicates = (block for block in blocks if is_predicate(graph, block))
    return {graph.edges[way].dst for block in predicates for way in ways(graph, block)} & blocks


def witnesses_in(graph: Graph, blocks: Collection[int]) -> dict[int, int]:
    """Such a record as witnesses: what each edge into one of the ``blocks`` writes is the block."""
    return {
        index: edge.dst
        for index, edge in enumerate(graph.edges)
        if edge.kind is EdgeKind.FLOW and edge.dst in blocks
    }
