"""Which blocks belong to a source line?

Those that hold instructions of it.  A line of which several instances were inlined into a function has a set
of blocks for each instance.  A call site that was inlined lasts until the call returns: the blocks of the
inlined code belong to its line too, at any depth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from trodden.graph.cfg import Graph
from trodden.program.facts import BlockFacts, FunctionFacts, LineRef

Key = tuple[int, int, int]


@dataclass(slots=True)
class LineBlocks:
    """The blocks of one inlined instance of a line; ``inner`` hold nothing but code inlined at it."""

    blocks: set[int] = field(default_factory=set)
    inner: set[int] = field(default_factory=set)


def line_blocks(facts: FunctionFacts) -> dict[Key, LineBlocks]:
    """The blocks of each line, by inlined instance, file and line."""
    found: dict[Key, LineBlocks] = {}
    for vertex, block in enumerate(facts.blocks):
        for key in {(ref.instance, ref.file, ref.line) for ref in block.lines if ref.line > 0}:
            found.setdefault(key, LineBlocks()).blocks.add(vertex)
    if facts.inlined:
        _add_calls(facts, found)
    return found


def _add_calls(facts: FunctionFacts, found: dict[Key, LineBlocks]) -> None:
    """Add to each line the blocks of the code that was inlined at it."""
    chains = _chains(facts)
    for vertex, block in enumerate(facts.blocks):
        instances = {ref.instance for ref in block.lines}
        around = Counter(key for instance in instances for key in chains[instance])
        for key, times in around.items():
            line = found.setdefault(key, LineBlocks())
            line.blocks.add(vertex)
            if times == len(instances):
                line.inner.add(vertex)
    for vertex, keys in _blocks_without_lines(facts, chains):
        for key in keys:
            found[key].blocks.add(vertex)
            found[key].inner.add(vertex)


def _chains(facts: FunctionFacts) -> list[tuple[Key, ...]]:
    """For each inlined instance the lines of the call sites that it was inlined through."""
    chains: list[tuple[Key, ...]] = [()]
    for call in facts.inlined:
        outer = chains[call.instance]
        chains.append((*outer, (call.instance, call.file, call.line)) if call.line > 0 else outer)
    return chains


def _blocks_without_lines(
    facts: FunctionFacts, chains: Sequence[tuple[Key, ...]]
) -> Iterator[tuple[int, set[Key]]]:
    """Blocks without any line, and the lines at whose call sites they were inlined.

    Compilers leave blocks that only jump without a line.  A connected set of such blocks is inlined at a line
    if all its predecessors and successors belong to that line or its calls.
    """
    graph, blocks = facts.graph, facts.blocks
    lines = {key for chain in chains for key in chain}
    done: set[int] = set()
    for start, block in enumerate(blocks):
        if block.lines or start in done:
            continue
        group, stack = {start}, [start]
        shared: set[Key] | None = None
        while stack:
            for other, ref in _neighbours(graph, blocks, stack.pop()):
                if ref is None and other != graph.exit:
                    stack += {other} - group
                    group.add(other)
                else:
                    near = _around(ref, chains) & lines
                    shared = near if shared is None else shared & near
        done |= group
        yield from ((vertex, shared) for vertex in group if shared)


def _neighbours(
    graph: Graph, blocks: Sequence[BlockFacts], vertex: int
) -> Iterator[tuple[int, LineRef | None]]:
    """The predecessors of a block with their last lines, and its successors with their first lines."""
    for index in graph.in_edges[vertex]:
        source = graph.edges[index].src
        refs = blocks[source].lines if source != graph.exit else ()
        yield source, refs[-1] if refs else None
    for index in graph.out_edges[vertex]:
        target = graph.edges[index].dst
        refs = blocks[target].lines if target != graph.exit else ()
        yield target, refs[0] if refs else None


def _around(ref: LineRef | None, chains: Sequence[tuple[Key, ...]]) -> set[Key]:
    """A line and those of the call sites that it was inlined through."""
    return set() if ref is None else {(ref.instance, ref.file, ref.line), *chains[ref.instance]}
