"""Which blocks does a source line hold?

Those that mention it.  A line of which several copies were inlined into a function has a stretch of blocks
for each copy.  A line that calls what was inlined stays with the call until it is over: the blocks of the
inlined code belong to it too, however deep.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from trodden.graph.cfg import Graph
from trodden.program.facts import BlockFacts, FunctionFacts, LineRef

Key = tuple[int, int, int]


@dataclass(slots=True)
class Stretch:
    """The blocks of one copy of a line; ``inner`` are those that hold nothing but code inlined at it."""

    blocks: set[int] = field(default_factory=set)
    inner: set[int] = field(default_factory=set)


def stretches(facts: FunctionFacts) -> dict[Key, Stretch]:
    """The stretch of each copy of each line, by copy, file and line."""
    found: dict[Key, Stretch] = {}
    for vertex, block in enumerate(facts.blocks):
        for key in {(ref.copy, ref.file, ref.line) for ref in block.lines if ref.line > 0}:
            found.setdefault(key, Stretch()).blocks.add(vertex)
    if facts.inlined:
        _add_calls(facts, found)
    return found


def _add_calls(facts: FunctionFacts, found: dict[Key, Stretch]) -> None:
    """Give each line the blocks of the code that was inlined at it."""
    chains = _chains(facts)
    for vertex, block in enumerate(facts.blocks):
        copies = {ref.copy for ref in block.lines}
        around = Counter(key for copy in copies for key in chains[copy])
        for key, times in around.items():
            stretch = found.setdefault(key, Stretch())
            stretch.blocks.add(vertex)
            if times == len(copies):
                stretch.inner.add(vertex)
    for vertex, keys in _silent_blocks(facts, chains):
        for key in keys:
            found[key].blocks.add(vertex)
            found[key].inner.add(vertex)


def _chains(facts: FunctionFacts) -> list[tuple[Key, ...]]:
    """For each copy the lines of the calls that it was inlined through."""
    chains: list[tuple[Key, ...]] = [()]
    for call in facts.inlined:
        outer = chains[call.copy]
        chains.append((*outer, (call.copy, call.file, call.line)) if call.line > 0 else outer)
    return chains


def _silent_blocks(facts: FunctionFacts, chains: Sequence[tuple[Key, ...]]) -> Iterator[tuple[int, set[Key]]]:
    """Blocks without any line, and the lines at whose calls they were inlined.

    Compilers leave blocks that only jump without a line.  Such blocks, as far as they hang together, are
    inlined at a line if control comes to them from that line or its calls, and goes back there.
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
    """The blocks before and behind one, with the last line of the former and the first of the latter."""
    for index in graph.in_edges[vertex]:
        source = graph.edges[index].src
        refs = blocks[source].lines if source != graph.exit else ()
        yield source, refs[-1] if refs else None
    for index in graph.out_edges[vertex]:
        target = graph.edges[index].dst
        refs = blocks[target].lines if target != graph.exit else ()
        yield target, refs[0] if refs else None


def _around(ref: LineRef | None, chains: Sequence[tuple[Key, ...]]) -> set[Key]:
    """A line and those of the calls that it was inlined through."""
    return set() if ref is None else {(ref.copy, ref.file, ref.line), *chains[ref.copy]}
