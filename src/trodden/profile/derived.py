"""Edge and path profiles that follow from a trace (BL94 §4).

They are profiles like those that are counted while a program runs: the units have plans with a counter on
every edge, or for paths that are not cut, and what these would have counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trodden.graph.cfg import Graph
from trodden.plan.counters.edges import every_edge
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
from trodden.profile.assemble import PATHS, assemble
from trodden.profile.model import Profile
from trodden.profile.same_runs import with_runs
from trodden.profile.trace.program import TracedProgram
from trodden.profile.trace.progress import Progress
from trodden.profile.trace.threads import ThreadTrace
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.program.unit_codec import unit_id
from trodden.recover.function_counts import FunctionCounts, Prefix, Stop
from trodden.recover.sparse_counters import SparseCounters
from trodden.recover.trace.counting import (
    CountingProgram,
    CountingReader,
    PathArc,
    PathsOfProcedure,
    TraceCounts,
)
from trodden.recover.trace.procedure import Procedure
from trodden.recover.unit_counts import UnitCounts

_Function = tuple[int, int]
"""A function by its unit and its index there."""


@dataclass(frozen=True)
class Derived:
    """A profile that follows from a trace, and where it contradicts what was counted in the same run."""

    profile: Profile
    contradictions: tuple[str, ...]


def derive(profile: Profile, kind: str, tell: Callable[[str], None] = lambda detail: None) -> Derived:
    """The profile of ``kind`` (``"edges"`` or ``"paths"``) of all processes that were traced.

    Counters on every edge that the same run had beside the trace stay there, so that whatever they contradict
    is a violation.  Processes, threads and programs are those of the profile.  ``tell`` gets the share of the
    trace that has been read.
    """
    plans = _Plans(profile, kind)
    totals: dict[_Function, TraceCounts] = {}
    by_process: dict[int, dict[_Function, TraceCounts]] = {}
    messages = list(profile.messages)
    trace = profile.trace
    progress = Progress(sum(len(thread.main) for thread in trace.threads), tell)
    for process in trace.traces.processes:
        own = by_process.setdefault(process.process, {})
        program = trace.program(process)
        counts = TraceCounts()
        threads = [thread for thread in trace.threads if thread.process is process]
        messages += _count(threads, counts, plans, program, progress)
        for number in {*counts.edges, *counts.entries, *counts.prefixes, *counts.paths}:
            place = program.place(number)
            if place is not None:
                for sums in (own, totals):
                    _add(sums.setdefault(place, TraceCounts()), counts, number, program.procedure(number))
    units = plans.units()
    unit_counts = plans.counted(units, totals, profile.unit_counts)
    derived = assemble(profile.program, units, unit_counts, messages)
    counted = {
        index: plans.counted(units, own, profile.processes[index].unit_counts)
        for index, own in by_process.items()
        if index >= 0 and len(profile.processes) > 1
    }
    return Derived(with_runs(derived, profile, counted), tuple(_contradictions(profile, totals)))


def _count(
    threads: Sequence[ThreadTrace],
    counts: TraceCounts,
    plans: _Plans,
    program: TracedProgram,
    progress: Progress,
) -> list[str]:
    """Read all threads of a process."""
    paths = _PathsByNumber(plans, program)
    library = threads[0].library if threads else None
    compiled = None if library is None else CountingProgram(library, program, paths)
    messages: list[str] = []
    for thread in threads:
        reader = CountingReader(program, counts, paths) if compiled is None else compiled.reader()
        for events in thread.read_by(reader):
            kept = list(events)
            counts.add_events(kept)
            messages += thread.damages(kept)
            progress.step()
        for number, block, _, path in reader.frames_with_paths:
            counts.end_of(number, block, path)
    if compiled is not None:
        compiled.add_to(counts)
    return messages


def _add(total: TraceCounts, counts: TraceCounts, number: int, code: Procedure | None) -> None:
    """Add what a function has counted to the counts of the function with the number 0."""
    total.entries[0] += counts.entries[number]
    for own, others in (
        (total.edges, counts.edges),
        (total.paths, counts.paths),
    ):
        own.setdefault(0, Counter()).update(others.get(number, Counter()))
    prefixes = total.prefixes.setdefault(0, Counter())
    for (block, path), times in counts.prefixes.get(number, Counter()).items():
        # A frame that has not written the witness behind a call yet is in the block behind.
        passed = code is not None and block > code.exit
        prefixes[code.arcs[block][0].target if code is not None and passed else block, path] += times


class _PathsByNumber(Mapping[int, PathsOfProcedure]):
    """How the paths of functions are counted, worked out when a function is entered."""

    def __init__(self, plans: _Plans, program: TracedProgram) -> None:
        self._plans = plans
        self._program = program

    def __getitem__(self, number: int) -> PathsOfProcedure:
        place = self._program.place(number)
        found = None if place is None else self._plans.paths_of(place)
        if found is None:
            raise KeyError(number)
        return found

    def __iter__(self) -> Iterator[int]:
        return iter(self._program.numbers)

    def __len__(self) -> int:
        return len(self._program.numbers)


class _Plans:
    """The plans of all functions for a derived profile."""

    def __init__(self, profile: Profile, kind: str) -> None:
        self._units = profile.units
        self.kind = kind
        self._known: dict[_Function, tuple[Plan, PathsOfProcedure | None]] = {}

    def _plan(self, place: _Function) -> tuple[Plan, PathsOfProcedure | None]:
        if place not in self._known:
            facts = self._units[place[0]].functions[place[1]]
            if facts.plan.trace is None:
                plan, paths = replace(facts.plan, measures=(), on_edges={}, on_blocks={}), None
            elif self.kind == PATHS:
                plan, paths = _paths(facts)
            else:
                plan, paths = every_edge(facts.graph), None
            checked = any(isinstance(measure, RedundantMeasure) for measure in facts.plan.measures)
            self._known[place] = checked_trace(plan, facts.graph) if checked else plan, paths
        return self._known[place]

    def _beside(self, place: _Function, counted: UnitCounts | None) -> dict[int, int]:
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

    def paths_of(self, place: _Function) -> PathsOfProcedure | None:
        """How the paths of a function are counted."""
        return self._plan(place)[1]

    def units(self) -> list[UnitFacts]:
        """The units with these plans; those that record no trace as they are."""
        found = []
        for index, unit in enumerate(self._units):
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
        totals: Mapping[_Function, TraceCounts],
        counted: Sequence[UnitCounts],
    ) -> list[UnitCounts]:
        """What the traces say of each unit; ``counted`` is what was counted beside them in the same runs."""
        by_unit = {each.unit: each for each in counted}
        found = []
        for index, (made, unit) in enumerate(zip(units, self._units, strict=True)):
            own = by_unit.get(unit.id)
            if not _records(unit):
                found.append(own or UnitCounts.zero(unit))
                continue
            known = {} if own is None else dict(own.functions(unit))
            counts = []
            for number, facts in enumerate(made.functions):
                beside = self._beside((index, number), own)
                if beside or (index, number) in totals:
                    traced = totals.get((index, number), TraceCounts())
                    counts.append((number, _function_counts(facts, traced, beside, known.get(number))))
            found.append(UnitCounts.of_functions(made, counts))
        return found


def _records(unit: UnitFacts) -> bool:
    return any(facts.plan.trace is not None for facts in unit.functions)


def _paths(facts: FunctionFacts) -> tuple[Plan, PathsOfProcedure]:
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
    on_edges: dict[int, Sequence[Probe]] = {}
    followed: dict[int, PathArc] = {}
    entry = 0
    for arc, value in zip(arcs, numbering.value, strict=True):
        if arc.kind is ArcKind.ENTRY:
            entry = value
        elif arc.kind is ArcKind.END:
            restart = starts[graph.edges[arc.of].dst]
            on_edges[arc.of] = Bump(value), Set(restart)
            followed[arc.of] = PathArc(value, restart, ends=True)
        elif arc.kind is ArcKind.REAL:
            ends = arc.dst == graph.exit
            on_edges[arc.of] = (Bump(value),) if ends else (Add(value),)
            followed[arc.of] = PathArc(value, ends=ends)
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
    return plan, PathsOfProcedure(entry, followed, _some_path_to_each(numbering))


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


def _function_counts(
    facts: FunctionFacts, counts: TraceCounts, beside: Mapping[int, int], known: FunctionCounts | None
) -> FunctionCounts:
    edges = counts.edges.get(0, Counter())
    counters: dict[int, int] = {}
    for slot, measure in enumerate(facts.plan.measures):
        if isinstance(measure, EdgeMeasure) and edges[measure.edge]:
            counters[slot] = edges[measure.edge]
        elif isinstance(measure, RedundantMeasure) and measure.edge in beside:
            counters[slot] = beside[measure.edge]
    held = SparseCounters(facts.plan.slots, counters)
    ended = _ended_in(facts.graph, edges, counts.entries[0])
    if facts.plan.paths is None:
        return FunctionCounts(held, active=ended, stops=_stops(known, ended))
    prefixes: dict[Prefix, int] = {
        (block, path): times for (block, path), times in counts.prefixes.get(0, Counter()).items() if times
    }
    cut = Counter[int]()
    for (block, _), times in prefixes.items():
        cut[block] += times
    resumed = {
        block: ended.get(block, 0) - cut[block]
        for block in {*ended, *cut}
        if ended.get(block, 0) < cut[block]
    }
    sparse = {path: (times, 0) for path, times in counts.paths.get(0, Counter()).items()}
    return FunctionCounts(held, active=resumed, prefixes=prefixes, sparse=sparse)


def _stops(known: FunctionCounts | None, ended: Mapping[int, int]) -> Mapping[Stop, int]:
    """Where in their blocks frames have ended, as the stacks at the end say; of blocks where both agree."""
    if known is None:
        return {}
    return {
        (block, None, position): times
        for (block, _, position), times in known.stops.items()
        if known.active.get(block) == ended.get(block)
    }


def _ended_in(graph: Graph, edges: Mapping[int, int], entries: int) -> dict[int, int]:
    """How many frames have entered each block and not left it: what the flow law lacks."""
    missing: Counter[int] = Counter({graph.root: entries})
    for edge, times in edges.items():
        missing[graph.edges[edge].dst] += times
        missing[graph.edges[edge].src] -= times
    return {block: times for block, times in sorted(missing.items()) if times and block != graph.exit}


def _contradictions(profile: Profile, totals: Mapping[_Function, TraceCounts]) -> Iterator[str]:
    """Edges that have a counter beside the trace which says something else."""
    for index, (unit, counted) in enumerate(zip(profile.units, profile.unit_counts, strict=True)):
        for number, facts in enumerate(unit.functions):
            found = totals.get((index, number), TraceCounts()).edges.get(0, Counter())
            for slot, measure in enumerate(facts.plan.measures):
                if not isinstance(measure, RedundantMeasure):
                    continue
                value = counted.counters[facts.first_slot + slot]
                if value != found[measure.edge]:
                    edge = facts.graph.edges[measure.edge]
                    labels = facts.graph.labels
                    yield (
                        f"{facts.name}: the edge {labels[edge.src]} -> {labels[edge.dst]} was taken {value}"
                        f" times by its counter, {found[measure.edge]} times by the trace"
                    )
