"""Cases of a switch that lead to the same block: several edges of the graph, one decision to a reader.

Each such edge is counted by itself.  Coverage takes them together, as branches do: what follows any of them
is the same, and an input for each value of ``case 0 ... 49`` tests nothing new.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from trodden.plan.probes import Paths
from trodden.plan.routes import PathCount
from trodden.program.facts import FunctionFacts


def representatives(facts: FunctionFacts, paths: Paths | None) -> Sequence[int]:
    """For each edge the first of those that are like it; paths end on all of these or on none."""
    ends = frozenset() if paths is None else frozenset((*paths.cuts, *paths.resume_edges))
    first: dict[tuple[object, ...], int] = {}
    return [first.setdefault((*edge, index in ends), index) for index, edge in enumerate(facts.graph.edges)]


def joined_paths(paths: Iterable[PathCount], represented: Sequence[int]) -> list[PathCount]:
    """The paths that differ in more than parallel edges, each with the sum of what it stands for."""
    found: dict[tuple[object, ...], PathCount] = {}
    for path in paths:
        edges = tuple(represented[edge] for edge in path.edges)
        key = path.starts, path.context, path.blocks, edges, path.ends
        known = found.get(key)
        count = path.count if known is None else known.count + path.count
        found[key] = replace(known or path, edges=edges, count=count)
    return list(found.values())
