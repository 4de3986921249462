"""The least number of walks that stopped before their end, such that no edge of a flow is negative.

The unknown edges of a flow form a forest (BL94 §3.2).  One more walk that stopped at a node takes one unit
out of the flow there, so that it changes the edges between that node and the root of its tree, and no others:
an edge that leads down into a subtree carries one more for each stop in that subtree, an edge that leads up
carries one less.  Therefore each edge is a bound on the number of stops below it: at least so many, or at
most.  As subtrees are nested, one pass from the leaves to the roots finds the least numbers and the nodes for
them.  The nodes with room for a stop are kept in mergeable queues (:mod:`trodden.recover.killed.room`), so
that the pass takes O(n log² n) time at worst.

Three steps, in this order:

1. ``root_forest``: the forest, with what its edges carry if no walk stopped.
2. ``raise_back_edges``: a back edge whose count may be too low is raised as far as that makes negative edges
   less negative and no other edge negative.  A loop that is counted only when it is left explains them better
   than stops do, since one walk may have iterated it any number of times: so this comes before stops.
3. ``place_stops``: the least numbers of stops, and the nodes that have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trodden.recover.forest import depth_first_forest
from trodden.recover.killed.room import Preference, Room

_NO_LIMIT = 1 << 200
"""More than any count: counters have 64 bits, and there are fewer than 2**64 of them."""


@dataclass(frozen=True)
class RootedForest:
    """A spanning forest of the unknown edges, and the flow that they carry.

    ``order`` has parents before children.  ``above[n]`` is the edge to the parent of a node and ``parent[n]``
    that parent; -1 at a root.  ``flow[e]`` is what an edge carries, ``surplus[n]`` what is left over at
    a root, ``certain[e]`` whether ``flow[e]`` is the only solution, since the edge is on no cycle.
    """

    order: list[int]
    above: list[int]
    parent: list[int]
    flow: list[int]
    surplus: list[int]
    certain: list[bool]


def least_stops(
    totals: Sequence[int],
    ends: Sequence[tuple[int, int]],
    sink: int,
    preferences: Sequence[Preference | None],
    back_edges: Sequence[tuple[int, int]] = (),
) -> tuple[list[int], list[int]] | None:
    """How many walks stopped at each node, and by how much each of ``back_edges`` has to be raised.

    ``totals`` and ``ends`` are as in :func:`trodden.recover.forest.solve` for a flow.  What stops continues
    at ``sink``, where no walk stops.  ``preferences`` decide where a stop is that may be at several nodes;
    ``None`` where no walk can stop.  ``back_edges`` have counts that may be too low, and are given by the
    nodes that they join.  ``None`` if no number of stops helps.
    """
    forest, raised = raise_back_edges(root_forest(totals, ends, sink), ends, back_edges)
    stops = place_stops(forest, ends, sink, preferences)
    return None if stops is None else (stops, raised)


def root_forest(totals: Sequence[int], ends: Sequence[tuple[int, int]], sink: int) -> RootedForest:
    """The forest with the sink as a root, and what its edges carry if no walk stopped."""
    swapped = list(range(len(totals)))
    swapped[0], swapped[sink] = sink, 0
    incident: list[list[int]] = [[] for _ in totals]
    renumbered = [(swapped[tail], swapped[head]) for tail, head in ends]
    for edge, (tail, head) in enumerate(renumbered):
        if tail != head:
            incident[tail].append(edge)
            incident[head].append(edge)
    found, found_above, spare = depth_first_forest(renumbered, incident, len(totals))
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
    surplus, flow, parent = list(totals), [0] * len(ends), [-1] * len(totals)
    for node in reversed(order):
        edge = above[node]
        if edge < 0:
            continue
        tail, head = ends[edge]
        parent[node] = tail if node == head else head
        flow[edge] = surplus[node] if node == head else -surplus[node]
        surplus[parent[node]] += surplus[node]
        certain[edge] = covered[node] == 0
        covered[parent[node]] += covered[node]
    return RootedForest(order, above, parent, flow, surplus, certain)


def place_stops(
    forest: RootedForest,
    ends: Sequence[tuple[int, int]],
    sink: int,
    preferences: Sequence[Preference | None],
) -> list[int] | None:
    """The least number of stops that make no edge negative, by node; ``None`` if no number does.

    Subtrees are visited from the leaves.  Each places what the edge above it demands beyond the stops that
    are in it already, at the most preferred nodes that have room, and offers the rest of its room upwards: no
    more than that edge admits.  The order of the visits is what makes this exact.  Which nodes of a subtree
    are chosen is of no consequence to the bounds further up, because these are bounds on its sum; so choosing
    the preferred ones costs no stop, and never prevents one.

    An edge on a cycle bounds nothing: other edges of the cycle can carry what it lacks.
    """
    stops = [0] * len(forest.parent)
    below = [0] * len(forest.parent)
    rooms = [Room() for _ in forest.parent]
    for node in reversed(forest.order):
        edge, parent = forest.above[node], forest.parent[node]
        room, preference = rooms[node], preferences[node]
        if preference is not None:
            room.add(preference, node, _NO_LIMIT)
        demand, limit = 0, _NO_LIMIT
        if edge < 0:
            demand = 0 if node == sink else -forest.surplus[node]
            limit = _NO_LIMIT if node == sink else demand
        elif forest.certain[edge]:
            if ends[edge][1] == node:
                demand = -forest.flow[edge]
            else:
                limit = forest.flow[edge]
        for chosen, times in room.take(demand - below[node]):
            stops[chosen] += times
            below[node] += times
        if not demand <= below[node] <= limit:
            return None
        if edge >= 0:
            room.restrict(limit - below[node])
            below[parent] += below[node]
            rooms[parent] = room.merged(rooms[parent])
    return stops


def raise_back_edges(
    forest: RootedForest, ends: Sequence[tuple[int, int]], back_edges: Sequence[tuple[int, int]]
) -> tuple[RootedForest, list[int]]:
    """Let edges carry more, as far as that makes edges less negative and none negative; by how much, too.

    What an edge brings to its target returns to its source along the forest.
    """
    flow, raised = list(forest.flow), []
    for back_edge in back_edges:
        cycle = _cycle(forest, ends, back_edge)
        short = max((-flow[edge] for edge, sign in cycle if sign > 0), default=0)
        room = min((flow[edge] for edge, sign in cycle if sign < 0), default=_NO_LIMIT)
        amount = max(0, min(short, room))
        for edge, sign in cycle if amount else ():
            flow[edge] += sign * amount
        raised.append(amount)
    return replace(forest, flow=flow), raised


def _cycle(
    forest: RootedForest, ends: Sequence[tuple[int, int]], back_edge: tuple[int, int]
) -> list[tuple[int, int]]:
    """The edges of the forest that close a cycle with another edge: 1 in its direction, -1 against it."""
    source, target = back_edge
    branches = _branches(forest, target, source)
    if branches is None:
        return []
    cycle = []
    for upwards, node in [*((True, node) for node in branches[0]), *((False, node) for node in branches[1])]:
        edge = forest.above[node]
        # From the target upwards, an edge to the parent has the direction of the cycle; from there down to
        # the source, an edge to the child has.
        along = (ends[edge][0] == node) == upwards
        cycle.append((edge, 1 if along else -1))
    return cycle


def _branches(forest: RootedForest, one: int, other: int) -> tuple[list[int], list[int]] | None:
    """The nodes from each of two up to their lowest common ancestor, that one left out; if they have one.

    Both are followed upwards alternately, so that the time is proportional to their distance.
    """
    branches: tuple[list[int], list[int]] = ([], [])
    positions: tuple[dict[int, int], dict[int, int]] = ({}, {})
    nodes = [one, other]
    while nodes[0] >= 0 or nodes[1] >= 0:
        for side in (0, 1):
            node = nodes[side]
            if node < 0:
                continue
            positions[side][node] = len(branches[side])
            if node in positions[1 - side]:
                return branches[0][: positions[0][node]], branches[1][: positions[1][node]]
            branches[side].append(node)
            nodes[side] = forest.parent[node]
    return None
