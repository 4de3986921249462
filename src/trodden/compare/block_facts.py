"""Which block counts of a function say the same.

Without counts of edges the blocks of a function are compared one by one.  Many of them follow from others by
the flow law: a block that is executed whenever another one is has its count, and of the two successors of a
branch one has what the other leaves over.
"""

from __future__ import annotations

from trodden.compare.pairing import Pair
from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.dominators import find_dominators
from trodden.graph.postdominators import find_postdominators
from trodden.graph.unionfind import UnionFind
from trodden.profile.model import Count


def block_facts(pair: Pair) -> list[int]:
    """For each block a representative of the blocks with the same fact."""
    graph = pair.second.facts.graph
    counts = list(zip(pair.first.block_counts, pair.second.block_counts, strict=True))
    facts = UnionFind(len(graph.labels))
    _join_equivalent(graph, counts, facts)
    _join_alternatives(graph, counts, facts)
    return [facts.find(block) for block in range(len(graph.labels))]


def _join_equivalent(graph: Graph, counts: list[tuple[Count, Count]], facts: UnionFind) -> None:
    """Blocks with the same counts of which one dominates the other, and that one postdominates it.

    The counts are compared because a block in a loop may dominate one behind it, and because calls may not
    return.
    """
    dominators, postdominators = find_dominators(graph), find_postdominators(graph)
    around: dict[tuple[Count, Count], list[int]] = {}
    for block in dominators.preorder():
        alike = around.setdefault(counts[block], [])
        while alike and not dominators.dominates(alike[-1], block):
            alike.pop()
        if alike and postdominators.dominates(block, alike[-1]):
            facts.union(alike[-1], block)
        alike.append(block)


def _join_alternatives(graph: Graph, counts: list[tuple[Count, Count]], facts: UnionFind) -> None:
    """The two successors of a branch that have no other predecessor, if every execution reached one."""
    for branch in range(graph.exit):
        edges = [graph.edges[edge] for edge in graph.out_edges[branch]]
        targets = {edge.dst for edge in edges if edge.kind is EdgeKind.FLOW}
        if len(targets) != 2 or branch in targets:
            continue
        if all({graph.edges[edge].src for edge in graph.in_edges[each]} == {branch} for each in targets):
            one, other = sorted(targets)
            sums = tuple(a + b for a, b in zip(counts[one], counts[other], strict=True))
            if sums == counts[branch]:
                facts.union(one, other)
