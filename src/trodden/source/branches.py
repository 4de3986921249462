"""The branches of a function at their source lines, with the counts of their outcomes.

They are what gcov counts: the outcomes of conditions and switches.  An outcome is a successor block, however
many cases of a switch lead to it; one that holds nothing but ``unreachable`` is none.  Calls that may throw
are no branches.

Before optimisation the truth value of ``a && b`` is a phi where control joins again, and the branch follows
there.  Control that arrives along an edge on which the phi is constant decides nothing in that branch; what
remains are the outcomes of the last operand.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from trodden.graph.cfg import EdgeKind
from trodden.profile.model import Count, FunctionProfile
from trodden.program.facts import BlockFacts, BranchKind, FunctionFacts, LineRef
from trodden.source.continues import continues_at, own_code

_NO_BRANCHES = frozenset({BranchKind.CALL, BranchKind.UNWIND})


@dataclass(frozen=True, slots=True)
class Outcome:
    """A successor of a branch: its first line, if that is in the branch's file, and the count of the edge.

    ``label`` is the line with its file if it is in another one, or else the block; ``edge`` the first of the
    edges that lead there.
    ``elsewhere``: another copy of the branch, whose outcomes cannot be assigned to these, has taken this one;
    ``None`` if it may have.
    """

    line: int | None
    label: str
    count: Count
    elsewhere: bool | None = False
    edge: int = field(default=-1, compare=False)

    @property
    def taken(self) -> bool | None:
        """Whether it was ever taken, ``None`` if that is not known."""
        return True if self.count else self.elsewhere


@dataclass(frozen=True, slots=True)
class Branch:
    """A block with several successors, its count (``ran``) and the inlined ``instance`` of its line.

    ``vertex`` is the block that has the successors.  ``decides`` are the edges into it on which the branch
    depends, if there are others on which the successor follows from the edge.  ``column`` is that of what is
    tested, 0 if it is not known.  A ``loose`` branch is a copy of the one before it, whose outcomes cannot be
    assigned to those of that one.
    """

    file: str
    line: int
    label: str
    ran: Count
    outcomes: tuple[Outcome, ...]
    instance: int = 0
    vertex: int = field(default=-1, compare=False)
    decides: tuple[int, ...] | None = field(default=None, compare=False)
    column: int = 0
    optimised: bool = False
    loose: bool = False
    function: FunctionProfile | None = field(default=None, compare=False, repr=False)


def branches(function: FunctionProfile) -> Iterator[Branch]:
    """The branches that have a source line and whose edges were counted, in the order of the blocks."""
    for vertex, facts in enumerate(function.facts.blocks):
        if facts.kind in _NO_BRANCHES:
            continue
        edges = _outcome_edges(function.facts, vertex)
        counts = _outcome_counts(function, edges)
        if counts is None or len(counts) < 2:
            continue
        ran, decides, location = function.block_counts[vertex], None, _location(facts)
        truth = function.facts.truths.get(vertex)
        if truth is not None and truth.tested and truth.logical and len(edges) == 2:
            remaining = _remaining(function, vertex, counts)
            if remaining is None:
                continue
            counts, decides = remaining
            ran = sum(counts)
            if len(decides) == 1:
                source = function.facts.graph.edges[decides[0]].src
                location = _location(function.facts.blocks[source]) or location
        if location is None:
            continue
        yield Branch(
            function.files[location.file].path,
            location.line,
            function.facts.graph.labels[vertex],
            ran,
            tuple(
                _outcome(function, each[0], location, count)
                for each, count in zip(edges, counts, strict=True)
            ),
            location.instance,
            vertex,
            decides,
            facts.column,
            function.facts.optimised and facts.column > 0,
            function=function,
        )


def _location(facts: BlockFacts) -> LineRef | None:
    """The line of a block's end."""
    known = [*facts.lines, *([facts.branch] if facts.branch else [])]
    return next((ref for ref in reversed(known) if ref.line > 0), None)


def _outcome_edges(facts: FunctionFacts, vertex: int) -> list[list[int]]:
    """The edges out of a block by their targets, in the order of the first."""
    graph = facts.graph
    found: dict[int, list[int]] = {}
    for index in graph.out_edges[vertex]:
        target = graph.edges[index].dst
        if graph.edges[index].kind is EdgeKind.FLOW and not _is_unreachable(facts, target):
            found.setdefault(target, []).append(index)
    return list(found.values())


def _is_unreachable(facts: FunctionFacts, vertex: int) -> bool:
    """Whether a block holds nothing but an ``unreachable``."""
    if vertex == facts.graph.exit:
        return False
    block = facts.blocks[vertex]
    return block.kind is BranchKind.DEAD_END and block.size <= 1


def _outcome_counts(function: FunctionProfile, outcomes: list[list[int]]) -> list[Count] | None:
    """The counts of the outcomes, None if some edge was not counted."""
    found: list[Count] = []
    for edges in outcomes:
        total: Count = 0
        for edge in edges:
            count = function.edge_counts[edge]
            if count is None:
                return None
            total += count
        found.append(total)
    return found


def _remaining(
    function: FunctionProfile, vertex: int, counts: list[Count]
) -> tuple[list[Count], tuple[int, ...]] | None:
    """The outcomes without control that arrived along edges which decide them, and the edges that do not.

    None if all edges do, or if some edge was not counted.
    """
    graph, truths = function.facts.graph, function.facts.truths
    true, false = counts
    open_edges: list[int] = []
    work = [(vertex, False)]
    seen = {vertex}
    while work:
        block, negated = work.pop()
        truth = truths[block]
        for edge in graph.in_edges[block]:
            if graph.edges[edge].kind is not EdgeKind.FLOW:
                continue
            count = function.edge_counts[edge]
            if edge in truth.known:
                if count is None:
                    return None
                if truth.known[edge] != negated:
                    true -= count
                else:
                    false -= count
            elif edge in truth.passed and truth.passed[edge][0] not in seen:
                source, inverted = truth.passed[edge]
                if len(graph.out_edges[source]) > 1:
                    open_edges.append(edge)
                else:
                    seen.add(source)
                    work.append((source, negated != inverted))
            else:
                open_edges.append(edge)
    if not open_edges:
        return None
    return [max(true, 0), max(false, 0)], tuple(sorted(open_edges))


def _outcome(function: FunctionProfile, edge: int, location: LineRef, count: Count) -> Outcome:
    facts = function.facts
    block = continues_at(facts, edge)
    if facts.graph.edges[edge].dst == facts.graph.exit:
        return Outcome(None, "exit", count, edge=edge)
    lines = () if block == facts.graph.exit else own_code(facts, block)
    refs = [ref for ref in lines if ref.line > 0]
    line = next((ref.line for ref in refs if ref.file == location.file), None)
    label = facts.graph.labels[facts.graph.edges[edge].dst]
    if refs and line is None:
        label = f"{os.path.basename(function.files[refs[0].file].path)}:{refs[0].line}"
    elif not refs and block != facts.graph.exit and facts.blocks[block].kind is BranchKind.UNWIND:
        label = "exit"
    return Outcome(line, label, count, edge=edge)
