"""The paths that a function has executed, as a tree of their prefixes.

Paths with a common prefix share its nodes, so that the tree has for every prefix how often it was executed,
and which edges were taken after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trodden.graph.cfg import EdgeKind
from trodden.plan.routes import PathCount, PathEnd, PathStart
from trodden.program.facts import FunctionFacts


class Start(NamedTuple):
    """Where a path starts: the kind of its start, its block and, in context, the edges before it."""

    kind: PathStart
    block: int
    context: tuple[int, ...] = ()


def start_of(path: PathCount) -> Start:
    """The start of a path; paths with the same start are alternatives to each other."""
    return Start(path.starts, path.blocks[path.context], path.edges[: path.context])


def executed_blocks(path: PathCount) -> tuple[int, ...]:
    """The blocks of a path without those of its loop context."""
    return path.blocks[path.context :]


def executed_edges(path: PathCount) -> tuple[int, ...]:
    """The edges that it took itself, including the one that it ended on."""
    return path.edges[path.context :]


def edges_out(facts: FunctionFacts, block: int) -> Sequence[int]:
    """The edges that a path can take out of a block; paths do not contain self loops."""
    edges = facts.graph.edges
    return [
        e for e in facts.graph.out_edges[block] if edges[e].kind is EdgeKind.FLOW and edges[e].dst != block
    ]


def is_complete(facts: FunctionFacts, path: PathCount) -> bool:
    """Whether a path came to an end; one that was cut short in a block without successors did.

    So did one that left by a call which never returns, or by an exception: it took its last edge.
    """
    if path.ends is not PathEnd.UNWOUND or len(path.edges) == len(path.blocks):
        return True
    return not edges_out(facts, path.blocks[-1])


@dataclass(eq=False, slots=True)
class Node:
    """A prefix of paths that ends in ``block`` and was executed ``count`` times.

    ``extensions`` are the prefixes that are one edge longer; a path that ended on an edge has a last node
    without a block.  ``edge`` leads from its ``parent`` to it.
    """

    block: int | None
    parent: Node | None = None
    edge: int = -1
    count: int = 0
    extensions: dict[int, Node] = field(default_factory=dict)

    def edges(self) -> tuple[int, ...]:
        """The edges from the start to here."""
        found: list[int] = []
        node = self
        while node.parent is not None:
            found.append(node.edge)
            node = node.parent
        return tuple(reversed(found))


class PathTree:
    """The tree of some paths; ``starts`` are its roots."""

    def __init__(self, paths: Iterable[PathCount]) -> None:
        self.starts: dict[Start, Node] = {}
        for path in paths:
            self._add(path)

    def _add(self, path: PathCount) -> None:
        blocks, start = executed_blocks(path), start_of(path)
        node = self.starts.setdefault(start, Node(blocks[0]))
        node.count += path.count
        for position, edge in enumerate(executed_edges(path), 1):
            longer = node.extensions.get(edge)
            if longer is None:
                block = blocks[position] if position < len(blocks) else None
                longer = node.extensions[edge] = Node(block, node, edge)
            longer.count += path.count
            node = longer

    def nodes(self) -> Iterator[tuple[Start, int, Node]]:
        """Every prefix that ends in a block, with its start and that block."""
        for start, top in self.starts.items():
            work = [top]
            while work:
                node = work.pop()
                if node.block is not None:
                    yield start, node.block, node
                work += reversed(node.extensions.values())

    def follow(self, path: PathCount) -> list[Node]:
        """The nodes of a path, as far as the tree has them: none if it has no path with that start."""
        node = self.starts.get(start_of(path))
        found: list[Node] = []
        edges = iter(executed_edges(path))
        while node is not None:
            found.append(node)
            edge = next(edges, None)
            node = None if edge is None else node.extensions.get(edge)
        return found
