"""A function as a flow graph of its lines.

A vertex is a part of a block that belongs to one line, or a block without any line.  A line of which several
instances were inlined into a function is a line for each of them, and a call site that was inlined lasts
until the call returns: what was inlined belongs to its line too, at any depth.

Compilers leave blocks without a line where branches meet.  Control does not leave a line there: such a block
is part of the line that all its predecessors are on, and one that only jumps is left out, so that its
predecessors lead to its target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from trodden.graph.cfg import EdgeKind
from trodden.graph.dominators import Dominators, find_dominators
from trodden.graph.loops import LoopForest, find_nested_loops
from trodden.profile.model import Count, FunctionProfile
from trodden.program.facts import FunctionFacts, LineRef
from trodden.source.reached import reached_lines

Key = tuple[int, int, int]
"""An inlined instance, a file and a line."""

ENTRY = -1
"""In place of the source of an edge: the function was entered."""


@dataclass(slots=True)
class LineParts:
    """The vertices of one inlined instance of a line; ``inner`` are nothing but code inlined at it."""

    parts: set[int] = field(default_factory=set)
    inner: set[int] = field(default_factory=set)


@dataclass
class LineGraph:
    """``block_of[v]`` is the block of vertex ``v``, ``counts[v]`` how often it was reached, exactly or not.

    ``copied`` are the vertices that execute their line once more, whatever precedes them.

    ``sources``, ``targets`` and ``flow`` are those of the edges; the flow is ``None`` where edges were not
    counted.
    """

    function: FunctionProfile
    block_of: list[int] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    exact: list[bool] = field(default_factory=list)
    copied: set[int] = field(default_factory=set)
    lines: dict[Key, LineParts] = field(default_factory=dict)
    sources: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    flow: list[Count | None] = field(default_factory=list)
    into: list[list[int]] = field(default_factory=list)
    out_of: list[list[int]] = field(default_factory=list)

    def add_vertex(self, block: int, count: Count, exact: bool) -> int:
        """A new vertex."""
        self.block_of.append(block)
        self.counts.append(count)
        self.exact.append(exact)
        self.into.append([])
        self.out_of.append([])
        return len(self.block_of) - 1

    def add_edge(self, source: int, target: int, flow: Count | None) -> None:
        """A new edge; ``source`` may be ``ENTRY``."""
        index = len(self.flow)
        self.sources.append(source)
        self.targets.append(target)
        self.flow.append(flow)
        self.into[target].append(index)
        if source != ENTRY:
            self.out_of[source].append(index)

    @cached_property
    def has_line(self) -> set[int]:
        """The vertices that belong to a line."""
        return {vertex for line in self.lines.values() for vertex in line.parts}

    @cached_property
    def blocks_with_line(self) -> set[int]:
        """The blocks that have a vertex which belongs to a line."""
        return {self.block_of[vertex] for vertex in self.has_line}

    @cached_property
    def dominators(self) -> Dominators:
        """The dominators of the function's blocks."""
        return find_dominators(self.function.facts.graph)

    @cached_property
    def loops(self) -> LoopForest:
        """The loops of the function's blocks."""
        return find_nested_loops(self.function.facts.graph)


def line_graph(function: FunctionProfile, added: bool = False) -> LineGraph:
    """The graph of a function; with ``added`` code of the compiler belongs to the lines that it mentions."""
    graph = LineGraph(function)
    facts = function.facts
    chains = _chains(facts)
    own: list[LineRef | None] = []
    ends: list[tuple[int, int]] = []
    for number, block in enumerate(facts.blocks):
        reached = reached_lines(function, number)
        refs = list(enumerate(block.lines)) if added else block.statement_lines
        first = len(graph.block_of)
        if not refs or reached.counts[refs[0][0]] != function.block_counts[number]:
            graph.add_vertex(number, function.block_counts[number], not function.unlocated)
            own.append(None)
        for index, ref in refs:
            exact = index < reached.unknown and not function.unlocated
            vertex = graph.add_vertex(number, reached.counts[index], exact)
            if index in block.copied_lines:
                graph.copied.add(vertex)
            own.append(ref)
        ends.append((first, len(graph.block_of) - 1))
        for vertex in range(first + 1, len(graph.block_of)):
            graph.add_edge(vertex - 1, vertex, graph.counts[vertex])
    _add_edges(graph, own, ends)
    _add_lines(graph, own, chains)
    return graph


def _chains(facts: FunctionFacts) -> list[tuple[Key, ...]]:
    """For each inlined instance the lines of the call sites that it was inlined through."""
    chains: list[tuple[Key, ...]] = [()]
    for call in facts.inlined:
        outer = chains[call.instance]
        chains.append((*outer, (call.instance, call.file, call.line)) if call.line > 0 else outer)
    return chains


def _add_edges(graph: LineGraph, own: Sequence[LineRef | None], ends: Sequence[tuple[int, int]]) -> None:
    """Add the edges between blocks, past those blocks that have no line and only jump."""
    function, blocks = graph.function, graph.function.facts.graph
    jumps: dict[int, int] = {}
    for number, (first, last) in enumerate(ends):
        leaving = [e for e in blocks.out_edges[number] if blocks.edges[e].kind is EdgeKind.FLOW]
        if own[last] is None and first == last and len(leaving) == 1 and not function.cut_short.get(number):
            target = blocks.edges[leaving[0]].dst
            if target != blocks.exit:
                jumps[number] = target
    landing = _ends_of_jumps(jumps)
    graph.add_edge(ENTRY, ends[landing.get(blocks.root, blocks.root)][0], function.entries)
    for index in blocks.flow_edges():
        source, target, _ = blocks.edges[index]
        if target != blocks.exit and landing.get(source) is None:
            there = landing.get(target, target)
            graph.add_edge(ends[source][1], ends[there][0], function.edge_counts[index])


def _ends_of_jumps(jumps: dict[int, int]) -> dict[int, int]:
    """Where control arrives that follows jumps only; those that go round for ever are left as they are."""
    found: dict[int, int] = {}
    for start in jumps:
        walk: dict[int, None] = {}
        here = start
        while here in jumps and here not in walk and here not in found:
            walk[here] = None
            here = jumps[here]
        if here in walk:
            continue
        end = found.get(here, here)
        found |= dict.fromkeys(walk, end)
    return found


def _add_lines(graph: LineGraph, own: Sequence[LineRef | None], chains: Sequence[tuple[Key, ...]]) -> None:
    """Say which vertices belong to which line."""
    around: list[dict[Key, bool] | None] = []
    for ref in own:
        if ref is None:
            around.append(None)
            continue
        keys = dict.fromkeys(chains[ref.instance], True)
        if ref.line > 0:
            keys[ref.instance, ref.file, ref.line] = False
        around.append(keys)
    _add_blocks_without_lines(graph, around)
    for vertex, keys_of in enumerate(around):
        for key, inner in (keys_of or {}).items():
            line = graph.lines.setdefault(key, LineParts())
            line.parts.add(vertex)
            if inner:
                line.inner.add(vertex)


def _add_blocks_without_lines(graph: LineGraph, around: list[dict[Key, bool] | None]) -> None:
    """Give a vertex without a line those lines that all its predecessors are on.

    It starts from what any predecessor has, and takes away until nothing changes.
    """
    empty = {vertex for vertex, keys in enumerate(around) if keys is None and graph.into[vertex]}
    waiting = sorted(empty, reverse=True)
    while waiting:
        vertex = waiting.pop()
        before = around[vertex]
        after = _shared(around, [graph.sources[index] for index in graph.into[vertex]])
        if after is not None and after != before:
            around[vertex] = after
            following = (graph.targets[index] for index in graph.out_of[vertex])
            waiting += [target for target in following if target in empty]


def _shared(around: Sequence[dict[Key, bool] | None], sources: Sequence[int]) -> dict[Key, bool] | None:
    """The lines that all of some vertices are on, as far as theirs are known already."""
    shared: dict[Key, bool] | None = None
    for source in sources:
        keys = {} if source == ENTRY else around[source]
        if keys is None:
            continue
        if shared is None:
            shared = dict(keys)
        else:
            shared = {key: inner and keys[key] for key, inner in shared.items() if key in keys}
    return shared
