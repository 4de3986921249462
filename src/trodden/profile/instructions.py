"""How many instructions a function executes in each block and along each edge.

They are machine instructions of the finished program where these are known
(:mod:`trodden.collect.instructions`), and instructions of LLVM IR otherwise.  Code may have clones of a
block, whose instructions differ; since a path determines which of them it leads through, the numbers are
averages over the paths that were executed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trodden.plan.paths.block_cloning import ClonedGraph, clone_graph
from trodden.plan.routes import PathCount, PathStart
from trodden.program.facts import FunctionFacts
from trodden.program.machine_instructions import SCALE, ways_out


@dataclass(frozen=True)
class Instructions:
    """``blocks[v]`` is the average number of instructions that control executes in block ``v``.

    ``edges[e]`` is the number from the start of the source of edge ``e`` until control has left along it.
    ``machine``: they are those of the machine, not of IR.
    """

    blocks: Sequence[float]
    edges: Sequence[float]
    machine: bool

    def along(self, blocks: Sequence[int], edges: Sequence[int]) -> float:
        """The number along a path that leads over blocks by edges; its last block may have no edge."""
        last = sum(self.blocks[block] for block in blocks[len(edges) :])
        return sum(self.edges[edge] for edge in edges) + last


def instructions_of(facts: FunctionFacts, paths: Iterable[PathCount] = ()) -> Instructions:
    """The instructions of a function; ``paths`` are those that it has executed, as far as they are known."""
    graph, machine = facts.graph, facts.machine
    if machine is None:
        sizes = [float(block.instructions) for block in facts.blocks]
        edges = [sizes[edge.src] if edge.src < graph.exit else 0.0 for edge in graph.edges]
        return Instructions(sizes, edges, machine=False)
    visits, ways = _uses(facts, paths)
    blocks: dict[int, list[tuple[int, int]]] = defaultdict(list)
    along: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for vertex, origin, used in visits:
        blocks[origin].append((machine.blocks[vertex], used))
        for position, edge in enumerate(ways_out(graph, origin)):
            # The iterations of a self loop are part of no path.
            often = used if graph.edges[edge].dst == origin else ways[vertex, edge]
            along[edge].append((machine.edges[vertex][position], often))
    return Instructions(
        [_average(blocks[block]) for block in range(graph.exit)],
        [_average(along[edge]) for edge in range(len(graph.edges))],
        machine=True,
    )


def _average(sizes: Sequence[tuple[int, int]]) -> float:
    """The average size by how often each was executed; of all of them alike if none was."""
    total = sum(often for _, often in sizes)
    if total:
        return sum(size * often for size, often in sizes) / total / SCALE
    return sum(size for size, _ in sizes) / len(sizes) / SCALE if sizes else 0.0


def _uses(
    facts: FunctionFacts, paths: Iterable[PathCount]
) -> tuple[list[tuple[int, int, int]], Counter[tuple[int, int]]]:
    """How often each block of the code was executed, with its original, and each of them left by an edge.

    Blocks of the code that control cannot reach are left out.
    """
    ways: Counter[tuple[int, int]] = Counter()
    if not facts.clones:
        return [(block, block, 0) for block in range(facts.graph.exit)], ways
    made = clone_graph(facts.graph, facts.plan, facts.clones)
    targets = {
        (made.graph.edges[edge].src, original): made.graph.edges[edge].dst
        for edge, original in enumerate(made.edges)
        if original is not None
    }
    starts = _starts(facts, made)
    visits: Counter[int] = Counter()
    for path in paths:
        first = path.blocks[0]
        vertex = facts.graph.root if path.starts is PathStart.ENTRY else starts.get(first, first)
        visits[vertex] += path.count
        for edge in path.edges:
            ways[vertex, edge] += path.count
            vertex = targets.get((vertex, edge), made.graph.exit)
            visits[vertex] += path.count
    reached = ((vertex, origin) for vertex, origin in enumerate(made.origins) if vertex in made.reached)
    return [(vertex, origin, visits[vertex]) for vertex, origin in reached], ways


def _starts(facts: FunctionFacts, made: ClonedGraph) -> dict[int, int]:
    """The block of the code in which a path starts behind an edge on which another ends, by its original."""
    paths = facts.plan.paths
    assert paths is not None
    ends = {*paths.back_edges, *paths.cuts, *paths.resume_edges}
    return {
        facts.graph.edges[original].dst: made.graph.edges[edge].dst
        for edge, original in enumerate(made.edges)
        if original in ends
    }
