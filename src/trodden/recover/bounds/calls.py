"""What overlaps of types I and II say about paths of a caller and of its callee (TZG04 §3.2).

A pair of type I is a prefix with which a caller reached a call and the path that then started in the callee;
one of type II is the path with which a callee returned and what its caller did behind the call.  In contrast
to loops, the counts of the parts are upper bounds only (11, 12): the call may lead to others, and the callee
may be called from elsewhere.  Equation (17) has no bound by F_p, but it holds, so it is used here.  It does
not for a call in a block with a self loop, which is made again each time around, on the same path.

``Executed`` has to be complete: the paths that were cut short are part of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from trodden.plan.overlapping.calls import CallNumbering
from trodden.plan.overlap_probes import CallSite
from trodden.plan.paths.numbering import Numbering
from trodden.plan.routes import PathEnd, PathStart, Route
from trodden.recover.bounds.system import First, Range, Second, System, pair_system

Part = tuple[int, ...]
"""The edges of a part of a path that begins in a block that is known."""


class Executed(NamedTuple):
    """How often the paths of a procedure were executed, whole or cut short, and their numbering."""

    numbering: Numbering
    paths: Mapping[Route, int]


class Crossing(NamedTuple):
    """An overlap over a call or a return: the path in the callee, the part in the caller, and how often."""

    in_callee: int
    in_caller: int
    times: int


def system_of_calls(
    calls: int, firsts: Mapping[First, int], seconds: Mapping[Second, int]
) -> System[First, Second]:
    """Equations (9) to (14): nothing is known but the number of calls, and the counts of both parts."""
    pairs = [(first, second) for first in firsts for second in seconds]
    return pair_system([(pairs, Range(calls, calls))], _at_most(firsts), _at_most(seconds))


def system_of_overlaps(
    overlaps: Mapping[tuple[First, Part], int],
    firsts: Mapping[First, int],
    seconds: Mapping[Second, int],
    beginning: Callable[[Second], Part],
) -> System[First, Second]:
    """Equations (15) to (18): an overlap is the sum of the pairs whose second part has this ``beginning``."""
    by_beginning: dict[Part, list[Second]] = {}
    for second in seconds:
        by_beginning.setdefault(beginning(second), []).append(second)
    facts = [
        ([(first, second) for second in by_beginning.get(part, ())], Range(count, count))
        for (first, part), count in overlaps.items()
    ]
    return pair_system(facts, _at_most(firsts), _at_most(seconds))


def _at_most(counts: Mapping[First, int]) -> dict[First, Range]:
    return {part: Range(0, count) for part, count in counts.items()}


def entered_system(
    crossings: Iterable[Crossing],
    site: CallSite,
    caller: Executed,
    callee: Executed,
    entries: CallNumbering,
) -> System[Route, Part]:
    """Type I, for one call site and one callee."""
    root = callee.numbering.graph.root
    overlaps: Counter[tuple[Route, Part]] = Counter()
    for in_callee, in_caller, count in crossings:
        part, _ = entries.overlap(root, in_callee)
        overlaps[caller.numbering.prefix(site.block, in_caller), part] += count
    firsts: Counter[Route] = Counter()
    graph = caller.numbering.graph
    again = any(graph.edges[edge].dst == site.block for edge in graph.out_edges[site.block])
    for path, count in caller.paths.items():
        if site.block in path.blocks and not again:
            firsts[_prefix(path, site.block)] += count
    seconds: Counter[Part] = Counter()
    for path, count in callee.paths.items():
        if path.starts is PathStart.ENTRY:
            seconds[entries.beginning(root, path.edges, whole=True)] += count
    return system_of_overlaps(overlaps, firsts, seconds, lambda part: entries.beginning(root, part))


def returned_system(
    crossings: Iterable[Crossing],
    site: CallSite,
    caller: Executed,
    callee: Executed,
    returns: CallNumbering,
) -> System[Route, Part]:
    """Type II, for one call site and one callee."""
    block = site.block
    overlaps: Counter[tuple[Route, Part]] = Counter()
    for in_callee, in_caller, count in crossings:
        part, _ = returns.overlap(block, in_caller)
        overlaps[callee.numbering.regenerate(in_callee), part] += count
    seconds: Counter[Part] = Counter()
    for path, count in caller.paths.items():
        if block in path.blocks and len(path.edges) > (at := path.blocks.index(block)):
            seconds[returns.beginning(block, path.edges[at:], whole=True)] += count
    firsts = {path: count for path, count in callee.paths.items() if path.ends is PathEnd.EXIT}
    return system_of_overlaps(overlaps, firsts, seconds, lambda part: returns.beginning(block, part))


def _prefix(path: Route, block: int) -> Route:
    at = path.blocks.index(block)
    return Route(path.blocks[: at + 1], path.edges[:at], path.starts, PathEnd.UNWOUND)
