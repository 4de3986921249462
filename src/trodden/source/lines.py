"""How often was a source line executed?

A line is several blocks or a part of one, so its count is none of theirs.  As in gcov, it is the number of
times that control reached the line from another one, plus the number of iterations of cycles that never leave
the line.  A line that several functions hold (the instances of a template) has the sum of its counts in each,
and so has a line of which several instances were inlined into one function.

A statement that continues on further lines may come back to its first one, to call a function whose arguments
are evaluated by then.  That is no second execution: only where control comes back to go through a loop of the
line once more does it count.

A call site that was inlined lasts until the call returns, but iterations within the inlined code alone do not
count for its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trodden.profile.model import FunctionProfile, Profile
from trodden.source.inlined_entries import inlined_entries
from trodden.source.line_graph import LineGraph, line_graph
from trodden.source.line_passes import LineCount, count_line
from trodden.source.unknown_lines import unknown_lines

__all__ = ["LineCount", "Lines", "line_counts", "lines_of_function", "lines_of_functions"]

Lines = Mapping[str, Mapping[int, LineCount]]


def line_counts(profile: Profile) -> Lines:
    """For each source file its lines that hold code, in order, with their counts."""
    return lines_of_functions(profile.functions.values())


def lines_of_functions(functions: Iterable[FunctionProfile]) -> Lines:
    """The lines of these functions only."""
    every = list(functions)
    found: dict[str, dict[int, LineCount]] = {}
    for function in every:
        for (file, line), here in lines_of_function(function).items():
            lines = found.setdefault(file, {})
            lines[line] = _sum(lines.get(line), here)
    for file, line in unknown_lines(every):
        known = found.get(file, {}).get(line)
        if known is not None and not known.count:
            found[file][line] = LineCount(0, exact=False, known=False)
    return {file: dict(sorted(lines.items())) for file, lines in sorted(found.items())}


def lines_of_function(function: FunctionProfile) -> dict[tuple[str, int], LineCount]:
    """The lines that one function holds, in its own file or inlined from others.

    The line that a function begins on is executed when the function is entered.  In an optimised program a
    jump may be all that is left of a line: it shows that the line was executed, but not that it never was.
    """
    counts = _lines(line_graph(function))
    if function.facts.optimised and any(block.added_lines for block in function.facts.blocks):
        for location, count in _lines(line_graph(function, added=True)).items():
            if count.count and (location not in counts or not counts[location].count):
                counts[location] = count
    entered = [((function.file, function.line), function.entries)]
    for each in inlined_entries(function):
        entered.append(((function.files[each.callee.file].path, each.callee.line), each.count))
    without_code = {location for location, _ in entered if location not in counts and location[1] > 0}
    for location, entries in entered:
        if location in without_code:
            here = LineCount(entries, exact=not function.unlocated)
            counts[location] = _sum(counts.get(location), here)
    return dict(sorted(counts.items()))


def _lines(graph: LineGraph) -> dict[tuple[str, int], LineCount]:
    counts: dict[tuple[str, int], LineCount] = {}
    for (_, file, line), parts in graph.lines.items():
        location = graph.function.files[file].path, line
        counts[location] = _sum(counts.get(location), count_line(graph, parts))
    return counts


def _sum(one: LineCount | None, other: LineCount) -> LineCount:
    return other if one is None else LineCount(one.count + other.count, one.exact and other.exact)
