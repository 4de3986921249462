"""Longer paths as a trace has them: how often each was executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from trodden.plan.overlapping.loop_paths import (
    LoopPath,
    before_back_edge,
    behind_back_edge,
    up_to_degree,
)
from trodden.plan.routes import PathStart, Route
from trodden.profile.call_paths import function_names
from trodden.profile.longer.call_sites import Callees
from trodden.profile.longer.function_paths import FunctionPaths
from trodden.profile.longer.model import Crossing, LongerKind, NotTold, PathPart, part_of
from trodden.profile.model import Profile
from trodden.profile.traced_pairs import PairOfPaths, TracedPairs
from trodden.recover.trace.longer import PairKind

KINDS = {
    PairKind.LOOP: LongerKind.LOOP,
    PairKind.CALL: LongerKind.CALL,
    PairKind.RETURN: LongerKind.RETURN,
}

_Told = tuple[LongerKind, str]


@dataclass
class TracedCounts:
    """How often each longer path was executed, and what is not told.

    ``unknown`` and ``beyond`` are those of :class:`TracedPairs`, by kind and function.
    """

    counts: dict[Crossing, Counter[tuple[PathPart, PathPart]]] = field(default_factory=dict)
    unknown: Counter[_Told] = field(default_factory=Counter)
    beyond: Counter[_Told] = field(default_factory=Counter)
    not_told: list[NotTold] = field(default_factory=list)

    def more(self, crossing: Crossing) -> tuple[int, int]:
        """How often any path over a crossing may have been executed beside, and those that are not listed.

        Of a return without a known beginning the callee is known.
        """
        returns = crossing.kind is LongerKind.RETURN and crossing.callee is not None
        began = crossing.callee if returns and crossing.callee else crossing.function
        return self.unknown[crossing.kind, began], self.beyond[crossing.kind, crossing.function]


def traced_counts(
    profile: Profile, pairs: TracedPairs, functions: Mapping[str, FunctionPaths]
) -> TracedCounts:
    """What a trace says of the longer paths of these functions."""
    names = function_names(profile)
    callees = Callees(profile)
    readers = {key: _Reader(own) for key, own in functions.items()}
    found = TracedCounts()
    pointers: Counter[_Told] = Counter()
    for pair, times in pairs.counts.items():
        key = names.get(pair.function)
        callee = None if pair.callee is None else names.get(pair.callee)
        if key not in readers or (pair.callee is not None and callee not in readers):
            continue
        kind = KINDS[pair.kind]
        if callee is not None:
            if callees.is_not_of(key, pair.site, callee):
                continue
            if callees.through_pointer(key, pair.site):
                pointers[kind, key] += times
        try:
            crossing, parts = _decoded(pair, readers[key], readers[callee or key])
        except ValueError:
            found.unknown[kind, key] += times
            continue
        found.counts.setdefault(crossing, Counter())[parts] += times
    for counted, total in ((pairs.unknown, found.unknown), (pairs.beyond, found.beyond)):
        for (pair_kind, function), times in counted.items():
            if (key := names.get(function)) in readers:
                total[KINDS[pair_kind], key] += times
    for counts, reason in ((found.unknown, _BEFORE), (found.beyond, _BEYOND), (pointers, _POINTER)):
        found.not_told += [
            NotTold(kind, key, f"{times:,} {reason}") for (kind, key), times in counts.most_common()
        ]
    return found


_BEFORE = "began before the trace did, or behind a part of it that is missing"
_BEYOND = "are of so many different ones that they are not told apart"
_POINTER = "lead through pointers: who was entered first is taken for who was called"


def _decoded(pair: PairOfPaths, own: _Reader, callee: _Reader) -> tuple[Crossing, tuple[PathPart, PathPart]]:
    kind = KINDS[pair.kind]
    if pair.kind is PairKind.LOOP:
        header, first = own.iteration(pair.first)
        return Crossing(kind, own.key, None, header), (
            first,
            own.next_iteration(header, pair.second, pair.end),
        )
    crossing = Crossing(kind, own.key, callee.key, pair.site)
    if pair.kind is PairKind.CALL:
        return crossing, (own.before_call(pair.site, pair.first), callee.entered(pair.second, pair.end))
    return crossing, (callee.returned(pair.first), own.behind_call(pair.site, pair.second, pair.end))


class _Reader:
    """Decodes the parts of longer paths of one function, each once."""

    def __init__(self, own: FunctionPaths) -> None:
        self.key = own.key
        self._own = own
        self.iteration = cache(self._iteration)
        self.next_iteration = cache(self._next_iteration)
        self.before_call = cache(self._before_call)
        self.entered = cache(self._entered)
        self.returned = cache(self._returned)
        self.behind_call = cache(self._behind_call)

    def _route(self, number: int, end: int | None) -> Route:
        numbering = self._own.numbering
        return numbering.regenerate(number) if end is None else numbering.prefix(end, number)

    def _iteration(self, path: int) -> tuple[int, PathPart]:
        """The header of the loop that a path has gone around, and what it did there."""
        route = self._route(path, None)
        header = self._own.joining[route.edges[-1]]
        return header, self._loop_part(before_back_edge(self._own.loop(header), route))

    def _next_iteration(self, header: int, path: int, end: int | None) -> PathPart:
        route = self._route(path, end)
        if route.blocks[0] != header:
            raise ValueError("a path does not begin where the one before has ended")
        return self._loop_part(behind_back_edge(self._own.ways, self._own.loop(header), route))

    def _loop_part(self, path: LoopPath) -> PathPart:
        return part_of(self._own.graph, path.start, path.edges)

    def _before_call(self, block: int, prefix: int) -> PathPart:
        route = self._route(prefix, block)
        return PathPart(route.blocks, route.edges, route.starts)

    def _entered(self, path: int, end: int | None) -> PathPart:
        route = self._route(path, end)
        edges = up_to_degree(self._own.ways, self._own.whole, route.edges)
        return part_of(self._own.graph, self._own.graph.root, edges, PathStart.ENTRY)

    def _returned(self, path: int) -> PathPart:
        route = self._route(path, None)
        return PathPart(route.blocks, route.edges[: len(route.blocks) - 1], route.starts)

    def _behind_call(self, block: int, rest: int, end: int | None) -> PathPart:
        edges = self._own.numbering.rest(block, rest, end)
        behind = up_to_degree(self._own.ways, self._own.whole, edges, behind_call=True)
        return part_of(self._own.graph, block, behind)
