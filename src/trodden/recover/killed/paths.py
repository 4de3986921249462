"""The paths that were under way when a process was killed, as far as the others tell.

Which paths those were nobody knows: a path counts when it ends (BL96 §3.4).  Those that had begun at the
start of the function have left no trace, and are simply missing.  But a path that ended on a back edge was
followed by another, which began behind it (§4.1): that one is known to have come to the entry of the loop,
and is told as cut short there.  A forked child began in the middle of its parent's paths, which are taken
away from it up to there (see :mod:`trodden.recover.paths`); what it did not end was still under way.

Where each edge has a counter of its own beside the paths, these tell how far the paths had come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trodden.graph.cfg import Graph
from trodden.plan.paths.dag import ArcKind
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.paths.prefixes import Known, register_offsets
from trodden.plan.probes import WORD, BlockMeasure, Measure, Plan, SecondOpinion
from trodden.plan.routes import PathStart
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.killed.unattributed import Unwalked
from trodden.recover.paths import PathFlow, recover_paths
from trodden.recover.sparse_counters import SparseCounters, nonzero

Key = tuple[int, int | None]
_ROUNDS = 64


@dataclass
class PathCompletion:
    """What is missing: paths cut short, by block and register; paths that ended; and what slots are owed."""

    prefixes: Counter[Key] = field(default_factory=Counter)
    ended: Counter[int] = field(default_factory=Counter)
    owed: Counter[int] = field(default_factory=Counter)


def complete_paths(
    graph: Graph, plan: Plan, counted: FunctionCounts
) -> FunctionCounts | None:
    """The least that is missing in what is known of a procedure's paths; arguments as in ``recover_paths``.

    The answer is ``None`` if nothing is missing, or nothing that is missing would explain the contradiction.
    """
    prefixes = counted.prefixes
    told = _Told(graph, plan, counted.counters, counted.sparse, prefixes, counted)
    flow = told.recovered()
    if not flow.violations or plan.paths is None:
        return None
    following = _Following(graph, plan)
    for key, count in following.taken_back(prefixes, flow):
        told.missing.prefixes[key] += count
    following.ends(told)
    following.determined(told)
    for key, count in following.under_way(told.recovered(), told.counters):
        told.missing.prefixes[key] += count
    for key, count in following.in_root(told.recovered(), told.counters):
        told.missing.prefixes[key] += count
    told.missing.owed.update(following.turns(told.recovered(), told.counters))
    if told.recovered().violations:
        return None
    return FunctionCounts(
        SparseCounters(plan.slots, told.missing.owed),
        {},
        told.missing.prefixes,
        {path: (times, 0) for path, times in told.missing.ended.items()},
    )


@dataclass
class _Told:
    """What is known of a procedure, with what was found to be missing."""

    graph: Graph
    plan: Plan
    given: Sequence[int]
    sparse: Mapping[int, tuple[int, int]]
    prefixes: Mapping[Key, int]
    counted: FunctionCounts
    missing: PathCompletion = field(default_factory=PathCompletion)

    @property
    def counters(self) -> Sequence[int]:
        """The counters, with what they are owed."""
        if not self.missing.owed:
            return self.given
        held = Counter(dict(nonzero(self.given)))
        held.update(self.missing.owed)
        return SparseCounters(len(self.given), held)

    def recovered(self) -> PathFlow:
        """The flow as it is by now."""
        every = Counter(dict(self.prefixes))
        every.update(self.missing.prefixes)
        sparse = dict(self.sparse)
        for path, times in self.missing.ended.items():
            count, ticks = sparse.get(path, (0, 0))
            sparse[path] = count + times, ticks
        kept = {key: times for key, times in every.items() if times}
        counted = FunctionCounts(self.counters, self.counted.active, kept, sparse)
        return recover_paths(self.graph, self.plan, counted)

    def end(self, path: int) -> None:
        """A path has ended that nobody has counted."""
        paths = self.plan.paths
        if paths is not None and paths.dense:
            self.missing.owed[len(self.plan.measures) + path] += 1
        else:
            self.missing.ended[path] += 1


class _Following:
    """Prefixes of a function's paths: where they lead, and what the register holds behind them."""

    def __init__(self, graph: Graph, plan: Plan) -> None:
        assert plan.paths is not None
        self._graph, self._plan = graph, plan
        self._numbering = Numbering(graph, plan.paths, LARGEST)
        self._dag = self._numbering.dag
        self._offsets = register_offsets(graph, plan, self._numbering)

    def taken_back(self, prefixes: Mapping[Key, int], flow: PathFlow) -> Iterator[tuple[Key, int]]:
        """What a forked child began with and has not ended: taken away once too often."""
        edges = list(flow.edges)
        for (block, register), count in prefixes.items():
            told = self._offsets[block]
            if count >= 0 or told is None or (not isinstance(told, Known) and register is None):
                continue
            total = told.sum if isinstance(told, Known) else ((register or 0) - told.amount) % WORD
            try:
                route = self._numbering.prefix(block, total)
            except ValueError:
                continue
            entered = (self._graph.closing,) if route.starts is PathStart.ENTRY else ()
            walked = *entered, *route.edges[route.context :]
            short = min(-count, max((-edges[edge] for edge in walked), default=0))
            if short > 0:
                yield (block, register), short
                for edge in walked:
                    edges[edge] += short

    def ends(self, told: _Told) -> None:
        """Paths that ended just now: their last edge is counted twice, and only one of the two was done."""
        for _ in range(_ROUNDS):
            flow = told.recovered()
            ahead = self._ahead(flow, told.counters)
            late = [
                (slot, -ahead[measure.edge])
                for slot, measure in enumerate(self._plan.measures)
                if isinstance(measure, SecondOpinion)
                and (self._is_end(measure.edge) or self._counted_before(measure.edge))
                and ahead[measure.edge] < 0
            ]
            told.missing.owed.update(dict(late))
            path = next(
                (self._back(e, ahead, flow) for e, n in ahead.items() if n > 0 and self._is_end(e)), None
            )
            if path is None:
                return
            told.end(path)

    def _is_end(self, edge: int) -> bool:
        return edge in self._dag.removed or self._graph.edges[edge].dst == self._graph.exit

    def _counted_before(self, edge: int) -> bool:
        """Whether paths over an edge are counted earlier: there is but one way on from where that is done."""
        return self._offsets[self._graph.edges[edge].src] is None

    def _back(self, last: int, ahead: Mapping[int, int], flow: PathFlow) -> int | None:
        """The number of a path that ended on an edge: back from there over edges that no path tells."""
        walk = [last]
        while True:
            block = self._graph.edges[walk[-1]].src
            before = (e for e in self._graph.in_edges[block] if ahead.get(e, 0) > 0 and not self._is_end(e))
            edge = next((e for e in before if self._graph.edges[e].src != block), None)
            if edge is None:
                break
            walk.append(edge)
        again = flow.begun.get(block, 0)
        back = again >= 0 if self._graph.edges[last].dst == block else again > 0
        total = self._begin(block, entry=block == self._graph.root and not back)
        for edge in reversed(walk):
            arc = self._arc(edge)
            if total is None or arc is None:
                return None
            inside = self._graph.edges[edge].dst if edge != last else self._graph.exit
            total += self._numbering.value[arc] + self._passing(inside)
        return total

    def _arc(self, edge: int) -> int | None:
        outs = self._dag.outs[self._graph.edges[edge].src]
        return next((number for number in outs if self._dag.arcs[number].of == edge), None)

    def under_way(self, flow: PathFlow, counters: Sequence[int]) -> Iterator[tuple[Key, int]]:
        """The paths that must have begun, followed as far as second opinions tell."""
        for start, walk, count, entry in self._open_walks(flow, counters):
            yield from self._told(start, walk, count, entry)

    def _open_walks(
        self, flow: PathFlow, counters: Sequence[int]
    ) -> Iterator[tuple[int, Sequence[int], int, bool]]:
        """Where walks that no path tells start, their edges, how many there are, whether at the entry."""
        ways = Unwalked(self._graph, self._dag.removed, +self._ahead(flow, counters))
        for vertex, times in (+Counter(flow.begun)).items():
            for walk, count in ways.walks(vertex, times):
                yield vertex, walk, count, False
        root = self._graph.root
        for walk, count in ways.walks(root, ways.leaving(root)):
            yield root, walk, count, True

    def determined(self, told: _Told) -> None:
        """Paths that were to be counted where only one way on was left, before they came to their end.

        The counter of that edge was done, the path's was not; counters of the edges behind it are owed too.
        """
        for start, walk, count, entry in self._open_walks(told.recovered(), told.counters):
            if walk and self._offsets[self._graph.edges[walk[-1]].dst] is None:
                self._finish(told, start, walk, count, entry)

    def _finish(self, told: _Told, start: int, walk: Sequence[int], count: int, entry: bool) -> None:
        """Enter paths that went this way and on to the only end there is."""
        total, block, rest = self._begin(start, entry), start, list(walk)
        for edge in rest:
            arc = self._arc(edge)
            if total is None or arc is None:
                return
            ends = self._is_end(edge)
            block = self._graph.edges[edge].dst
            total += self._numbering.value[arc] + self._passing(self._graph.exit if ends else block)
            onward = self._graph.out_edges[block]
            if not ends and len(rest) < len(self._graph.edges) and edge == rest[-1]:
                if len(onward) != 1:
                    return
                rest.append(onward[0])
        if total is None:
            return
        for _ in range(count):
            told.end(total)
        slots = {m.edge: n for n, m in enumerate(self._plan.measures) if isinstance(m, SecondOpinion)}
        for edge in rest[len(walk) :]:
            if edge in slots:
                told.missing.owed[slots[edge]] += count

    def in_root(self, flow: PathFlow, counters: Sequence[int]) -> Iterator[tuple[Key, int]]:
        """Paths that came no further than the first block, if that is a loop by itself and counts its turns.

        What the paths do not tell of its count is taken for turns; the second opinion says that so many were
        none.
        """
        root = self._graph.root
        for edge, ahead in self._ahead(flow, counters).items():
            if ahead < 0 and self._graph.edges[edge].src == self._graph.edges[edge].dst == root:
                yield from self._told(root, (), -ahead, entry=True)

    def turns(self, flow: PathFlow, counters: Sequence[int]) -> dict[int, int]:
        """What slots are owed for turns of self loops of which one of two counters knows."""
        ahead = self._ahead(flow, counters)
        owed: dict[int, int] = {}
        for slot, measure in enumerate(self._plan.measures):
            for edge in self._self_loops(measure):
                behind = -ahead[edge] if isinstance(measure, SecondOpinion) else ahead[edge]
                if behind > 0:
                    owed[slot] = behind
        return owed

    def _self_loops(self, measure: Measure) -> list[int]:
        """The self loops that a counter is about; paths tell nothing of their turns (BL96 §4.1)."""
        edges = self._graph.edges
        if isinstance(measure, BlockMeasure):
            return [e for e in self._graph.out_edges[measure.block] if edges[e].dst == measure.block]
        return [measure.edge] if edges[measure.edge].src == edges[measure.edge].dst else []

    def _ahead(self, flow: PathFlow, counters: Sequence[int]) -> Counter[int]:
        """How much more second opinions say of edges than the paths do."""
        return Counter(
            {
                measure.edge: counters[slot] - flow.edges[measure.edge]
                for slot, measure in enumerate(self._plan.measures)
                if isinstance(measure, SecondOpinion)
            }
        )

    def _told(self, start: int, walk: Sequence[int], count: int, entry: bool) -> Iterator[tuple[Key, int]]:
        total = self._begin(start, entry)
        block = start
        for edge in walk:
            arc = self._arc(edge)
            if total is None or arc is None:
                return
            block = self._graph.edges[edge].dst
            total += self._numbering.value[arc] + self._passing(block)
        told = self._offsets[block]
        if total is None or told is None:
            return
        yield (block, None if isinstance(told, Known) else (total + told.amount) % WORD), count

    def _passing(self, vertex: int) -> int:
        """What coming to the entry of a loop from outside adds (MR98 §7)."""
        if vertex not in self._dag.arrival:
            return 0
        outs = self._dag.outs[self._dag.arrival[vertex]]
        return sum(self._numbering.value[n] for n in outs if self._dag.arcs[n].kind is ArcKind.PASS)

    def _begin(self, vertex: int, entry: bool) -> int | None:
        """The sum of values with which a path starts at a vertex.

        In context it goes on from a way to its loop: any will do, for it is not walked again.
        """
        dag, value = self._dag, self._numbering.value
        node = dag.into(vertex)
        wanted = ArcKind.ENTRY if entry else ArcKind.START
        for number in dag.ins[node]:
            if dag.arcs[number].kind is wanted and dag.arcs[number].src == dag.entry:
                return value[number] + self._passing(vertex)
        if entry or vertex not in dag.arrival:
            return None
        total = sum(value[n] for n in dag.outs[node] if dag.arcs[n].kind is ArcKind.AGAIN)
        while node != dag.entry:
            arc = dag.ins[node][0]
            total += value[arc]
            node = dag.arcs[arc].src
        return total
