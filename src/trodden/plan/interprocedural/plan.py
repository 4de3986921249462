"""The probes of a program that counts its interprocedural paths (MR98 §5.5, §6.3)."""

from __future__ import annotations

from collections.abc import Sequence

from trodden.plan.interprocedural.increments import Increments, choose_increments
from trodden.plan.interprocedural.linear import ZERO, Linear
from trodden.plan.interprocedural.numbering import Mode, Numbering, too_many
from trodden.plan.interprocedural.points import Arc, Kind
from trodden.plan.interprocedural_probes import (
    AddSums,
    CountPath,
    EnterProcedure,
    InterproceduralProbe,
    LeaveProcedure,
    ProcedurePlan,
    PublishPath,
    StartInContext,
    StartPiece,
    TakePath,
    TakePiece,
)
from trodden.plan.paths.numbering import LARGEST
from trodden.plan.probes import Count, EdgeMeasure

Probes = tuple[InterproceduralProbe, ...]


def interprocedural_plans(numbering: Numbering, weights: Sequence[Sequence[float]]) -> list[ProcedurePlan]:
    """A plan for each procedure, given the weights of its edges.

    :class:`ValueError` if numbers would not fit a register.
    """
    for number, table in enumerate(numbering.tables):
        if table.size > LARGEST:
            raise too_many(numbering.program[number], LARGEST)
    return [_Placing(numbering, number, own).plan() for number, own in enumerate(weights)]


class _Placing:
    """The probes of one procedure."""

    def __init__(self, numbering: Numbering, number: int, weights: Sequence[float]) -> None:
        self._numbering = numbering
        self._number = number
        self._points = numbering.points[number]
        self._increments: Increments = choose_increments(self._points, numbering.rho[number], weights)
        self._start_of = {
            arc.of: index for index, arc in enumerate(self._points.arcs) if arc.kind is Kind.START
        }
        self._on_edges: dict[int, Probes] = {}
        self._before: dict[tuple[int, int], Probes] = {}
        self._after: dict[tuple[int, int], Probes] = {}

    def plan(self) -> ProcedurePlan:
        """All probes; the self loops that are on no path are counted by themselves (BL96 §4.1)."""
        points = self._points
        on_entry: Probes = (EnterProcedure(0, 0),)
        for index, arc in enumerate(points.arcs):
            match arc.kind:
                case Kind.ENTRY:
                    on_entry = (EnterProcedure(*self._increments.arcs[index]),)
                case Kind.REAL | Kind.PAD | Kind.END | Kind.PAD_END | Kind.PAD_START:
                    self._on_edges[arc.of] = self._on_edge(index, arc)
                case Kind.CALL:
                    self._on_call(arc)
                case Kind.CALL_END:
                    self._before[self._call(arc)] = (CountPath(*self._increments.arcs[index]),)
                case Kind.CALL_START:
                    self._after[self._call(arc)] = (self._start(index),)
        loops = self._self_loops()
        for slot, edge in enumerate(loops):
            self._on_edges[edge] = (Count(slot),)
        pending = [tuple(self._increments.potential[node]) for node in range(len(points.block))]
        edges = points.dag.graph.edges
        resumed = sorted(points.dag.removed & points.procedure.resume_edges)
        return ProcedurePlan(
            measures=tuple(EdgeMeasure(edge) for edge in loops),
            on_entry=on_entry,
            on_edges={edge: probes for edge, probes in sorted(self._on_edges.items()) if probes},
            before_calls=self._before,
            after_calls=self._after,
            on_jumps={edge: (self._start(self._start_of[edges[edge].dst]),) for edge in resumed},
            pending=[(a, b) for a, b in pending],
        )

    def _on_edge(self, index: int, arc: Arc) -> Probes:
        increment = self._increments.arcs[index]
        if arc.kind is Kind.PAD_START:
            return (self._start(index),)
        if arc.kind in (Kind.END, Kind.PAD_END):
            target = self._points.dag.graph.edges[arc.of].dst
            return CountPath(*increment), self._start(self._start_of[target])
        if arc.dst == self._points.exit:
            return (LeaveProcedure(*increment, self._numbering.value_at_end(self._number)),)
        return (AddSums(*increment),) if increment != ZERO else ()

    def _on_call(self, arc: Arc) -> None:
        numbering, number = self._numbering, self._number
        behind = numbering.behind_call(number, arc.src)
        self._before[self._call(arc)] = (
            PublishPath(numbering.callee[number][arc.src], *self._increments.potential[arc.src], *behind),
        )
        sums = self._increments.behind(arc.dst)
        if numbering.mode is Mode.CONTEXT:
            self._after[self._call(arc)] = (TakePath(*sums),)
        else:
            value = numbering.value_at_return(number, arc.src)
            self._after[self._call(arc)] = (TakePiece(*sums, value, numbering.unbalanced[number]),)

    def _start(self, index: int) -> InterproceduralProbe:
        """A path starts behind a surrogate arc from Entry_P, or a piece behind one from GEntry_P."""
        numbering, number, arc = self._numbering, self._number, self._points.arcs[index]
        if numbering.mode is Mode.CONTEXT:
            return StartInContext(*self._increments.arcs[index])
        completions = numbering.unbalanced[number]
        there: Linear = numbering.rho[number][index].minus(self._increments.potential[arc.dst])
        return StartPiece(numbering.tables[number].whole + there.of(completions), completions)

    def _call(self, arc: Arc) -> tuple[int, int]:
        site = self._numbering.site_of(self._number, arc.of)
        return site.block, site.call

    def _self_loops(self) -> list[int]:
        dag = self._points.dag
        reached = set(dag.order)
        return [
            edge
            for edge in dag.graph.flow_edges()
            if dag.graph.edges[edge].src == dag.graph.edges[edge].dst in reached and edge not in dag.removed
        ]
