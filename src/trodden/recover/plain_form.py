"""Counts of overlapping paths and of tuples of paths in the form of those of paths alone, and back.

Two steps need no more than paths: completing the counts of a process that was killed, and transferring counts
to another build.  For them a plan is replaced by one that numbers the same paths without overlaps.  It is
never executed: its register is the sum of the values of a path, and it counts paths where the other plan
does, so that what is known of a frame is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from trodden.graph.cfg import Graph
from trodden.plan.overlap_probes import StartOverlap, StartOverlapAt
from trodden.plan.overlapping.numbering import (
    OverlapNumbering,
    OverlappingPath,
    numbering_of_plan,
    whole_paths,
)
from trodden.plan.overlapping.unfinished import UnfinishedOverlaps
from trodden.plan.paths.dag import ArcKind
from trodden.plan.paths.numbering import LARGEST
from trodden.plan.probes import Add, AddTripCount, Bump, BumpAt, Count, Plan, Probe, Set
from trodden.program.frame_word import join, path_part
from trodden.recover.function_counts import FunctionCounts, PathTotals, Prefix
from trodden.recover.overlaps import overlapping_table, unfinished_overlaps
from trodden.recover.path_prefix import PrefixDecoder
from trodden.recover.sparse_counters import SparseCounters, nonzero


class PlainForm:
    """The plain form of one plan (``plan``), and of counts."""

    def __init__(self, graph: Graph, original: Plan) -> None:
        assert original.paths is not None
        self._graph, self._original = graph, original
        self._numbering = numbering_of_plan(graph, original, LARGEST)
        self._whole = whole_paths(self._numbering)
        self._decoder = PrefixDecoder(graph, original, self._numbering)
        self.plan = self._plain_plan()
        self._plain_decoder = PrefixDecoder(graph, self.plan, self._whole)

    def _plain_plan(self) -> Plan:
        original, values, dag = self._original, self._whole.value, self._whole.dag
        assert original.paths is not None
        steps: dict[int, list[Probe]] = {}
        starts: dict[int, Probe] = {}
        on_entry: list[Probe] = []
        for number, arc in enumerate(dag.arcs):
            match arc.kind:
                case ArcKind.REAL:
                    steps[arc.of] = [Add(values[number])] if values[number] else []
                case ArcKind.END:
                    steps[arc.of] = [Add(values[number])]
                case ArcKind.START:
                    starts[arc.of] = Set(values[number])
                case ArcKind.ENTRY:
                    on_entry = [Set(values[number])]
        on_edges: dict[int, tuple[Probe, ...]] = {}
        for edge in sorted({*original.on_edges, *steps}):
            probes = original.on_edges.get(edge, ())
            own: list[Probe] = [probe for probe in probes if isinstance(probe, Count | AddTripCount)]
            own += [*steps.get(edge, ()), *_counting(probes)]
            target = self._graph.edges[edge].dst
            if edge in dag.removed and target in starts:
                own.append(starts[target])
            on_edges[edge] = tuple(own)
        return Plan(
            "paths",
            original.measures,
            on_edges,
            original.on_blocks,
            on_entry=(*on_entry, *_counting(original.on_entry)),
            paths=replace(original.paths, dense=False, timed=False),
        )

    @cached_property
    def _overlaps(self) -> UnfinishedOverlaps | None:
        if isinstance(self._numbering, OverlapNumbering) and self._original.extends:
            return UnfinishedOverlaps(self._original, self._numbering)
        return None

    def of(self, counted: FunctionCounts) -> FunctionCounts:
        """The same counts of paths; those of tuples are left out."""
        measures = len(self._original.measures)
        slots = {slot: value for slot, value in nonzero(counted.counters) if slot < measures}
        sparse: dict[int, PathTotals] = {path: (count, 0) for path, count in self.paths(counted).items()}
        prefixes: Counter[Prefix] = Counter()
        for (block, register), times in counted.prefixes.items():
            prefixes[block, self._plain_register(block, register)] += times
        stops: Counter[tuple[int, int | None, int]] = Counter()
        for (block, register, position), times in counted.stops.items():
            stops[block, self._plain_register(block, register), position] += times
        return FunctionCounts(
            SparseCounters(measures, slots), counted.active, prefixes, sparse, stops, counted.unlocated
        )

    def paths(self, counted: FunctionCounts) -> Counter[int]:
        """The counts of paths by number, less than zero where a forked child has inherited an overlap."""
        found: Counter[int] = Counter()
        for number, count in overlapping_table(self._original, counted).items():
            if number < self._numbering.number:
                found[self._number_of_whole(number)] += count
        for overlap, count in unfinished_overlaps(self._decoder, counted.prefixes).items():
            if isinstance(overlap, OverlappingPath):
                found[self._whole.number_of(overlap.path)] += count
        return Counter({path: count for path, count in found.items() if count})

    def _number_of_whole(self, number: int) -> int:
        numbering = self._numbering
        return numbering.number_of_whole(number) if isinstance(numbering, OverlapNumbering) else number

    def _plain_register(self, block: int, register: int | None) -> int | None:
        total = self._decoder.sum_of(block, register)
        if total is None or not self._plain_decoder.needs_register(block):
            return None
        path = self._whole.number_of(self._decoder.route(block, total))
        return path - self._whole.number * (block + 1) if self._whole.successors(block) else path

    def inherited_overlaps(self, counted: FunctionCounts) -> FunctionCounts:
        """What is missing where a forked child was killed inside an overlap that it had inherited.

        The path before was counted in its parent, and less one here for the overlap that the child was to
        count again.
        """
        owed = Counter({path: -count for path, count in self.paths(counted).items() if count < 0})
        prefixes: Counter[Prefix] = Counter()
        for (block, register), times in counted.prefixes.items():
            if times >= 0 or register is None:
                continue
            overlap = self._decoder.overlap(block, register)
            path = None if overlap is None else self._whole.number_of(overlap.path)
            if path is not None and owed[path] > 0:
                missing = min(owed[path], -times)
                owed[path] -= missing
                prefixes[block, register] += missing
                prefixes[block, self._without_second(block, register)] -= missing
        return FunctionCounts(SparseCounters(self._original.slots, {}), {}, prefixes)

    def _without_second(self, block: int, register: int) -> int:
        """The registers of a frame that is on the same path, with nothing before it."""
        second = 0
        if self._overlaps is not None and self._original.tuples is None:
            total = self._decoder.sum_of(block, register)
            assert total is not None
            second = self._overlaps.none(self._decoder.route(block, total))
        return join(path_part(register), second)

    def back(self, missing: FunctionCounts) -> FunctionCounts:
        """Counts in plain form as the original plan would have counted them.

        Of a path that is counted with its overlap nothing is known but the block where that begins.
        """
        sparse: dict[int, PathTotals] = {}
        prefixes: Counter[Prefix] = Counter()
        for path, totals in missing.sparse.items():
            number = self._number_of(path)
            if number is not None:
                sparse[number] = totals
            else:
                begun, nothing = self._at_start(path)
                prefixes[begun] += totals[0]
                prefixes[nothing] -= totals[0]
        for (block, register), times in missing.prefixes.items():
            prefixes[block, self._register(block, register)] += times
        counters = dict(nonzero(missing.counters))
        assert self._original.paths is not None
        if self._original.paths.dense:
            first = len(self._original.measures)
            counters |= {first + path: count for path, (count, _) in sparse.items()}
            sparse = {}
        return replace(
            missing,
            counters=SparseCounters(self._original.slots, counters),
            prefixes=prefixes,
            sparse=sparse,
        )

    def _number_of(self, path: int) -> int | None:
        if not isinstance(self._numbering, OverlapNumbering):
            return path
        route = self._whole.regenerate(path)
        if route.edges[-1] in self._numbering.extended:
            return None
        return self._numbering.number_of_overlapping(OverlappingPath(route))

    def _at_start(self, path: int) -> tuple[Prefix, Prefix]:
        """A path that has just started behind one that is extended, and behind nothing."""
        assert isinstance(self._numbering, OverlapNumbering)
        route = self._whole.regenerate(path)
        header = self._graph.edges[route.edges[-1]].dst
        values, dag = self._whole.value, self._whole.dag
        (total,) = (
            values[n] for n, arc in enumerate(dag.arcs) if (arc.kind, arc.of) == (ArcKind.START, header)
        )
        prefix = self._plain_decoder.prefix_of(header, total)
        nothing = None if prefix is None else self._register(*prefix)
        assert nothing is not None
        number = self._numbering.number_at_start(route)
        second = number + 1
        if self._original.tuples is None:
            assert self._overlaps is not None
            second = self._overlaps.register_at_start(header, number)
        return (header, join(path_part(nothing), second)), (header, nothing)

    def _register(self, block: int, register: int | None) -> int | None:
        """The registers of a frame with a prefix in plain form, and nothing before it."""
        total = self._plain_decoder.sum_of(block, register)
        if total is None or not self._decoder.needs_register(block):
            return None
        route = self._plain_decoder.route(block, total)
        number = self._numbering.number_of(route)
        own = number - self._numbering.number * (block + 1) if self._numbering.successors(block) else number
        prefix = self._decoder.prefix_of(block, own)
        path = 0 if prefix is None or prefix[1] is None else prefix[1]
        return self._without_second(block, join(path, 0))


def _counting(probes: Sequence[Probe]) -> list[Probe]:
    """A count of the path where probes count it, or begin its overlap."""
    return [Bump() for probe in probes if isinstance(probe, Bump | BumpAt | StartOverlap | StartOverlapAt)]
