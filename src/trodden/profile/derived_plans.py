"""The plans of profiles that follow from traces: a counter on every edge, or paths that are not cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trodden.graph.cfg import Graph
from trodden.plan.counters.edges import every_edge
from trodden.plan.overlapping.loops import joining_edges
from trodden.plan.paths.dag import ArcKind
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import (
    Add,
    Bump,
    Count,
    EdgeMeasure,
    Plan,
    Probe,
    RedundantMeasure,
    Set,
)
from trodden.plan.trace.checked import checked_trace
from trodden.profile.assemble import PATHS
from trodden.profile.derived_counts import counted_beside, function_counts
from trodden.profile.model import Profile
from trodden.profile.traced_sites import call_sites
from trodden.program.facts import FunctionFacts, Skipped, UnitFacts
from trodden.program.unit_codec import unit_id
from trodden.recover.sparse_counters import nonzero
from trodden.recover.trace.counting import (
    PathArc,
    PathsOfProcedure,
    TraceCounts,
)
from trodden.recover.unit_counts import UnitCounts

Function = tuple[int, int]
"""A function by its unit and its index there."""


class DerivedPlans:
    """The plans of all functions for a derived profile."""

    def __init__(self, profile: Profile, kind: str) -> None:
        self._units = profile.units
        self.kind = kind
        lost = frozenset[int]() if profile.traces is None else profile.traces.unknown_units()
        counted = {each.unit for each in profile.unit_counts if any(nonzero(each.counters))}
        self._lost = {index for index in lost if profile.units[index].id not in counted}
        if kind == PATHS:
            self._lost = set(lost)
        self._counters_only = lost - self._lost
        self._known: dict[Function, tuple[Plan, PathsOfProcedure | None]] = {}

    def _plan(self, place: Function) -> tuple[Plan, PathsOfProcedure | None]:
        if place not in self._known:
            facts = self._units[place[0]].functions[place[1]]
            if facts.plan.trace is None:
                plan, paths = replace(facts.plan, measures=(), on_edges={}, on_blocks={}), None
            elif self.kind == PATHS:
                plan, paths = _paths(facts, self._units[place[0]])
            else:
                plan, paths = every_edge(facts.graph), None
            checked = any(isinstance(measure, RedundantMeasure) for measure in facts.plan.measures)
            self._known[place] = checked_trace(plan, facts.graph) if checked else plan, paths
        return self._known[place]

    def _beside(self, place: Function, counted: UnitCounts | None) -> dict[int, int]:
        """What counters beside the trace have counted of each edge."""
        if counted is None:
            return {}
        facts = self._units[place[0]].functions[place[1]]
        found = {
            measure.edge: counted.counters[facts.first_slot + slot]
            for slot, measure in enumerate(facts.plan.measures)
            if isinstance(measure, RedundantMeasure)
        }
        return {edge: count for edge, count in found.items() if count}

    def paths_of(self, place: Function) -> PathsOfProcedure | None:
        """How the paths of a function are counted."""
        return self._plan(place)[1]

    def units(self) -> list[UnitFacts]:
        """The units with these plans; those that record no trace as they are.

        They have no functions if their trace is missing.
        """
        found = []
        for index, unit in enumerate(self._units):
            if index in self._lost:
                found.append(_not_known(unit))
                continue
            functions, slots = [], 0
            for number, facts in enumerate(unit.functions):
                plan, _ = self._plan((index, number))
                functions.append(
                    replace(facts, plan=plan, first_slot=slots, registers={}, clones=(), machine=None)
                )
                slots += plan.slots
            made = replace(unit, functions=tuple(functions), slots=slots)
            found.append(replace(made, id=unit_id(made)) if _records(unit) else unit)
        return found

    def counted(
        self,
        units: Sequence[UnitFacts],
        totals: Mapping[Function, TraceCounts],
        counted: Sequence[UnitCounts],
        interrupted: Mapping[Function, int],
    ) -> list[UnitCounts]:
        """What the traces say of each unit.

        ``counted`` is what was counted beside them in the same runs, ``interrupted`` how many frames of each
        function were interrupted at the end.
        """
        by_unit = {each.unit: each for each in counted}
        found = []
        for index, (made, unit) in enumerate(zip(units, self._units, strict=True)):
            own = by_unit.get(unit.id)
            if index in self._lost:
                found.append(UnitCounts.zero(made))
                continue
            if not _records(unit):
                found.append(own or UnitCounts.zero(unit))
                continue
            known = {} if own is None else dict(own.functions(unit))
            counts = []
            for number, facts in enumerate(made.functions):
                beside = self._beside((index, number), own)
                if beside or (index, number) in totals:
                    traced = totals.get((index, number), TraceCounts())
                    if index in self._counters_only:
                        traced = counted_beside(facts.graph, beside, known.get(number))
                    frames = interrupted.get((index, number), 0)
                    counts.append((number, function_counts(facts, traced, beside, known.get(number), frames)))
            found.append(UnitCounts.of_functions(made, counts))
        return found


def _not_known(unit: UnitFacts) -> UnitFacts:
    """A unit of which no trace is left: like functions without probes, its own were executed or not."""
    lost = (Skipped(each.name, "its trace is missing") for each in unit.functions)
    made = replace(unit, functions=(), sites=(), slots=0, skipped=(*unit.skipped, *lost))
    return replace(made, id=unit_id(made))


def _records(unit: UnitFacts) -> bool:
    return any(facts.plan.trace is not None for facts in unit.functions)


def _paths(facts: FunctionFacts, unit: UnitFacts) -> tuple[Plan, PathsOfProcedure]:
    """A plan for whole paths, in which the path register holds the sum of values up to every block."""
    graph, trace = facts.graph, facts.plan.trace
    assert trace is not None
    resumed = [
        edge
        for block in trace.resumes
        for edge in graph.out_edges[block]
        if graph.edges[edge].dst not in trace.landings and graph.edges[edge].dst != graph.exit
    ]
    found = path_plan(graph, [1.0] * len(graph.edges), limit=None, resume_edges=resumed).paths
    assert found is not None
    numbering = Numbering(graph, found)
    arcs = numbering.dag.arcs
    starts = {
        arc.of: value for arc, value in zip(arcs, numbering.value, strict=True) if arc.kind is ArcKind.START
    }
    joining = joining_edges(numbering.dag, found)
    on_edges: dict[int, Sequence[Probe]] = {}
    followed: dict[int, PathArc] = {}
    entry = 0
    for arc, value in zip(arcs, numbering.value, strict=True):
        if arc.kind is ArcKind.ENTRY:
            entry = value
        elif arc.kind is ArcKind.END:
            restart = starts[graph.edges[arc.of].dst]
            on_edges[arc.of] = Bump(value), Set(restart)
            followed[arc.of] = PathArc(value, restart, ends=True, joins=arc.of in joining)
        elif arc.kind is ArcKind.REAL:
            ends = arc.dst == graph.exit
            on_edges[arc.of] = (Bump(value),) if ends else (Add(value),)
            followed[arc.of] = PathArc(value, ends=ends, leaves=ends)
    loops = _self_loops(graph, followed)
    for slot, edge in enumerate(loops):
        on_edges[edge] = (Count(slot),)
    plan = Plan(
        "paths",
        tuple(EdgeMeasure(edge) for edge in loops),
        {edge: on_edges[edge] for edge in sorted(on_edges)},
        on_entry=(Set(entry),),
        paths=replace(found, number=numbering.number, dense=False),
    )
    return plan, PathsOfProcedure(entry, followed, _some_path_to_each(numbering), call_sites(facts, unit))


def _some_path_to_each(numbering: Numbering) -> list[int]:
    """For each block the sum of values on a path that leads there, 0 if there is none."""
    dag = numbering.dag
    found = {dag.entry: 0}
    for node in dag.order:
        for number in dag.outs[node] if node in found else ():
            found.setdefault(dag.arcs[number].dst, found[node] + numbering.value[number])
    return [found.get(block, 0) for block in range(numbering.graph.exit)]


def _self_loops(graph: Graph, followed: Mapping[int, PathArc]) -> list[int]:
    return [
        edge
        for edge in graph.flow_edges()
        if graph.edges[edge].src == graph.edges[edge].dst and edge not in followed
    ]
