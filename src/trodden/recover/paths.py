"""From the path table to all counts of a procedure (BL96 §3.5, §6).

The number of a path determines the path, and paths determine the edges: an edge was taken as often as the
paths that contain it or end on it.  A path that was cut short (exit in a callee, an exception, a longjmp) is
a prefix, known by its block and the path register.  Numbers keep their sign, as they do in
:mod:`trodden.recover.flow`: contradictions are reported and never smoothed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from trodden.errors import OtherBuild
from trodden.graph.cfg import Graph
from trodden.plan.overlapping.numbering import (
    OverlapNumbering,
    OverlappingPath,
    numbering_of_plan,
    whole_paths,
)
from trodden.plan.overlapping.tuples import FLAG
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.probes import BlockMeasure, EdgeMeasure, Paths, Plan, RedundantMeasure
from trodden.plan.routes import PathCount, PathStart, Route
from trodden.recover.budget import Budget
from trodden.recover.edges_from_blocks import edge_name
from trodden.recover.function_counts import FunctionCounts, PathTotals, Prefix, Stop
from trodden.recover.overlaps import unfinished_overlaps
from trodden.recover.path_prefix import PrefixDecoder
from trodden.recover.sparse_counters import nonzero

_STEPS_A_PATH = 256


@dataclass(frozen=True)
class PathFlow:
    """All counts of a procedure, by the indices of its graph, and the paths that they come from.

    ``paths`` were executed at least once, most frequent first.  ``early[v]`` is how often one was cut short
    in block ``v``, less how often control was resumed there; with it ``blocks`` and ``edges`` obey the flow
    law as those of :class:`trodden.recover.flow.Flow` do.  ``begun[v]`` is the number of paths that must have
    started at ``v``, after the end of another, without having been counted; negative if more started than
    ended.  ``stops`` are the positions in its last block at which a path, by its number, was cut short.
    """

    paths: list[PathCount]
    blocks: list[int]
    edges: list[int]
    early: dict[int, int]
    violations: tuple[str, ...] = ()
    begun: dict[int, int] = field(default_factory=dict)
    stops: dict[tuple[int, int], int] = field(default_factory=dict)


def recover_paths(
    graph: Graph, plan: Plan, counted: FunctionCounts, budget: Budget | None = None
) -> PathFlow:
    """Determine every count of a procedure from its paths.

    ``budget`` bounds the total length of all paths.
    """
    paths, counters, resumed = plan.paths, counted.counters, counted.resumed
    if paths is None or len(counters) != plan.slots:
        raise OtherBuild(
            f"{graph.name}: {len(counters)} counters where the plan has {plan.slots} and"
            f" {'no ' if paths is None else ''}paths; the counts belong to another build"
        )
    table = _table(plan, counters, counted.sparse)
    totals = _Totals(graph, paths, budget or Budget(len(table) + len(counted.prefixes), _STEPS_A_PATH))
    stops: dict[tuple[int, int], int] = {}
    if table or counted.prefixes:
        numbering = _numbering(graph, plan)
        decoder = PrefixDecoder(graph, plan, numbering)
        if isinstance(numbering, OverlapNumbering):
            unfinished = unfinished_overlaps(decoder, counted.prefixes)
            table = _without_overlaps(totals, numbering, table, unfinished)
        _add_paths(totals, whole_paths(numbering), table, paths.timed)
        if counted.prefixes:
            _add_prefixes(totals, numbering, decoder, counted.prefixes)
            stops = _stops_of_paths(decoder, counted.stops)
    edges = totals.edges
    for slot, measure in enumerate(plan.measures):
        if isinstance(measure, EdgeMeasure):
            edges[measure.edge] += counters[slot]
    begun = _begun(totals, resumed)
    violations = [*totals.violations, *_count_resume_edges(totals, resumed), *_contradictory_starts(totals)]
    edges[graph.closing] = totals.entries
    for slot, measure in enumerate(plan.measures):
        if isinstance(measure, BlockMeasure):
            edges[_self_loop(graph, measure.block)] += counters[slot] - sum(
                edges[index] for index in graph.in_edges[measure.block]
            )
    early = Counter(totals.early)
    early.subtract(resumed)
    blocks = [sum(edges[index] for index in graph.in_edges[vertex]) for vertex in range(len(graph.labels))]
    blocks[graph.exit] += sum(early.values())
    violations += _negative(graph, blocks, edges)
    violations += [
        f"edge {edge_name(graph, measure.edge)}: the paths say {edges[measure.edge]},"
        f" its own counter {counters[slot]}"
        for slot, measure in enumerate(plan.measures)
        if isinstance(measure, RedundantMeasure) and counters[slot] != edges[measure.edge]
    ]
    return PathFlow(
        paths=sorted(totals.paths, key=lambda path: (-path.count, path.id)),
        blocks=blocks,
        edges=edges,
        early={vertex: count for vertex, count in sorted(early.items()) if count},
        violations=tuple(violations),
        begun=begun,
        stops=stops,
    )


def _self_loop(graph: Graph, block: int) -> int:
    """The self loop of a counted block: taken as often as the block was entered along no other edge."""
    found = [index for index in graph.out_edges[block] if graph.edges[index].dst == block]
    if len(found) != 1:
        raise OtherBuild(f"{graph.name}: a block is counted that has no loop of its own; build it again")
    return found[0]


@dataclass
class _Totals:
    """What the paths add up to: edges taken, starts after the ends of other paths, paths cut short."""

    graph: Graph
    ends: Paths
    budget: Budget
    paths: list[PathCount] = field(default_factory=list)
    edges: list[int] = field(init=False)
    removed_into: dict[int, list[int]] = field(init=False)
    entries: int = 0
    paid: dict[int, int] = field(default_factory=dict)
    starts: Counter[int] = field(default_factory=Counter)
    early: Counter[int] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.edges = [0] * len(self.graph.edges)
        self.removed_into = {}
        for index in sorted({*self.ends.back_edges, *self.ends.cuts, *self.ends.resume_edges}):
            self.removed_into.setdefault(self.graph.edges[index].dst, []).append(index)

    def pay(self, numbering: Numbering) -> None:
        """Charge the arcs that were followed since the last time to the budget."""
        before = self.paid.get(id(numbering), 0)
        self.budget.spend(numbering.followed - before, self.graph.name)
        self.paid[id(numbering)] = numbering.followed

    def ended_before(self, vertex: int) -> int:
        """How often an edge that ends paths was taken to a vertex."""
        return sum(self.edges[index] for index in self.removed_into.get(vertex, ()))

    def add(self, route: Route, path: int, count: int, cycles: int | None = None) -> None:
        """Add ``count`` executions of a route; its loop context was executed by the paths before (MR98 §7).

        A negative count, for a path that a forked child has inherited, is not listed among the paths.
        """
        if count > 0:
            self.paths.append(
                PathCount(
                    path, count, route.blocks, route.edges, route.starts, route.ends, cycles, route.context
                )
            )
        for index in route.edges[route.context :]:
            self.edges[index] += count
        if route.starts is PathStart.ENTRY:
            self.entries += count
        else:
            self.starts[route.blocks[route.context]] += count


def _table(plan: Plan, counters: Sequence[int], sparse: Mapping[int, PathTotals]) -> dict[int, PathTotals]:
    """Count and cycles of the paths that have either, by number: from the dense table and the sparse one."""
    first = len(plan.measures)
    number = plan.numbers
    table = {path: totals for path, totals in sparse.items() if path < FLAG}
    for slot, value in nonzero(counters):
        if first <= slot < plan.first_tuple:
            timed, path = divmod(slot - first, number)
            count, cycles = table.get(path, (0, 0))
            table[path] = (count, cycles + value) if timed else (count + value, cycles)
    return table


def _numbering(graph: Graph, plan: Plan) -> Numbering:
    """The numbering of the counts; it must have as many paths as the plan."""
    try:
        numbering = numbering_of_plan(graph, plan, LARGEST)
    except ValueError as error:
        raise OtherBuild(f"{error}; the counts belong to another build") from error
    paths = 0 if plan.paths is None else plan.paths.number
    for planned, found in ((plan.numbers, numbering.number), (paths, whole_paths(numbering).number)):
        if planned != found:
            raise OtherBuild(
                f"{graph.name}: its plan has {planned} paths where its graph has {found};"
                " the counts belong to another build"
            )
    return numbering


def _without_overlaps(
    totals: _Totals,
    numbering: OverlapNumbering,
    table: Mapping[int, PathTotals],
    unfinished: Mapping[OverlappingPath | int, int],
) -> dict[int, PathTotals]:
    """The counts of paths: those of a path with all of its overlaps add up to that of the path.

    Overlaps that were ``unfinished`` when control was lost are not in the table.
    """
    found: Counter[int] = Counter()
    for overlap, count in unfinished.items():
        if isinstance(overlap, OverlappingPath):
            found[numbering.whole.number_of(overlap.path)] += count
        else:
            totals.violations.append(
                f"block {totals.graph.labels[overlap]}: {abs(count)} paths were cut short there,"
                " and it is not known which path was before them"
            )
    for number, (count, _) in table.items():
        if number < numbering.number:
            found[numbering.number_of_whole(number)] += count
            totals.pay(numbering)
        else:
            totals.violations.append(
                f"overlapping path {number} was counted, but there are only {numbering.number}"
            )
    return {path: (count, 0) for path, count in found.items() if count}


def _add_paths(totals: _Totals, numbering: Numbering, table: Mapping[int, PathTotals], timed: bool) -> None:
    for path, (count, cycles) in table.items():
        if path >= numbering.number:
            totals.violations.append(f"path {path} was counted, but there are only {numbering.number}")
        elif count:
            totals.add(numbering.regenerate(path), path, count, cycles if timed else None)
            totals.pay(numbering)
        else:
            totals.violations.append(f"path {path} took time, but never ended")


def _add_prefixes(
    totals: _Totals, numbering: Numbering, decoder: PrefixDecoder, prefixes: Mapping[Prefix, int]
) -> None:
    """Each path that was cut short is one more end in its block, even if the path cannot be decoded."""
    found: Counter[tuple[int, int]] = Counter()
    for (block, register), count in prefixes.items():
        if not count:
            continue
        totals.early[block] += count
        value = decoder.sum_of(block, register)
        if value is not None:
            found[block, value] += count
        else:
            totals.violations.append(
                f"block {totals.graph.labels[block]}: {abs(count)} paths were cut short there,"
                " and it is not known which"
            )
    for (block, value), count in found.items():
        totals.pay(numbering)
        try:
            route = decoder.route(block, value)
        except ValueError:
            totals.violations.append(
                f"block {totals.graph.labels[block]}: {abs(count)} paths were cut short there as {value},"
                " but no path comes there so"
            )
        else:
            totals.add(route, decoder.path_id(block, value), count)


def _stops_of_paths(decoder: PrefixDecoder, stops: Mapping[Stop, int]) -> dict[tuple[int, int], int]:
    """How often each path, by its number, was cut short at each position in its last block."""
    found: Counter[tuple[int, int]] = Counter()
    for (block, register, position), times in stops.items():
        value = decoder.sum_of(block, register)
        if value is not None:
            found[decoder.path_id(block, value), position] += times
    return {stop: times for stop, times in found.items() if times}


def _begun(totals: _Totals, resumed: Mapping[int, int]) -> dict[int, int]:
    """By how many fewer paths start in a block than ended on edges to it, or were resumed there."""
    expected = Counter({vertex: totals.ended_before(vertex) for vertex in totals.removed_into})
    for index in totals.ends.resume_edges:
        source, target, _ = totals.graph.edges[index]
        expected[target] += resumed.get(source, 0)
    expected.subtract({vertex: totals.starts[vertex] for vertex in totals.removed_into})
    return {vertex: count for vertex, count in sorted(expected.items()) if count}


def _count_resume_edges(totals: _Totals, resumed: Mapping[int, int]) -> Iterable[str]:
    """Count resume edges, those after calls that return twice, as often as paths start after them.

    A path ends on such an edge before the call is made; each later return starts another.
    """
    graph = totals.graph
    resume_edges = set(totals.ends.resume_edges)
    later: Counter[int] = Counter()
    for index in sorted(resume_edges):
        source, target, _ = graph.edges[index]
        if len(resume_edges.intersection(graph.in_edges[target])) == 1:
            times = totals.starts[target] - totals.ended_before(target)
        else:
            times = resumed.get(source, 0)
        later[source] += times
        totals.edges[index] += times
    for source in sorted({*later, *resumed}):
        if later[source] != resumed.get(source, 0):
            yield (
                f"block {graph.labels[source]}: control came back to it {resumed.get(source, 0)} times,"
                f" but after it {later[source]} more paths start than came there"
            )


def _contradictory_starts(totals: _Totals) -> Iterable[str]:
    """Contradictions: after every edge that ends a path another one starts (BL96 §4.1)."""
    for vertex in sorted({*totals.starts, *totals.removed_into}):
        starts, ends = totals.starts[vertex], totals.ended_before(vertex)
        if starts != ends:
            yield f"block {totals.graph.labels[vertex]}: {starts} paths start there after {ends} that end"


def _negative(graph: Graph, blocks: Sequence[int], edges: Sequence[int]) -> list[str]:
    return [
        f"block {graph.labels[vertex]} would have run {count} times"
        for vertex, count in enumerate(blocks)
        if count < 0
    ] + [
        f"edge {edge_name(graph, index)} would have been taken {count} times"
        for index, count in enumerate(edges)
        if count < 0
    ]
