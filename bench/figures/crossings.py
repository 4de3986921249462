"""What a profile of overlapping paths knows of each back edge, call and return, at any lower degree too.

A crossing has sums over rows and columns of pairs: what was done before it, and what was done behind it.  A
degree says how far what was behind it is known together with what was before; with -1 only the paths are
known and how often it was crossed (TZG04 §2.2, §3.2).  Parts that were cut short, because the program ended
or an exception left the function, are no paths here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias

from trodden.plan.overlapping.calls import CallNumbering, entry_numbers, return_numbers
from trodden.plan.overlapping.loops import LoopNest, largest_degree
from trodden.plan.overlapping.numbering import OverlapNumbering, OverlappingPath, numbering_of_plan
from trodden.plan.overlapping.protocol import plain_dag
from trodden.plan.overlapping.region import Owner, Ways
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.routes import PathEnd, PathStart, Route
from trodden.profile.crossings import Crossings, SiteCrossings
from trodden.profile.model import Profile
from trodden.program.facts import UnitFacts
from trodden.recover.bounds.loops import LoopFacts, LoopReading, loop_facts, loop_margins
from trodden.recover.bounds.margins import Margins
from trodden.recover.bounds.system import Range
from trodden.recover.crossings import Numbered
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.overlaps import overlapping_counts
from trodden.recover.unit import RecoveredFunction, recover_unit
from trodden.recover.unit_counts import UnitCounts

Kind: TypeAlias = Literal["loop", "call", "return"]
KINDS: tuple[Kind, ...] = ("loop", "call", "return")

ONLY_PATHS = -1
"""The degree of a profile without overlaps."""

Tables: TypeAlias = "list[Margins[Any, Any]]"


@dataclass(frozen=True)
class Crossed:
    """A crossing: how often it was crossed, the largest degree of its overlaps, and its sums by degree."""

    kind: Kind
    times: int
    largest: int
    tables: Callable[[int | None], Tables]


class Function:
    """A function whose paths were counted."""

    def __init__(self, unit: UnitFacts, number: int, counts: UnitCounts) -> None:
        self.facts = unit.functions[number]
        self.graph = self.facts.graph
        self.plan = self.facts.plan
        self._unit, self._number, self._counts = unit, number, counts
        self._call_numbers: dict[tuple[bool, int | None], CallNumbering] = {}

    @cached_property
    def counted(self) -> FunctionCounts:
        """Its counters."""
        ((_, found),) = self._counts.functions(self._unit, {self._number})
        return found

    @cached_property
    def recovered(self) -> RecoveredFunction:
        """All its counts."""
        (found,) = recover_unit(self._unit, self._counts, only={self._number})
        return found

    @cached_property
    def routes(self) -> dict[Route, int]:
        """Its paths that were not cut short, and how often each was executed."""
        found: Counter[Route] = Counter()
        for path in self.recovered.paths or ():
            if len(path.edges) == len(path.blocks) and path.count > 0:
                found[Route(path.blocks, path.edges, path.starts, path.ends)] += path.count
        return dict(found)

    @cached_property
    def cut_short(self) -> dict[Route, int]:
        """Those that were."""
        found: Counter[Route] = Counter()
        for path in self.recovered.paths or ():
            if len(path.edges) < len(path.blocks) and path.count > 0:
                found[Route(path.blocks, path.edges, path.starts, path.ends)] += path.count
        return dict(found)

    @cached_property
    def numbering(self) -> Numbering:
        """The numbers of its paths."""
        return numbering_of_plan(self.graph, self.plan, LARGEST)

    @cached_property
    def ways(self) -> Ways:
        """The edges out of each block."""
        return Ways(plain_dag(self.numbering))

    @cached_property
    def nest(self) -> LoopNest:
        """Its loops."""
        numbering = self.numbering
        return numbering.nest if isinstance(numbering, OverlapNumbering) else LoopNest(self.graph)

    @cached_property
    def overlaps(self) -> Mapping[OverlappingPath, int]:
        """Its paths with what is known of the one that followed."""
        if isinstance(self.numbering, OverlapNumbering):
            return overlapping_counts(self.graph, self.plan, self.counted, self.numbering)
        return {OverlappingPath(route): count for route, count in self.routes.items()}

    def loops(self, degree: int | None) -> Mapping[int, LoopFacts]:
        """What is known of its loops, by header."""
        if isinstance(self.numbering, OverlapNumbering):
            return loop_facts(self.numbering, self.overlaps, self.cut_short, degree)
        assert self.plan.paths is not None
        reading = LoopReading(self.ways.dag, self.plan.paths, self.nest)
        for path, count in self.overlaps.items():
            reading.add(path, count)
        for route, count in self.cut_short.items():
            reading.add_start(route, count)
        return reading.facts

    def largest_of_loop(self, header: int) -> int:
        """The largest degree that an overlap over its back edges can have."""
        return largest_degree(self.ways, self.nest.owner(self.ways.dag, header, None))

    @cached_property
    def largest_of_calls(self) -> int:
        """The same of one that begins at its entry; none behind a call can be longer."""
        return largest_degree(self.ways, Owner(self.graph.root, 1, None, lambda _: True))

    def call_numbers(self, returned: bool, degree: int | None) -> CallNumbering:
        """The numbers of overlaps behind its calls, or from its entry on."""
        if (returned, degree) not in self._call_numbers:
            calls = self.plan.calls
            assert calls is not None
            calls = replace(calls, entered=degree, returned=degree)
            self._call_numbers[returned, degree] = (
                return_numbers(self.plan, self.numbering, calls)
                if returned
                else entry_numbers(self.numbering, calls)
            )
        return self._call_numbers[returned, degree]

    @property
    def self_loops(self) -> int:
        """How often it took edges from a block to itself, which end no paths."""
        edges = enumerate(self.graph.edges)
        return sum(self.recovered.edges[number] or 0 for number, edge in edges if edge.src == edge.dst)


class Functions:
    """All functions of a profile whose paths were counted, and what they cross."""

    def __init__(self, profile: Profile) -> None:
        counts = {each.unit: each for each in profile.unit_counts}
        self.by_number: dict[Numbered, Function] = {
            (unit.id, number): Function(unit, number, counts[unit.id])
            for unit in profile.units
            for number, facts in enumerate(unit.functions)
            if facts.plan.paths is not None and unit.id in counts
        }
        self._crossings = Crossings(profile)

    @cached_property
    def executed(self) -> list[Function]:
        """Those of which a path was executed."""
        return [each for each in self.by_number.values() if each.routes or each.cut_short]

    def crossed(self) -> Iterator[Crossed]:
        """Everything that was crossed."""
        for function in self.executed:
            yield from _loops(function)
        for site in self._crossings.sites:
            yield _call(site, self.by_number[site.in_caller], self.by_number[site.in_callee])


def _loops(function: Function) -> Iterator[Crossed]:
    by_degree: dict[int | None, Mapping[int, LoopFacts]] = {None: function.loops(None)}

    def tables(header: int, degree: int | None) -> Tables:
        if degree not in by_degree:
            # One degree after the other is asked for; each is read once, and then dropped.
            by_degree.clear()
            by_degree[degree] = function.loops(degree)
        return loop_margins(function.ways, by_degree[degree][header])

    for header, facts in by_degree[None].items():
        if facts.crossings:
            largest = function.largest_of_loop(header)
            yield Crossed("loop", facts.real_flow, largest, partial(tables, header))


def _call(site: SiteCrossings, caller: Function, callee: Function) -> Crossed:
    """The calls of one callee at one call site, or their returns."""
    owner = caller if site.returned else callee
    block = site.site.block if site.returned else callee.graph.root
    counted = owner.plan.calls
    assert counted is not None
    own = owner.call_numbers(site.returned, counted.returned if site.returned else counted.entered)
    overlaps: Counter[tuple[Route, tuple[int, ...]]] = Counter()
    for each in site.crossings:
        if site.returned:
            first = callee.numbering.regenerate(each.in_callee)
            second, _ = own.overlap(block, each.in_caller)
        else:
            first = caller.numbering.prefix(site.site.block, each.in_caller)
            second, _ = own.overlap(block, each.in_callee)
        overlaps[first, second] += each.times
    firsts = _returned(callee) if site.returned else _prefixes(caller, site.site.block)
    seconds = _behind(caller, site.site.block, own) if site.returned else _entered(callee, own)
    total = overlaps.total()

    def tables(degree: int | None) -> Tables:
        columns = {part: Range(0, count) for part, count in seconds.items()}
        if degree is not None and degree < 0:
            rows = {part: Range(0, count) for part, count in firsts.items()}
            return [Margins(rows, columns, Range(total, total))]
        numbers = own if degree is None else owner.call_numbers(site.returned, degree)
        by_beginning: dict[tuple[int, ...], tuple[Counter[Route], dict[tuple[int, ...], Range]]] = {}
        for (first, part), count in overlaps.items():
            beginning = numbers.beginning(block, part)
            by_beginning.setdefault(beginning, (Counter(), {}))[0][first] += count
        for part, known in columns.items():
            if (found := by_beginning.get(numbers.beginning(block, part))) is not None:
                found[1][part] = known
        return [
            Margins({first: Range(count, count) for first, count in rows.items()}, seconds)
            for rows, seconds in by_beginning.values()
        ]

    return Crossed("return" if site.returned else "call", total, owner.largest_of_calls, tables)


def _prefixes(caller: Function, block: int) -> Counter[Route]:
    """How often each prefix reached a call, and went on behind it."""
    found: Counter[Route] = Counter()
    for path, count in [*caller.routes.items(), *caller.cut_short.items()]:
        if block in path.blocks:
            at = path.blocks.index(block)
            found[Route(path.blocks[: at + 1], path.edges[:at], path.starts, PathEnd.UNWOUND)] += count
    return found


def _returned(callee: Function) -> dict[Route, int]:
    """How often a callee returned with each path."""
    return {path: count for path, count in callee.routes.items() if path.ends is PathEnd.EXIT}


def _entered(callee: Function, numbers: CallNumbering) -> Counter[tuple[int, ...]]:
    """How often each path started at the entry of a callee."""
    found: Counter[tuple[int, ...]] = Counter()
    for path, count in callee.routes.items():
        if path.starts is PathStart.ENTRY:
            found[numbers.beginning(callee.graph.root, path.edges, whole=True)] += count
    return found


def _behind(caller: Function, block: int, numbers: CallNumbering) -> Counter[tuple[int, ...]]:
    """How often a caller did what behind a call."""
    found: Counter[tuple[int, ...]] = Counter()
    for path, count in caller.routes.items():
        if block in path.blocks:
            at = path.blocks.index(block)
            found[numbers.beginning(block, path.edges[at:], whole=True)] += count
    return found
