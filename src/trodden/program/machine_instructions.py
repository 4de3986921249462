"""The machine instructions of a function's code, as a collector has counted them in the finished program."""

from __future__ import annotations

from dataclasses import dataclass

from trodden.graph.cfg import EdgeKind, Graph

SCALE = 100
"""Numbers of instructions are kept in hundredths: an average need not be whole."""


@dataclass(frozen=True, slots=True)
class MachineInstructions:
    """In hundredths, for each block of the code: the blocks of the graph, and then the clones.

    ``blocks[v]`` is what control executes on average in block ``v``.  ``edges`` has, for each block of the
    code, what control executes from its start until it has left along each of its edges: those of the
    graph that :func:`ways_out` lists, in that order.
    """

    blocks: tuple[int, ...]
    edges: tuple[tuple[int, ...], ...]


def ways_out(graph: Graph, block: int) -> list[int]:
    """The edges along which control may leave a block of the graph."""
    return [edge for edge in graph.out_edges[block] if graph.edges[edge].kind is EdgeKind.FLOW]
