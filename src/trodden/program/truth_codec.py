"""The truth values that blocks have by phis, as columns of numbers, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trodden.graph.cfg import Graph
from trodden.program.checked import ColumnError, columns, ints, same_length
from trodden.program.facts import TruthPhi


def truths_to_columns(truths: Mapping[int, TruthPhi]) -> list[list[int]]:
    """Four columns: the block with two flags, the number of its edges; the edges and their codes.

    The flags are 1 if the block branches on the value and 2 if it is logical; the block is multiplied by 4.

    The code of an edge is its truth value, 0 or 1, or else 2 if the value is that of its source, 3 if it is
    the negation of that.
    """
    heads: list[int] = []
    sizes: list[int] = []
    edges: list[int] = []
    codes: list[int] = []
    for block, truth in truths.items():
        heads.append(4 * block + 2 * truth.logical + truth.tested)
        sizes.append(len(truth.known) + len(truth.passed))
        edges += [*truth.known, *truth.passed]
        codes += [*map(int, truth.known.values()), *(2 + negated for _, negated in truth.passed.values())]
    return [heads, sizes, edges, codes]


def truths_from_columns(data: Any, graph: Graph) -> dict[int, TruthPhi]:
    """The truth values, every index checked against the graph."""
    heads, sizes, edges, codes = columns(data, 4, "phis")
    same_length(ints(heads, 0, 4 * graph.exit), ints(sizes, 0))
    same_length(ints(edges, 0, len(graph.edges)), ints(codes, 0, 4))
    if sum(sizes) != len(edges):
        raise ColumnError("phis and their edges differ in number")
    found: dict[int, TruthPhi] = {}
    end = 0
    for head, size in zip(heads, sizes, strict=True):
        block, end = head // 4, end + size
        values = dict(zip(edges[end - size : end], codes[end - size : end], strict=True))
        if head % 2 and len(graph.out_edges[block]) < 2:
            raise ColumnError("a phi is tested in a block that does not branch")
        if block in found or len(values) != size or any(graph.edges[edge].dst != block for edge in values):
            raise ColumnError("a phi has edges that do not lead to it")
        known = {edge: code == 1 for edge, code in values.items() if code < 2}
        passed = {edge: (graph.edges[edge].src, code == 3) for edge, code in values.items() if code >= 2}
        found[block] = TruthPhi(known, passed, head % 2 == 1, head & 2 == 2)
    if any(source not in found for phi in found.values() for source, _ in phi.passed.values()):
        raise ColumnError("a phi takes its value from a block that has none")
    return found
