"""Executing walks probe by probe, so that a process can be killed between any two of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from trodden.graph.cfg import Graph
from trodden.plan.probes import (
    WORD,
    Add,
    AddTripCount,
    Bump,
    BumpAt,
    Count,
    Plan,
    Probe,
    RedundantMeasure,
    Restore,
    Save,
    Set,
)
from trodden.recover.function_counts import FunctionCounts, PathTotals, Prefix

COUNTING = Count, Bump, BumpAt, AddTripCount


@dataclass
class Execution:
    """One process: what its probes have counted, and the edges that it has really taken.

    An edge counts as taken as soon as one of its counters was incremented, and from then on, with all
    its probes, when control is in the block behind it.
    """

    graph: Graph
    plan: Plan
    counters: list[int] = field(init=False)
    sparse: dict[int, PathTotals] = field(default_factory=dict)
    inherited: Counter[Prefix] = field(default_factory=Counter)
    edges: list[int] = field(init=False)
    under_way: int = 0

    def __post_init__(self) -> None:
        self.counters = [0] * self.plan.slots
        self.edges = [0] * len(self.graph.edges)

    @property
    def counted(self) -> FunctionCounts:
        return FunctionCounts(
            list(self.counters), {}, {key: -times for key, times in self.inherited.items()}, dict(self.sparse)
        )

    def run(self, walk: Sequence[int], probes: int | None = None, forked: int | None = None) -> bool:
        """Execute a walk up to its end, or so many of its ``probes``; whether those were not all.

        A process that is ``forked`` after so many edges begins there: it has counted nothing before.
        """
        frame = _Frame(self)
        done = sum(1 for _ in islice(frame.steps(walk, forked), probes))
        self.under_way += frame.block != self.graph.exit
        return done == probes

    def forget(self, prefix: Prefix) -> None:
        """What a forked child begins with."""
        self.counters = [0] * self.plan.slots
        self.sparse.clear()
        self.edges = [0] * len(self.graph.edges)
        self.inherited[prefix] += 1


class _Frame:
    """One activation: its block, path register, saved registers and trip counts."""

    def __init__(self, process: Execution) -> None:
        self._process = process
        self._graph, self._plan = process.graph, process.plan
        self.block = self._graph.root
        self._register: int | None = None
        self._saved: dict[int, int] = {}
        self._trips: Counter[int] = Counter()

    def steps(self, walk: Sequence[int], forked: int | None) -> Iterator[None]:
        """Executes one probe more each time that it is resumed; edges without any take one step too."""
        edges = self._graph.edges
        self._process.edges[self._graph.closing] += 1
        yield from self._probes([*self._plan.on_entry, *self._plan.on_blocks.get(self.block, ())])
        for number, edge in enumerate(walk):
            if forked == number:
                self._process.forget((self.block, self._register))
            self._turn(edge)
            probes = list(self._plan.on_edges.get(edge, ()))
            first = next((n for n, probe in enumerate(probes) if isinstance(probe, COUNTING)), len(probes))
            yield from self._probes(probes[:first])
            self._process.edges[edge] += 1
            self.block = edges[edge].dst
            yield from self._probes(probes[first:])
            yield from self._probes(self._plan.on_blocks.get(self.block, ()))
            yield
        if forked == len(walk):
            self._process.forget((self.block, self._register))

    def _turn(self, edge: int) -> None:
        probes = [probe for every in self._plan.on_edges.values() for probe in every]
        for back_edge in {probe.back_edge for probe in probes if isinstance(probe, AddTripCount)}:
            if back_edge == edge:
                self._trips[edge] += 1
            elif self._graph.edges[edge].dst == self._graph.edges[back_edge].dst:
                self._trips[back_edge] = 0

    def _probes(self, probes: Sequence[Probe]) -> Iterator[None]:
        for probe in probes:
            self._execute(probe)
            yield

    def _execute(self, probe: Probe) -> None:
        counters = self._process.counters
        match probe:
            case Count(slot):
                counters[slot] += 1
            case AddTripCount(slot, back_edge):
                counters[slot] += self._trips[back_edge]
            case Set(value):
                self._register = value % WORD
            case Add(value):
                self._register = ((self._register or 0) + value) % WORD
            case Save(variable):
                self._saved[variable] = self._register or 0
            case Restore(variable, add):
                self._register = (self._saved[variable] + add) % WORD
            case Bump(add):
                self._end(((self._register or 0) + add) % WORD)
            case BumpAt(path):
                self._end(path)

    def _end(self, path: int) -> None:
        assert self._plan.paths is not None
        if self._plan.paths.dense:
            self._process.counters[len(self._plan.measures) + path] += 1
        else:
            count, cycles = self._process.sparse.get(path, (0, 0))
            self._process.sparse[path] = count + 1, cycles


def redundant_first(plan: Plan) -> Plan:
    """The same plan where the counter of an edge is incremented before that of the path."""
    redundant_slots = {
        slot for slot, measure in enumerate(plan.measures) if isinstance(measure, RedundantMeasure)
    }

    def later(probe: Probe) -> bool:
        return not (isinstance(probe, Count) and probe.slot in redundant_slots)

    on_edges: Mapping[int, Sequence[Probe]] = {
        edge: tuple(sorted(probes, key=later)) for edge, probes in plan.on_edges.items()
    }
    return replace(plan, on_edges=on_edges)
