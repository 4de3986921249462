"""How often did a source line run?

A line is several blocks or a part of one, so its count is none of theirs.  As gcov does, it is the
number of times that control came to the line from elsewhere, plus the number of times that it went round
a cycle that never left the line.  A line that several functions hold (the instances of a template)
has the sum of its counts in each, and so has a line of which several copies were inlined into one.

A line that calls what was inlined stays with the call until it is over, but what goes round in there
alone is no business of the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from trodden.graph.cfg import EdgeKind, Graph
from trodden.profile.model import Count, FunctionProfile, Profile
from trodden.source.line_blocks import Stretch, stretches


@dataclass(frozen=True, slots=True)
class LineCount:
    """How often a line ran.  It is not ``exact`` when only block counts were to be had."""

    count: Count
    exact: bool = True


Lines = Mapping[str, Mapping[int, LineCount]]


def line_counts(profile: Profile) -> Lines:
    """For each source file its lines that hold code, in order, with their counts."""
    return lines_of_functions(profile.functions.values())


def lines_of_functions(functions: Iterable[FunctionProfile]) -> Lines:
    """The lines of these functions only."""
    found: dict[str, dict[int, LineCount]] = {}
    for function in functions:
        for (file, line), here in lines_of_function(function).items():
            lines = found.setdefault(file, {})
            lines[line] = _sum(lines.get(line), here)
    return {file: dict(sorted(lines.items())) for file, lines in sorted(found.items())}


def lines_of_function(function: FunctionProfile) -> dict[tuple[str, int], LineCount]:
    """The lines that one function holds, in its own file or inlined from others."""
    counts: dict[tuple[str, int], LineCount] = {}
    for (_, file, line), stretch in stretches(function.facts).items():
        place = function.files[file].path, line
        counts[place] = _sum(counts.get(place), count_stretch(function, stretch))
    return dict(sorted(counts.items()))


def _sum(one: LineCount | None, other: LineCount) -> LineCount:
    return other if one is None else LineCount(one.count + other.count, one.exact and other.exact)


def count_stretch(function: FunctionProfile, stretch: Stretch) -> LineCount:
    """How often control came to one copy of a line."""
    graph, edge_counts = function.facts.graph, function.edge_counts
    inside = stretch.blocks
    coming: Count = function.entries if graph.root in inside else 0
    staying: dict[int, Count] = {}
    for vertex in inside:
        for index in graph.in_edges[vertex]:
            edge = graph.edges[index]
            if edge.kind is not EdgeKind.FLOW:
                continue
            count = edge_counts[index]
            if count is None:
                outer = inside - stretch.inner or inside
                return LineCount(max(function.block_counts[v] for v in outer), exact=False)
            if edge.src not in inside:
                coming += count
            elif count > 0:
                staying[index] = count
    _rounds(graph, staying, stretch.inner)
    return LineCount(coming + _rounds(graph, staying, inside))


def _rounds(graph: Graph, flow: dict[int, Count], inside: Set[int]) -> Count:
    """How often control went round among some blocks, given the flow on edges.

    Cycles are taken out of the flow until none is left.

    A walk follows from each vertex the last of its edges that still have flow.  Where it meets itself it
    has closed a cycle, whose smallest flow is taken from all its edges; where it gets stuck, no cycle
    leads through that vertex and the edge to it is dropped.
    """
    ways: dict[int, list[int]] = {}
    for index in sorted(flow, reverse=True):
        src, dst, _ = graph.edges[index]
        if flow[index] and src in inside and dst in inside:
            ways.setdefault(src, []).append(index)
    rounds: Count = 0
    for start in sorted(ways):
        walk: list[int] = []
        place = {start: 0}
        here = start
        while walk or ways[start]:
            if not ways.get(here):
                del place[here]
                ways[graph.edges[walk.pop()].src].pop()
            else:
                index = ways[here][-1]
                here = graph.edges[index].dst
                walk.append(index)
                if here not in place:
                    place[here] = len(walk)
                    continue
                begin = place[here]
                rounds += _take_least(flow, walk[begin:])
                keep = next(i for i in range(begin, len(walk)) if not flow[walk[i]])
                for edge in walk[keep:]:
                    if not flow[edge]:
                        ways[graph.edges[edge].src].pop()
                    if edge != index:
                        del place[graph.edges[edge].dst]
                del walk[keep:]
            here = graph.edges[walk[-1]].dst if walk else start
    return rounds


def _take_least(flow: dict[int, Count], cycle: Sequence[int]) -> Count:
    least = min(flow[edge] for edge in cycle)
    for edge in cycle:
        flow[edge] -= least
    return least
