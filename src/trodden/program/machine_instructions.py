"""The machine instructions of a function's code, as a collector has counted them in the finished program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

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


def machine_to_columns(machine: MachineInstructions) -> list[list[int]]:
    """Two columns: the sizes of blocks; and of edges, each less that of its source."""
    pairs = zip(machine.blocks, machine.edges, strict=True)
    return [list(machine.blocks), [size - block for block, sizes in pairs for size in sizes]]


def machine_from_columns(
    blocks: Sequence[int], differences: Sequence[int], numbers: Sequence[int]
) -> MachineInstructions:
    """The same from two columns; ``numbers`` is how many edges each block of the code has."""
    ends = list(accumulate(numbers))
    edges = tuple(
        tuple(block + difference for difference in differences[end - number : end])
        for block, number, end in zip(blocks, numbers, ends, strict=True)
    )
    return MachineInstructions(tuple(blocks), edges)
