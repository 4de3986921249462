"""Path profiles: a counter for every acyclic path of a procedure (BL96), also in context (MR98 §7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import replace

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.spanning import live_edges
from trodden.graph.traverse import depth_first
from trodden.plan.paths.chords import chord_increments
from trodden.plan.paths.cutting import choose_cuts, cuts_for_single_prefixes, loop_entry_cuts
from trodden.plan.paths.dag import Dag, build_dag
from trodden.plan.paths.limits import DEFAULT_LIMIT, DENSE
from trodden.plan.paths.numbering import LARGEST, Numbering, count_dag_paths
from trodden.plan.paths.placement import PlacedProbes, place_probes, single_prefixes
from trodden.plan.paths.unused import drop_unused
from trodden.plan.probes import (
    AddTripCount,
    BlockMeasure,
    Count,
    CountableLoop,
    EdgeMeasure,
    Measure,
    Paths,
    Plan,
    Probe,
    RedundantMeasure,
)


def path_plan(
    graph: Graph,
    weights: Sequence[float],
    *,
    limit: int | None = DEFAULT_LIMIT,
    dense: int = DENSE,
    may_be_cut_short: Collection[int] = frozenset(),
    stack_slots: bool = True,
    resume_edges: Sequence[int] = (),
    context: bool = False,
    timed: bool = False,
    rule: str = "cheapest",
    countable_loops: Sequence[CountableLoop] = (),
) -> Plan:
    """Number the paths of a procedure and place the probes that count them.

    ``weights[e]`` is how often edge ``e`` is expected to be taken.  Paths are cut by ``rule`` ("cheapest",
    "loops" for that with loop entries cut in any case, or "node" for BL96's own) until there are no more than
    ``limit``, or no more than cutting every edge would leave; ``None`` keeps them whole up to the largest
    possible number.  In the blocks of ``may_be_cut_short`` calls may not return, and the plan makes its
    prefix decodable there: from the register or, if there are no stack slots (``stack_slots``) to keep it in,
    from the block alone.  ``resume_edges`` are those after calls that return twice.  The trip count of a self
    loop is taken from ``countable_loops`` where that is cheaper than counting.
    """
    paths, dag = choose_paths(
        graph,
        weights,
        limit=limit,
        may_be_cut_short=may_be_cut_short,
        stack_slots=stack_slots,
        resume_edges=resume_edges,
        context=context,
        rule=rule,
    )
    paths = replace(paths, timed=timed)
    numbering = Numbering(graph, paths, dag=dag)
    placed = place_probes(numbering, chord_increments(numbering, weights), may_be_cut_short, timed)
    placed = drop_unused(dag, placed, set(may_be_cut_short) - single_prefixes(numbering).keys())
    paths = replace(paths, number=numbering.number, dense=numbering.number <= dense)
    return with_self_loops(graph, Plan("paths", (), paths=paths), placed, weights, countable_loops)


def choose_paths(
    graph: Graph,
    weights: Sequence[float],
    *,
    limit: int | None = DEFAULT_LIMIT,
    may_be_cut_short: Collection[int] = frozenset(),
    stack_slots: bool = True,
    resume_edges: Sequence[int] = (),
    context: bool = False,
    rule: str = "cheapest",
) -> tuple[Paths, Dag]:
    """On which edges paths end, and their acyclic graph; the arguments are those of :func:`path_plan`."""
    search = depth_first(graph)
    back_edges = tuple(sorted(e for e in search.back_edges if graph.edges[e].src != graph.edges[e].dst))
    resumed = tuple(sorted(set(resume_edges)))
    most = LARGEST if limit is None else min(limit, LARGEST)

    def without(cuts: Iterable[int]) -> Dag:
        return build_dag(graph, back_edges, cuts, resumed, context, search)

    cuts: list[int] = []
    dag = without(cuts)
    if rule == "loops" and (cuts := loop_entry_cuts(dag, weights)):
        dag = without(cuts)
    if not stack_slots and (prefix_cuts := cuts_for_single_prefixes(dag, may_be_cut_short)):
        cuts = sorted({*cuts, *prefix_cuts})
        dag = without(cuts)
    if count_dag_paths(dag, most) > most:
        cuts = sorted({*cuts, *choose_cuts(dag, weights, most, rule)})
        dag = without(cuts)
    return Paths(0, back_edges, tuple(cuts), resumed, context), dag


def with_self_loops(
    graph: Graph,
    plan: Plan,
    placed: PlacedProbes,
    weights: Sequence[float],
    countable_loops: Sequence[CountableLoop],
) -> Plan:
    """A plan for paths with these probes, and with counters for the self loops that are part of no path."""
    assert plan.paths is not None
    resumed = frozenset(plan.paths.resume_edges)
    loops = [
        edge
        for edge in sorted(depth_first(graph).back_edges - resumed)
        if graph.edges[edge].src == graph.edges[edge].dst
    ]
    counting = _SelfLoops(graph, weights)
    counting.count(loops, countable_loops, resumed)
    on_edges = {
        edge: (*counting.on_edges.get(edge, ()), *placed.on_edges.get(edge, ()))
        for edge in sorted({*placed.on_edges, *counting.on_edges})
    }
    return replace(
        plan,
        measures=tuple(counting.measures),
        on_edges=on_edges,
        on_blocks=counting.on_blocks,
        on_entry=tuple(placed.on_entry),
    )


class _SelfLoops:
    """A counter for each self loop (BL96 §4.1)."""

    def __init__(self, graph: Graph, weights: Sequence[float]) -> None:
        self._graph = graph
        self._weights = weights
        self.measures: list[Measure] = []
        self.on_edges: dict[int, list[Probe]] = {}
        self.on_blocks: dict[int, tuple[Probe, ...]] = {}

    def count(
        self, loops: Sequence[int], countable_loops: Sequence[CountableLoop], resumed: Set[int]
    ) -> None:
        """Choose for each loop where it is counted.

        That may be on its exit edges (BL94 §6.3), unless one of them is a resume edge, which may be taken
        once more than the loop is left.  Otherwise the block is counted, which needs no split edge; how
        often it was entered from elsewhere follows from the paths.  A loop with a low trip count is counted
        on its back edge.
        """
        known = {
            loop.back_edge: loop
            for loop in countable_loops
            if loop.exits and loop.cost < self._weights[loop.back_edge] and not resumed & set(loop.exits)
        }
        alone = Counter(self._graph.edges[edge].src for edge in loops)
        for slot, edge in enumerate(loops):
            block = self._graph.edges[edge].src
            if edge in known:
                for leaving in known[edge].exits:
                    self.on_edges.setdefault(leaving, []).append(AddTripCount(slot, edge))
                self.measures.append(EdgeMeasure(edge))
            elif alone[block] == 1 and 2 * self._weights[edge] >= self._executions(block):
                self.on_blocks[block] = (Count(slot),)
                self.measures.append(BlockMeasure(block))
            else:
                self.on_edges.setdefault(edge, []).append(Count(slot))
                self.measures.append(EdgeMeasure(edge))

    def _executions(self, block: int) -> float:
        return sum(self._weights[edge] for edge in self._graph.in_edges[block])


def checked_paths(plan: Plan, graph: Graph) -> Plan:
    """A plan for paths and a counter on every edge, both counted in the same run."""
    probes: dict[int, tuple[Probe, ...]] = {edge: tuple(found) for edge, found in plan.on_edges.items()}
    measures = list(plan.measures)
    for edge in live_edges(graph):
        if graph.edges[edge].kind is EdgeKind.FLOW:
            probes[edge] = (*probes.get(edge, ()), Count(len(measures)))
            measures.append(RedundantMeasure(edge))
    on_edges = {edge: probes[edge] for edge in sorted(probes)}
    return replace(plan, scheme="checked-paths", measures=tuple(measures), on_edges=on_edges)
