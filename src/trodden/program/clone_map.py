"""From the blocks of a function's code, where some have copies, to those of its graph and back.

Frames are found in the code; what is told of them belongs to the graph.  See
:mod:`trodden.plan.paths.block_cloning`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.paths.block_cloning import cloned
from trodden.program.facts import FunctionFacts


@dataclass(frozen=True)
class Code:
    """A function as its code is: in ``facts`` every copy is a block of the graph.

    ``joined`` are the blocks to which one way is left where several led, as the others lead to copies.
    """

    facts: FunctionFacts
    joined: frozenset[int] = frozenset()


def code_of(facts: FunctionFacts) -> Code:
    """The code of a function."""
    if not facts.copies:
        return Code(facts)
    made = cloned(facts.graph, facts.plan, facts.copies)
    blocks = tuple(facts.blocks[origin] for origin in made.origins)
    before, now = _ways_to(facts.graph), _ways_to(made.graph)
    joined = frozenset(v for v, origin in enumerate(made.origins) if now[v] == 1 < before[origin])
    return Code(replace(facts, graph=made.graph, plan=made.plan, blocks=blocks, copies=()), joined)


def _ways_to(graph: Graph) -> Counter[int]:
    return Counter(edge.dst for edge in graph.edges if edge.kind is EdgeKind.FLOW)


def origin_of(facts: FunctionFacts, block: int) -> int:
    """The block of the graph that a block of the code stands for; a number below 0 stands for none."""
    return block if block < facts.graph.exit else facts.copies[block - facts.graph.exit][0]
