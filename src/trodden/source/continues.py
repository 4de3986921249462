"""Where control continues along an edge, to a reader of the source.

Blocks that only jump are passed, and so are those that branch on what the edge has decided already: the truth
value of ``a && b`` is merged where control joins again.
"""

from __future__ import annotations

from collections.abc import Sequence

from trodden.profile.analysis.feasible import arrives, possible_edges
from trodden.program.facts import FunctionFacts, LineRef

_VALUE_AND_BRANCH = 2
"""The instructions of a block that merges values and branches on the result."""


def own_code(facts: FunctionFacts, block: int) -> Sequence[LineRef]:
    """The lines of a block: in code that was not optimised, those that a jump only mentions are none."""
    return [ref for _, ref in numbered_own_code(facts, block)]


def numbered_own_code(facts: FunctionFacts, block: int) -> Sequence[tuple[int, LineRef]]:
    """The same, each with its index among the lines of the block."""
    own = facts.blocks[block]
    return list(enumerate(own.lines)) if facts.optimised else own.statement_lines


def continues_at(facts: FunctionFacts, edge: int) -> int:
    """The first block that has a line or a decision of its own, or EXIT."""
    graph, truth, seen = facts.graph, arrives(facts, edge, None), set[int]()
    while (block := graph.edges[edge].dst) != graph.exit and block not in seen:
        seen.add(block)
        merges = truth is not None and facts.blocks[block].size <= _VALUE_AND_BRANCH and not facts.optimised
        if not merges and any(ref.line > 0 for ref in own_code(facts, block)):
            break
        leaving = possible_edges(facts, block, truth)
        if len(leaving) != 1:
            break
        edge = leaving[0]
        truth = arrives(facts, edge, truth)
    return block
