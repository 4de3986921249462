"""The reference interpreter: what a plan's counters hold after walks through the graph.

It is what every other executor of plans is compared with, so it does the obvious thing and nothing clever.
A walk is the sequence of edges taken by one activation, from the root on.  A walk that does not end in EXIT
was cut short in the block it had come to.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.probes import AddTrips, Count, Plan, Probe

Walk = Sequence[int]


@dataclass(frozen=True)
class Tally:
    """What walks really did, counted one by one.

    ``early[v]`` is how often a walk was cut short in block ``v``.  EXIT and the closing edge count every
    walk, because one that is cut short leaves by an edge v -> EXIT that is not in the graph (BL94 §3.2).
    """

    blocks: list[int]
    edges: list[int]
    early: dict[int, int]


def tally(graph: Graph, walks: Iterable[Walk]) -> Tally:
    """Count every block and edge of the walks."""
    blocks = [0] * len(graph.labels)
    edges = [0] * len(graph.edges)
    early: dict[int, int] = {}
    for walk in walks:
        vertex = graph.root
        blocks[vertex] += 1
        for index in walk:
            vertex = graph.edges[index].dst
            edges[index] += 1
            blocks[vertex] += 1
        if vertex != graph.exit:
            early[vertex] = early.get(vertex, 0) + 1
            blocks[graph.exit] += 1
        edges[graph.closing] += 1
    return Tally(blocks, edges, early)


def interpret(graph: Graph, plan: Plan, walks: Iterable[Walk]) -> list[int]:
    """The counters of a plan after the walks, one activation after the other."""
    counters = [0] * plan.slots
    for walk in walks:
        activation = _Activation(graph, plan, counters)
        activation.enter(graph.root)
        for index in walk:
            activation.take(index)
    return counters


class _Activation:
    """One call of the procedure: the counters are shared, the trips of its loops are its own."""

    def __init__(self, graph: Graph, plan: Plan, counters: list[int]) -> None:
        self._graph = graph
        self._plan = plan
        self._counters = counters
        self._trips = {
            probe.back_edge: 0
            for probes in plan.on_edges.values()
            for probe in probes
            if isinstance(probe, AddTrips)
        }

    def enter(self, block: int) -> None:
        """Control arrives in a block."""
        self._fire(self._plan.on_blocks.get(block, ()))

    def take(self, index: int) -> None:
        """Control takes an edge."""
        for back_edge in self._trips:
            if index == back_edge:
                self._trips[back_edge] += 1
            elif self._graph.edges[index].dst == self._graph.edges[back_edge].dst:
                self._trips[back_edge] = 0
        self._fire(self._plan.on_edges.get(index, ()))
        self.enter(self._graph.edges[index].dst)

    def _fire(self, probes: Sequence[Probe]) -> None:
        for probe in probes:
            match probe:
                case Count(slot):
                    self._counters[slot] += 1
                case AddTrips(slot, back_edge):
                    self._counters[slot] += self._trips[back_edge]


def random_walk(graph: Graph, rng: random.Random, max_steps: int) -> list[int]:
    """A walk that takes any edge with equal odds, cut short after ``max_steps`` or where no way leads on."""
    walk: list[int] = []
    vertex = graph.root
    while len(walk) < max_steps:
        ways = [index for index in graph.out_edges[vertex] if graph.edges[index].kind is EdgeKind.FLOW]
        if not ways:
            break
        walk.append(rng.choice(ways))
        vertex = graph.edges[walk[-1]].dst
    return walk
