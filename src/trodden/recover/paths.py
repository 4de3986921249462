"""From the table of paths to all counts of a procedure (BL96 §3.5, §6).

A path's number gives back the path, and paths give back the edges: an edge was taken as often as the paths
that lead along it, or end on it.  What was cut short (exit in a callee, an exception, a longjmp) is a
prefix of a path, known by its block and the path register.  Numbers keep their sign here as they do in
:mod:`trodden.recover.flow`: what contradicts itself is reported and never smoothed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from trodden.errors import OtherBuild
from trodden.graph.cfg import Graph
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.probes import BlockMeasure, EdgeMeasure, Paths, Plan, SecondOpinion
from trodden.plan.routes import PathCount, PathStart, Route
from trodden.recover.budget import Budget
from trodden.recover.function_counts import FunctionCounts, PathTotals, Prefix
from trodden.recover.narrow import edge_name
from trodden.recover.path_prefix import PrefixDecoder
from trodden.recover.sparse_counters import nonzero

_STEPS_A_PATH = 256


@dataclass(frozen=True)
class PathFlow:
    """All counts of a procedure, by the indices of its graph, and the paths that they come from.

    ``paths`` were walked at least once, most frequent first.  ``early[v]`` is how often one was cut short in
    block ``v``, less how often control came back there twice; with it ``blocks`` and ``edges`` obey the flow
    law as those of :class:`trodden.recover.flow.Flow` do.  ``begun[v]`` is how many paths must have started
    at ``v``, behind the end of another, that nothing else is known of; negative if more did than ended.
    """

    paths: list[PathCount]
    blocks: list[int]
    edges: list[int]
    early: dict[int, int]
    violations: tuple[str, ...] = ()
    begun: dict[int, int] = field(default_factory=dict)


def recover_paths(
    graph: Graph, plan: Plan, counted: FunctionCounts, budget: Budget | None = None
) -> PathFlow:
    """Work out every count of a procedure from its paths.

    ``budget`` bounds how many blocks all paths together may lead through.
    """
    paths, counters, resumed = plan.paths, counted.counters, counted.resumed
    if paths is None or len(counters) != plan.slots:
        raise OtherBuild(
            f"{graph.name}: {len(counters)} counters where the plan has {plan.slots} and"
            f" {'no ' if paths is None else ''}paths; the counts belong to another build"
        )
    table = _table(plan, counters, counted.sparse)
    walked = _Walked(graph, paths, budget or Budget(len(table) + len(counted.prefixes), _STEPS_A_PATH))
    if table or counted.prefixes:
        numbering = _numbering(graph, paths)
        _add_paths(walked, numbering, table, paths.timed)
        if counted.prefixes:
            _add_prefixes(walked, numbering, PrefixDecoder(graph, plan, numbering), counted.prefixes)
    edges = walked.edges
    for slot, measure in enumerate(plan.measures):
        if isinstance(measure, EdgeMeasure):
            edges[measure.edge] += counters[slot]
    begun = _begun(walked, resumed)
    violations = [*walked.violations, *_behind_handlers(walked, resumed), *_starts(walked)]
    edges[graph.closing] = walked.entries
    for slot, measure in enumerate(plan.measures):
        if isinstance(measure, BlockMeasure):
            edges[_self_loop(graph, measure.block)] += counters[slot] - sum(
                edges[index] for index in graph.in_edges[measure.block]
            )
    early = Counter(walked.early)
    early.subtract(resumed)
    blocks = [sum(edges[index] for index in graph.in_edges[vertex]) for vertex in range(len(graph.labels))]
    blocks[graph.exit] += sum(early.values())
    violations += _negative(graph, blocks, edges)
    violations += [
        f"edge {edge_name(graph, measure.edge)}: the paths say {edges[measure.edge]},"
        f" its own counter {counters[slot]}"
        for slot, measure in enumerate(plan.measures)
        if isinstance(measure, SecondOpinion) and counters[slot] != edges[measure.edge]
    ]
    return PathFlow(
        paths=sorted(walked.paths, key=lambda path: (-path.count, path.id)),
        blocks=blocks,
        edges=edges,
        early={vertex: count for vertex, count in sorted(early.items()) if count},
        violations=tuple(violations),
        begun=begun,
    )


def _self_loop(graph: Graph, block: int) -> int:
    """The loop whose turns a block's own counter tells: what comes to the block by no other way."""
    found = [index for index in graph.out_edges[block] if graph.edges[index].dst == block]
    if len(found) != 1:
        raise OtherBuild(f"{graph.name}: a block is counted that has no loop of its own; build it again")
    return found[0]


@dataclass
class _Walked:
    """What the paths add up to: edges taken, starts behind other paths' ends, paths cut short."""

    graph: Graph
    ends: Paths
    budget: Budget
    paths: list[PathCount] = field(default_factory=list)
    edges: list[int] = field(init=False)
    removed_into: dict[int, list[int]] = field(init=False)
    entries: int = 0
    paid: int = 0
    starts: Counter[int] = field(default_factory=Counter)
    early: Counter[int] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.edges = [0] * len(self.graph.edges)
        self.removed_into = {}
        for index in sorted({*self.ends.back_edges, *self.ends.cuts, *self.ends.handlers}):
            self.removed_into.setdefault(self.graph.edges[index].dst, []).append(index)

    def pay(self, numbering: Numbering) -> None:
        """Let the budget know how many arcs were followed since it was paid last."""
        self.budget.spend(numbering.followed - self.paid, self.graph.name)
        self.paid = numbering.followed

    def ended_before(self, vertex: int) -> int:
        """How often an edge that ends paths was taken to a vertex."""
        return sum(self.edges[index] for index in self.removed_into.get(vertex, ()))

    def add(self, route: Route, path: int, count: int, ticks: int | None = None) -> None:
        """Add ``count`` walks of a route; its context was walked by the paths before (MR98 §7).

        What is taken away, because a forked child began in its middle, is no path of its own.
        """
        if count > 0:
            self.paths.append(
                PathCount(
                    path, count, route.blocks, route.edges, route.starts, route.ends, ticks, route.context
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
    number = plan.paths.number if plan.paths is not None else 0
    table = dict(sparse)
    for slot, value in nonzero(counters):
        if slot >= first:
            timed, path = divmod(slot - first, number)
            count, cycles = table.get(path, (0, 0))
            table[path] = (count, cycles + value) if timed else (count + value, cycles)
    return table


def _numbering(graph: Graph, paths: Paths) -> Numbering:
    """The numbering that the counts were made with; it has to give as many paths as the plan says."""
    try:
        numbering = Numbering(graph, paths, LARGEST)
    except ValueError as error:
        raise OtherBuild(f"{error}; the counts belong to another build") from error
    if numbering.number != paths.number:
        raise OtherBuild(
            f"{graph.name}: its plan has {paths.number} paths where its graph has {numbering.number};"
            " the counts belong to another build"
        )
    return numbering


def _add_paths(walked: _Walked, numbering: Numbering, table: Mapping[int, PathTotals], timed: bool) -> None:
    for path, (count, cycles) in table.items():
        if path >= numbering.number:
            walked.violations.append(f"path {path} was counted, but there are only {numbering.number}")
        elif count:
            walked.add(numbering.regenerate(path), path, count, cycles if timed else None)
            walked.pay(numbering)
        else:
            walked.violations.append(f"path {path} took time, but never ended")


def _add_prefixes(
    walked: _Walked, numbering: Numbering, decoder: PrefixDecoder, prefixes: Mapping[Prefix, int]
) -> None:
    """Each path that was cut short is one more end in its block, even if the path cannot be decoded."""
    found: Counter[tuple[int, int]] = Counter()
    for (block, register), count in prefixes.items():
        if not count:
            continue
        walked.early[block] += count
        value = decoder.sum_of(block, register)
        if value is not None:
            found[block, value] += count
        else:
            walked.violations.append(
                f"block {walked.graph.labels[block]}: {abs(count)} paths were cut short there,"
                " and nothing tells which"
            )
    for (block, value), count in found.items():
        walked.pay(numbering)
        try:
            route = decoder.route(block, value)
        except ValueError:
            walked.violations.append(
                f"block {walked.graph.labels[block]}: {abs(count)} paths were cut short there as {value},"
                " but no path comes there so"
            )
        else:
            walked.add(route, decoder.path_id(block, value), count)


def _begun(walked: _Walked, resumed: Mapping[int, int]) -> dict[int, int]:
    """By how many fewer paths start somewhere than ended there, or came back there."""
    expected = Counter({vertex: walked.ended_before(vertex) for vertex in walked.removed_into})
    for index in walked.ends.handlers:
        source, target, _ = walked.graph.edges[index]
        expected[target] += resumed.get(source, 0)
    expected.subtract({vertex: walked.starts[vertex] for vertex in walked.removed_into})
    return {vertex: count for vertex, count in sorted(expected.items()) if count}


def _behind_handlers(walked: _Walked, resumed: Mapping[int, int]) -> Iterable[str]:
    """Let the edges behind calls that return twice be taken as often as paths start behind them.

    A path ends on such an edge before the call is made; each later return starts another.
    """
    graph = walked.graph
    handlers = set(walked.ends.handlers)
    later: Counter[int] = Counter()
    for index in sorted(handlers):
        source, target, _ = graph.edges[index]
        if len(handlers.intersection(graph.in_edges[target])) == 1:
            times = walked.starts[target] - walked.ended_before(target)
        else:
            times = resumed.get(source, 0)
        later[source] += times
        walked.edges[index] += times
    for source in sorted({*later, *resumed}):
        if later[source] != resumed.get(source, 0):
            yield (
                f"block {graph.labels[source]}: control came back to it {resumed.get(source, 0)} times,"
                f" but behind it {later[source]} more paths start than came there"
            )


def _starts(walked: _Walked) -> Iterable[str]:
    """Behind every removed edge a path starts (BL96 §4.1)."""
    for vertex in sorted({*walked.starts, *walked.removed_into}):
        starts, ends = walked.starts[vertex], walked.ended_before(vertex)
        if starts != ends:
            yield f"block {walked.graph.labels[vertex]}: {starts} paths start there behind {ends} that end"


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
