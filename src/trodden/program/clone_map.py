"""From the blocks of a function's code, some of which are clones, to those of its graph.

Frames are located in the code; what was counted belongs to the graph.  See
:mod:`trodden.plan.paths.block_cloning`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.paths.block_cloning import clone_graph
from trodden.program.facts import FunctionFacts


@dataclass(frozen=True)
class Code:
    """A function as its code is: in ``facts`` every clone is a block of the graph.

    ``joined`` are the blocks that have a single predecessor left, because the others lead to clones.
    """

    facts: FunctionFacts
    joined: frozenset[int] = frozenset()


def code_of(facts: FunctionFacts) -> Code:
    """The code of a function."""
    if not facts.clones:
        return Code(facts)
    made = clone_graph(facts.graph, facts.plan, facts.clones)
    blocks = tuple(facts.blocks[origin] for origin in made.origins)
    before, now = _predecessors(facts.graph), _predecessors(made.graph)
    joined = frozenset(v for v, origin in enumerate(made.origins) if now[v] == 1 < before[origin])
    return Code(replace(facts, graph=made.graph, plan=made.plan, blocks=blocks, clones=()), joined)


def _predecessors(graph: Graph) -> Counter[int]:
    """The number of edges into each block."""
    return Counter(edge.dst for edge in graph.edges if edge.kind is EdgeKind.FLOW)


def origin_of(facts: FunctionFacts, block: int) -> int:
    """The block of the graph that a block of the code is, or is a clone of; negative numbers are kept."""
    return block if block < facts.graph.exit else facts.clones[block - facts.graph.exit][0]
