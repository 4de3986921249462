"""The least number of walks that ended somewhere on their way, so that a flow has no negative edge.

The unknown edges of a flow form a forest (BL94 §3.2).  One more walk that ended at a node takes one unit out
of the flow there, so it changes the edges between that node and the root of its tree, and no others: an edge
that leads down into a part of the tree carries one more for each end in that part, an edge that leads up one
less.  So an edge says how many ends there must at least be below it, or may be at most.  As the parts are
nested, the least numbers follow from the leaves upwards, and a way down from the root places them.  All that
takes linear time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trodden.recover.forest import depth_first_forest

_NO_LIMIT = 1 << 200
Rank = tuple[int, int]


@dataclass(frozen=True)
class _Forest:
    """``order`` has parents before children; ``above[n]`` is the edge that leads to a node, -1 at a root."""

    order: list[int]
    above: list[int]
    parent: list[int]
    base: list[int]
    left: list[int]
    certain: list[bool]


def least_stops(
    totals: Sequence[int],
    ends: Sequence[tuple[int, int]],
    sink: int,
    ranks: Sequence[Rank | None],
    turns: Sequence[tuple[int, int]] = (),
) -> tuple[list[int], list[int]] | None:
    """How many walks ended at each node, and how much more each of ``turns`` has to carry.

    ``totals`` and ``ends`` are as in :func:`trodden.recover.forest.solve` for a flow.  What ends goes on at
    ``sink``, which has no share in it.  ``ranks`` are a node's claim to an end that may be at several, the
    greatest wins; ``None`` where no walk can end.  ``turns`` are edges, known too low perhaps, by the nodes
    that they join.  The answer is ``None`` if no number of ends helps.
    """
    forest = _rooted(totals, ends, sink)
    raised = [_raise(forest, ends, turn) for turn in turns]
    nodes = len(totals)
    least, most, best = [0] * nodes, [_NO_LIMIT] * nodes, list(ranks)
    for node in reversed(forest.order):
        edge, parent = forest.above[node], forest.parent[node]
        if edge < 0:
            continue
        if forest.certain[edge]:
            if ends[edge][1] == node:
                least[node] = max(least[node], -forest.base[edge])
            else:
                most[node] = forest.base[edge]
        if least[node] > most[node]:
            return None
        least[parent] += least[node]
        rank = best[node]
        if most[node] > least[node] and rank is not None and (best[parent] or rank) <= rank:
            best[parent] = rank
    wanted = list(least)
    for node in forest.order:
        if forest.above[node] < 0 and node != sink:
            wanted[node] = -forest.left[node]
            if wanted[node] < least[node]:
                return None
    stops = _placed(forest, wanted, least, most, ranks, best)
    return None if stops is None or stops[sink] else (stops, raised)


def _placed(
    forest: _Forest,
    wanted: list[int],
    least: Sequence[int],
    most: Sequence[int],
    ranks: Sequence[Rank | None],
    best: Sequence[Rank | None],
) -> list[int] | None:
    """Hand what is wanted below each node on: to itself, or to the child with the greatest claim below it."""
    children: list[list[int]] = [[] for _ in wanted]
    for node in forest.order:
        if forest.above[node] >= 0:
            children[forest.parent[node]].append(node)
    stops = [0] * len(wanted)
    for node in forest.order:
        more = wanted[node] - sum(least[child] for child in children[node])
        for child in children[node]:
            wanted[child] = least[child]
        if not more:
            continue
        claims = [(best[child], child) for child in children[node] if most[child] > least[child]]
        claims += [(ranks[node], node)]
        for _, place in sorted(((rank, at) for rank, at in claims if rank is not None), reverse=True):
            part = more if place == node else min(more, most[place] - least[place])
            if place == node:
                stops[node] += part
            else:
                wanted[place] += part
            more -= part
        if more:
            return None
    return stops


def _rooted(totals: Sequence[int], ends: Sequence[tuple[int, int]], sink: int) -> _Forest:
    """The forest with the sink as a root, and what its edges carry if nothing ends anywhere."""
    swapped = list(range(len(totals)))
    swapped[0], swapped[sink] = sink, 0
    incident: list[list[int]] = [[] for _ in totals]
    moved = [(swapped[tail], swapped[head]) for tail, head in ends]
    for edge, (tail, head) in enumerate(moved):
        if tail != head:
            incident[tail].append(edge)
            incident[head].append(edge)
    found, found_above, spare = depth_first_forest(moved, incident, len(totals))
    order = [swapped[node] for node in found]
    above = [found_above[swapped[node]] for node in range(len(totals))]
    position = {node: number for number, node in enumerate(order)}
    covered = [0] * len(totals)
    certain = [True] * len(ends)
    for edge in spare:
        certain[edge] = False
        upper, lower = sorted(ends[edge], key=position.__getitem__)
        covered[lower] += 1
        covered[upper] -= 1
    left, base, parent = list(totals), [0] * len(ends), [-1] * len(totals)
    for node in reversed(order):
        edge = above[node]
        if edge < 0:
            continue
        tail, head = ends[edge]
        parent[node] = tail if node == head else head
        base[edge] = left[node] if node == head else -left[node]
        left[parent[node]] += left[node]
        certain[edge] = covered[node] == 0
        covered[parent[node]] += covered[node]
    return _Forest(order, above, parent, base, left, certain)


def _raise(forest: _Forest, ends: Sequence[tuple[int, int]], turn: tuple[int, int]) -> int:
    """Let an edge from one node to another carry more, as far as that mends edges and breaks none.

    What it brings to its target goes back to its source along the tree.
    """
    source, target = turn
    lines = _lines(forest, target, source)
    if lines is None:
        return 0
    short, room = 0, _NO_LIMIT
    way: list[tuple[int, int]] = []
    for upwards, node in [*((True, node) for node in lines[0]), *((False, node) for node in lines[1])]:
        edge = forest.above[node]
        # From the target upwards an edge that leads to the parent goes with the turn; from there
        # down to the source one that leads to the child does.
        along = (ends[edge][0] == node) == upwards
        way.append((edge, 1 if along else -1))
        if along:
            short = max(short, -forest.base[edge])
        else:
            room = min(room, forest.base[edge])
    amount = max(0, min(short, room))
    for edge, sign in way if amount else ():
        forest.base[edge] += sign * amount
    return amount


def _lines(forest: _Forest, one: int, other: int) -> tuple[list[int], list[int]] | None:
    """The nodes from each of two up to where their ways to the root meet, that one left out; if they do.

    Both go up by turns, so this takes no longer than they are apart.
    """
    lines: tuple[list[int], list[int]] = ([], [])
    places: tuple[dict[int, int], dict[int, int]] = ({}, {})
    nodes = [one, other]
    while nodes[0] >= 0 or nodes[1] >= 0:
        for side in (0, 1):
            node = nodes[side]
            if node < 0:
                continue
            places[side][node] = len(lines[side])
            if node in places[1 - side]:
                return lines[0][: places[0][node]], lines[1][: places[1][node]]
            lines[side].append(node)
            nodes[side] = forest.parent[node]
    return None
