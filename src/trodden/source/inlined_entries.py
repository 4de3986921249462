"""How often were the functions entered that were inlined into another one?

An inlined instance is entered when control arrives at its code from elsewhere: from a block without code of
the instance, or from one that ends in other code.  What is inlined into an instance belongs to it.  An
optimiser moves code away from its call: where control has always passed other code of the instance before, in
the same iteration of a loop, it was entered there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trodden.graph.cfg import EdgeKind
from trodden.graph.dominators import find_dominators
from trodden.graph.loops import find_nested_loops
from trodden.graph.precedence import Preceding
from trodden.profile.model import Count, FunctionProfile
from trodden.program.facts import FunctionFacts, Subprogram


@dataclass(frozen=True, slots=True)
class InlinedEntries:
    """An inlined instance of ``callee``, its own lines in its file, and how often it was entered."""

    callee: Subprogram
    lines: frozenset[int]
    count: Count


def inlined_entries(function: FunctionProfile) -> Iterator[InlinedEntries]:
    """The inlined instances of a function whose callees are known."""
    facts = function.facts
    if not facts.callees:
        return
    around = _around(facts)
    blocks: list[set[int]] = [set() for _ in around]
    lines: list[set[int]] = [set() for _ in around]
    for vertex, block in enumerate(facts.blocks):
        for ref in block.lines:
            if ref.instance and ref.line > 0 and ref.file == facts.callees[ref.instance - 1].file:
                lines[ref.instance].add(ref.line)
            for instance in around[ref.instance]:
                blocks[instance].add(vertex)
    dominators, loops = find_dominators(facts.graph), find_nested_loops(facts.graph)
    for instance, callee in enumerate(facts.callees, 1):
        before = Preceding(blocks[instance], dominators, loops) if loops.reducible else None
        count = _entries(function, instance, blocks[instance], around, before)
        yield InlinedEntries(callee, frozenset(lines[instance]), count)


def _around(facts: FunctionFacts) -> list[frozenset[int]]:
    """For each instance itself and those that it was inlined into, the function's own code left out."""
    found: list[frozenset[int]] = [frozenset()]
    for number, call in enumerate(facts.inlined, 1):
        found.append(found[call.instance] | {number})
    return found


def _entries(
    function: FunctionProfile,
    instance: int,
    inside: set[int],
    around: list[frozenset[int]],
    before: Preceding | None,
) -> Count:
    """How often control arrived at an instance; at least once if any of its blocks was executed."""
    facts, graph = function.facts, function.facts.graph
    entered: Count = function.entries if graph.root in inside else 0
    for vertex in inside:
        for index in graph.in_edges[vertex]:
            edge, count = graph.edges[index], function.edge_counts[index]
            if edge.kind is not EdgeKind.FLOW:
                continue
            if count is None:
                return max(function.block_counts[block] for block in inside)
            ends = facts.blocks[edge.src].branch or next(reversed(facts.blocks[edge.src].lines), None)
            elsewhere = edge.src not in inside or (ends is not None and instance not in around[ends.instance])
            if elsewhere and count and (before is None or not before.precede(vertex)):
                entered += count
    return entered or int(any(function.block_counts[block] for block in inside))
