"""How often was a source line executed?

A line is several blocks or a part of one, so its count is none of theirs.  As in gcov, it is the number of
times that control reached the line from another one, plus the number of iterations of cycles that never leave
the line.  A line that several functions hold (the instances of a template) has the sum of its counts in each,
and so has a line of which several instances were inlined into one function.

A call site that was inlined lasts until the call returns, but iterations within the inlined code alone do not
count for its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from trodden.graph.cfg import EdgeKind, Graph
from trodden.profile.model import Count, FunctionProfile, Profile
from trodden.source.line_blocks import LineBlocks, line_blocks


@dataclass(frozen=True, slots=True)
class LineCount:
    """How often a line was executed.  It is not ``exact`` if only block counts are known."""

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
    for (_, file, line), blocks in line_blocks(function.facts).items():
        location = function.files[file].path, line
        counts[location] = _sum(counts.get(location), count_line(function, blocks))
    return dict(sorted(counts.items()))


def _sum(one: LineCount | None, other: LineCount) -> LineCount:
    return other if one is None else LineCount(one.count + other.count, one.exact and other.exact)


def count_line(function: FunctionProfile, line: LineBlocks) -> LineCount:
    """How often control reached one inlined instance of a line."""
    graph, edge_counts = function.facts.graph, function.edge_counts
    inside = line.blocks
    entering: Count = function.entries if graph.root in inside else 0
    internal: dict[int, Count] = {}
    for vertex in inside:
        for index in graph.in_edges[vertex]:
            edge = graph.edges[index]
            if edge.kind is not EdgeKind.FLOW:
                continue
            count = edge_counts[index]
            if count is None:
                outer = inside - line.inner or inside
                return LineCount(max(function.block_counts[v] for v in outer), exact=False)
            if edge.src not in inside:
                entering += count
            elif count > 0:
                internal[index] = count
    _iterations(graph, internal, line.inner)
    return LineCount(entering + _iterations(graph, internal, inside))


def _iterations(graph: Graph, flow: dict[int, Count], inside: Set[int]) -> Count:
    """How many iterations of cycles among some blocks the flow on edges amounts to.

    Cycles are subtracted from the flow until none is left.

    A walk follows from each vertex the last of its edges that still have flow.  Where it meets itself it has
    closed a cycle, whose smallest flow is subtracted from all its edges; where it cannot continue, no cycle
    leads through that vertex and the edge to it is dropped.
    """
    remaining: dict[int, list[int]] = {}
    for index in sorted(flow, reverse=True):
        src, dst, _ = graph.edges[index]
        if flow[index] and src in inside and dst in inside:
            remaining.setdefault(src, []).append(index)
    iterations: Count = 0
    for start in sorted(remaining):
        walk: list[int] = []
        position = {start: 0}
        here = start
        while walk or remaining[start]:
            if not remaining.get(here):
                del position[here]
                remaining[graph.edges[walk.pop()].src].pop()
            else:
                index = remaining[here][-1]
                here = graph.edges[index].dst
                walk.append(index)
                if here not in position:
                    position[here] = len(walk)
                    continue
                begin = position[here]
                iterations += _subtract_least(flow, walk[begin:])
                keep = next(i for i in range(begin, len(walk)) if not flow[walk[i]])
                for edge in walk[keep:]:
                    if not flow[edge]:
                        remaining[graph.edges[edge].src].pop()
                    if edge != index:
                        del position[graph.edges[edge].dst]
                del walk[keep:]
            here = graph.edges[walk[-1]].dst if walk else start
    return iterations


def _subtract_least(flow: dict[int, Count], cycle: Sequence[int]) -> Count:
    least = min(flow[edge] for edge in cycle)
    for edge in cycle:
        flow[edge] -= least
    return least
