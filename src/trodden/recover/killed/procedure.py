"""What the steps that complete path counts have to know of a procedure, worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from trodden.graph.cfg import Graph
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.probes import AddTripCount, BlockMeasure, Bump, BumpAt, Plan, RedundantMeasure
from trodden.recover.killed.path_sums import PathSums
from trodden.recover.path_prefix import PrefixDecoder
from trodden.recover.paths import PathFlow


class Procedure:
    """A graph with a path plan.

    ``redundant_slots`` are the slots of the redundant counters of edges, by edge; ``loop_counters`` the slots
    of the counters from which the trip counts of self loops follow (BL96 §4.1), by self loop.
    ``order`` are the reachable blocks in topological order of the acyclic graph whose paths are counted.
    """

    def __init__(self, graph: Graph, plan: Plan) -> None:
        assert plan.paths is not None
        self.graph, self.plan, self.paths = graph, plan, plan.paths
        numbering = Numbering(graph, plan.paths, LARGEST)
        self.removed = numbering.dag.removed
        self.order = [node for node in numbering.dag.order if node < graph.exit]
        self.sums = PathSums(graph, numbering)
        self.decoder = PrefixDecoder(graph, plan, numbering)
        self.redundant_slots: dict[int, int] = {}
        self.loop_counters: dict[int, int] = {}
        for slot, measure in enumerate(plan.measures):
            if isinstance(measure, RedundantMeasure):
                self.redundant_slots[measure.edge] = slot
            elif isinstance(measure, BlockMeasure):
                self.loop_counters |= dict.fromkeys(self._self_loops(measure.block), slot)
            elif self.is_self_loop(measure.edge):
                self.loop_counters[measure.edge] = slot

    def is_self_loop(self, edge: int) -> bool:
        """Whether an edge leads from a block to itself; paths do not contain such edges."""
        return self.graph.edges[edge].src == self.graph.edges[edge].dst

    def _self_loops(self, block: int) -> list[int]:
        return [edge for edge in self.graph.out_edges[block] if self.graph.edges[edge].dst == block]

    @cached_property
    def counted_early(self) -> frozenset[int]:
        """The blocks that paths reach after they were counted.

        Figure 8 of BL96 counts a path as early as it can: where only one continuation is left.
        """
        found: set[int] = set()
        bumped = [edge for edge in self.plan.on_edges if self.counts_paths(edge)]
        work = [self.graph.edges[edge].dst for edge in bumped if edge not in self.sums.ends]
        while work:
            block = work.pop()
            if block not in found:
                found.add(block)
                leaving = [edge for edge in self.graph.out_edges[block] if self.sums.takes(edge)]
                work += [self.graph.edges[edge].dst for edge in leaving if edge not in self.sums.ends]
        return frozenset(found)

    @cached_property
    def uncounted(self) -> frozenset[int]:
        """The edges that leave no trace: they have no counter, and are taken before the path is counted."""
        return frozenset(
            edge
            for edge in range(len(self.graph.edges))
            if self.sums.takes(edge)
            and edge not in self.sums.ends
            and edge not in self.redundant_slots
            and not self.counts_paths(edge)
            and self.graph.edges[edge].src not in self.counted_early
        )

    def trip_count_edges(self, block: int, counters: Sequence[int]) -> list[int]:
        """The edges by which a self loop was left, if that adds its trip count to a counter (BL94 §6.3).

        None if nothing was added, or the edges have counters that show which were taken.  First those that
        leave no trace and lead to a block where paths can be decoded.
        """
        found = [
            edge
            for edge in self.graph.out_edges[block]
            for probe in self.plan.on_edges.get(edge, ())
            if isinstance(probe, AddTripCount) and self.graph.edges[probe.back_edge].src == block
            if counters[probe.slot] and edge not in self.redundant_slots
        ]
        return sorted(
            found,
            key=lambda edge: (
                edge not in self.uncounted or not self.decoder.decodes(self.graph.edges[edge].dst)
            ),
        )

    def counts_paths(self, edge: int) -> bool:
        """Whether taking an edge counts a path."""
        return any(isinstance(probe, Bump | BumpAt) for probe in self.plan.on_edges.get(edge, ()))

    def excess(self, flow: PathFlow, counters: Sequence[int]) -> dict[int, int]:
        """How much more often each edge was taken by its own counter than by the paths: below 0 if less."""
        return {edge: counters[slot] - flow.edges[edge] for edge, slot in self.redundant_slots.items()}
