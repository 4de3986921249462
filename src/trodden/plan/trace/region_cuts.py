"""Where regions are cut, so that their numbers stay small: a number below 224 takes one byte.

Cutting an edge leaves one way along it for what comes before, whatever comes behind; in return, one more
number is written whenever the edge is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from trodden.plan.paths.dag import ArcKind, Dag


def choose_region_cuts(dag: Dag, weights: Sequence[float], limit: int) -> list[int]:
    """The edges to cut so that no node has more than ``limit`` paths below it, if its out-edges allow that.

    One pass from the end.  The out-edges of a node with too many paths are cut in the order of their weights,
    and no further than pays: cutting another one may save more bits of later numbers, for its weight, than
    those before it.  (Of two equally likely edges with 128 paths each, cutting one leaves 129 paths, and half
    of all numbers are followed by another; cutting both leaves 2, so six more branches fit in.)
    """
    cuts: list[int] = []
    paths_from = [1] * len(dag.outs)
    for node in reversed(dag.order[1:]):
        outs = dag.outs[node]
        if not outs:
            continue
        paths_from[node] = sum(paths_from[dag.arcs[number].dst] for number in outs)
        if paths_from[node] > limit:
            chosen = _cheapest_cuts(dag, node, weights, limit, paths_from)
            cuts += [dag.arcs[number].of for number in chosen]
    return sorted(cuts)


def _cheapest_cuts(
    dag: Dag, node: int, weights: Sequence[float], limit: int, paths_from: list[int]
) -> list[int]:
    """The arcs of a node to cut; what is left below it is stored in ``paths_from``."""
    worthwhile = sorted(
        (
            number
            for number in dag.outs[node]
            if dag.arcs[number].kind is ArcKind.REAL and paths_from[dag.arcs[number].dst] > 1
        ),
        key=lambda number: weights[dag.arcs[number].of],
    )
    before = left = paths_from[node]
    cost = 0.0
    best, size = None, len(worthwhile)
    paths_from[node] = before - sum(paths_from[dag.arcs[number].dst] - 1 for number in worthwhile)
    for position, number in enumerate(worthwhile):
        left -= paths_from[dag.arcs[number].dst] - 1
        cost += weights[dag.arcs[number].of]
        price = cost / (math.log2(before) - math.log2(left))
        if left <= limit and (best is None or price < best):
            best, size, paths_from[node] = price, position + 1, left
    return worthwhile[:size]
