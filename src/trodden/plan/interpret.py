"""The reference interpreter: what a plan's counters hold after walks through the graph.

It is what every other executor of plans is compared with, so it does the obvious thing and nothing clever.
A walk is the sequence of edges taken by one activation, starting at the root.  A walk that does not end in
EXIT was cut short in its last block.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.probes import (
    WORD,
    Add,
    AddTripCount,
    Bump,
    BumpAt,
    Count,
    Plan,
    Probe,
    Restore,
    Save,
    Set,
    StartClock,
)

Walk = Sequence[int]


@dataclass(frozen=True)
class Tally:
    """The true counts of some walks.

    ``early[v]`` is how often a walk was cut short in block ``v``, less how often control resumed in ``v``
    after it had left it.  EXIT and the closing edge count every walk, because one that is cut short leaves by
    an edge v -> EXIT that is not in the graph (BL94 §3.2).
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
            source, target, _ = graph.edges[index]
            if source != vertex:
                early[vertex] = early.get(vertex, 0) + 1
                early[source] = early.get(source, 0) - 1
            vertex = target
            edges[index] += 1
            blocks[vertex] += 1
        if vertex != graph.exit:
            early[vertex] = early.get(vertex, 0) + 1
            blocks[graph.exit] += 1
        edges[graph.closing] += 1
    return Tally(blocks, edges, {vertex: count for vertex, count in early.items() if count})


@dataclass(frozen=True)
class PathTally:
    """What the executor of a path plan has recorded after the walks.

    ``counters`` are the plan's slots.  ``sparse[path]`` is the count and the time of a path where there is no
    dense table.  ``prefixes[block, register]`` is how often a walk was cut short in a block with that
    value in the register, ``None`` if the register was not set.  ``overlaps`` is the same for walks that were
    cut short inside an overlap, with its register (:mod:`trodden.plan.overlapping`).  The clock ticks once
    per edge.
    """

    counters: list[int]
    sparse: dict[int, tuple[int, int]]
    prefixes: dict[tuple[int, int | None], int]
    overlaps: dict[tuple[int, int | None, int], int] = field(default_factory=dict)


def interpret(graph: Graph, plan: Plan, walks: Iterable[Walk]) -> list[int]:
    """The counters of a plan after the walks, one activation after the other."""
    return interpret_paths(graph, plan, walks).counters


def interpret_paths(graph: Graph, plan: Plan, walks: Iterable[Walk]) -> PathTally:
    """Everything that a plan's probes record of the walks, one activation after the other.

    In a walk a resume edge, after a call that returns twice, may follow any block: control jumped there.
    """
    recorded = PathTally([0] * plan.slots, {}, {})
    for walk in walks:
        Activation(graph, plan, recorded).follow(walk)
    return recorded


class Activation:
    """One activation: counters are shared; register, saved values, clock and trip counts are its own."""

    def __init__(self, graph: Graph, plan: Plan, recorded: PathTally) -> None:
        self.block = graph.root
        self._graph = graph
        self._plan = plan
        self._recorded = recorded
        self.register: int | None = None
        self._saved: dict[int, int] = {}
        self._now = self._started = 0
        self._trips = {
            probe.back_edge: 0
            for probes in plan.on_edges.values()
            for probe in probes
            if isinstance(probe, AddTripCount)
        }

    def follow(self, walk: Walk) -> None:
        """Control enters the procedure and takes the edges of a walk."""
        self.begin()
        for index in walk:
            self.take(index)
        if self.block != self._graph.exit:
            self.cut_short()

    def begin(self) -> None:
        """Control enters the procedure."""
        self.fire(self._plan.on_entry)
        self.fire(self._plan.on_blocks.get(self.block, ()))

    def take(self, index: int) -> None:
        """Control takes an edge."""
        source, target, _ = self._graph.edges[index]
        probes = self._plan.on_edges.get(index, ())
        if source != self.block:
            self.cut_short()
            probes = [probe for probe in probes if not self.counts(probe)]
        for back_edge in self._trips:
            if index == back_edge:
                self._trips[back_edge] += 1
            elif target == self._graph.edges[back_edge].dst:
                self._trips[back_edge] = 0
        self._now += 1
        self.fire(probes)
        self.block = target
        self.fire(self._plan.on_blocks.get(target, ()))

    def cut_short(self) -> None:
        """Control is lost in a block."""
        if self._plan.paths is not None:
            key = self.block, self.register
            self._recorded.prefixes[key] = self._recorded.prefixes.get(key, 0) + 1

    def counts(self, probe: Probe) -> bool:
        """Whether a probe belongs to the end of a path, which a jump to behind a call does not execute."""
        return isinstance(probe, Bump | BumpAt)

    def fire(self, probes: Sequence[Probe]) -> None:
        """Execute some probes."""
        for probe in probes:
            self.execute(probe)

    def execute(self, probe: Probe) -> None:
        """Execute one probe."""
        match probe:
            case Count(slot):
                self._recorded.counters[slot] += 1
            case AddTripCount(slot, back_edge):
                self._recorded.counters[slot] += self._trips[back_edge]
            case Set(value):
                self.register = value % WORD
            case Add(value):
                self.register = (self.held() + value) % WORD
            case Bump(value):
                self.bump((self.held() + value) % WORD)
            case BumpAt(path):
                self.bump(path)
            case Save(loop):
                self._saved[loop] = self.held()
            case Restore(loop, value):
                self.register = (self._saved[loop] + value) % WORD
            case StartClock():
                self._started = self._now

    def held(self) -> int:
        """The path register."""
        if self.register is None:
            raise ValueError(f"{self._graph.name}: the register is used before it is set")
        return self.register

    def bump(self, path: int) -> None:
        """Count a path."""
        paths = self._plan.paths
        if paths is None or path >= self._plan.numbers:
            raise ValueError(f"{self._graph.name}: there is no path {path}")
        time = self._now - self._started if paths.timed else 0
        if paths.dense:
            slot = len(self._plan.measures) + path
            self._recorded.counters[slot] += 1
            if paths.timed:
                self._recorded.counters[slot + paths.number] += time
        else:
            count, before = self._recorded.sparse.get(path, (0, 0))
            self._recorded.sparse[path] = (count + 1, before + time)


def random_walk(graph: Graph, rng: random.Random, max_steps: int) -> list[int]:
    """A walk with equally likely edges, cut short after ``max_steps`` or in a block without successors."""
    walk: list[int] = []
    vertex = graph.root
    while len(walk) < max_steps:
        leaving = [index for index in graph.out_edges[vertex] if graph.edges[index].kind is EdgeKind.FLOW]
        if not leaving:
            break
        walk.append(rng.choice(leaving))
        vertex = graph.edges[walk[-1]].dst
    return walk
