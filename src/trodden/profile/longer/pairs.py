"""Paths of two iterations from pairs of paths that were counted, or from longer tuples of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from trodden.plan.overlapping.call_pairs import path_or_prefix
from trodden.plan.overlapping.loop_paths import before_back_edge, behind_back_edge
from trodden.plan.routes import PathEnd, Route
from trodden.profile.longer.ends import Ends
from trodden.profile.longer.function_paths import FunctionPaths
from trodden.profile.longer.listing import exact_paths
from trodden.profile.longer.loops import Found
from trodden.profile.longer.model import Crossing, LongerKind, NotTold, PathPart, Source, part_of
from trodden.profile.longer.overlaps import Extended
from trodden.recover.overlaps import tuple_counts


def paired_loops_of(own: FunctionPaths, copies: Sequence[Extended], ends: Ends) -> Iterator[Found | NotTold]:
    """The longer paths of the loops of a function whose paths were counted in tuples.

    Each tuple ends with a pair.  A back edge that was taken without a pair, because what followed was cut
    short and is not known, is one execution more of any of them.
    """
    counts: dict[int, Counter[tuple[PathPart, PathPart]]] = {}
    header_of = cache(lambda path: own.joining[own.numbering.regenerate(path).edges[-1]])

    @cache
    def first(path: int) -> PathPart:
        header = header_of(path)
        found = before_back_edge(own.loop(header), own.numbering.regenerate(path))
        return part_of(own.graph, found.start, found.edges)

    @cache
    def second(header: int, path: int) -> PathPart:
        route: Route = path_or_prefix(own.numbering, (), path)
        found = behind_back_edge(own.ways, own.loop(header), route)
        return part_of(own.graph, found.start, found.edges)

    for copy in copies:
        for paths, times in tuple_counts(own.graph, copy.facts.plan, copy.counted).items():
            header = header_of(paths[-2])
            counts.setdefault(header, Counter())[first(paths[-2]), second(header, paths[-1])] += times
    crossed: Counter[int] = Counter()
    for route, count in own.routes():
        if route.ends is not PathEnd.UNWOUND and route.edges[-1] in own.joining:
            crossed[own.joining[route.edges[-1]]] += count
    for header, times in crossed.items():
        crossing = Crossing(LongerKind.LOOP, own.key, None, header)
        pairs = {parts: count for parts, count in counts.get(header, {}).items() if count > 0}
        more = max(times - sum(pairs.values()), 0)
        yield exact_paths(crossing, pairs, Source.PAIRS, ends.of(crossing), more)
