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
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from trodden.plan.overlap_probes import CallSite
from trodden.plan.overlapping.call_pairs import path_or_prefix
from trodden.plan.overlapping.calls import CallNumbering
from trodden.plan.paths.numbering import Numbering
from trodden.plan.routes import PathEnd, PathStart, Route
from trodden.recover.bounds.system import First, Range, Second, System, pair_system

Part = tuple[int, ...]
"""The edges of a part of a path that begins in a block that is known."""


class Executed(NamedTuple):
    """How often the paths of a procedure were executed, whole or cut short; their numbering, its calls.

    A forked child has ``inherited`` so many activations, whose paths began in its parent.
    """

    numbering: Numbering
    paths: Mapping[Route, int]
    sites: Sequence[CallSite] = ()
    inherited: int = 0


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
    missing: int = 0,
    inherited: int | None = 0,
) -> System[First, Second]:
    """Equations (15) to (18): an overlap is the sum of the pairs whose second part has this ``beginning``.

    So many overlaps may be ``missing``, of any pairs.  The counts of the first parts are upper bounds, but
    for so many that were ``inherited``; with ``None`` they bound nothing.
    """
    by_beginning: dict[Part, list[Second]] = {}
    for second in seconds:
        by_beginning.setdefault(beginning(second), []).append(second)
    counts = Counter(overlaps)
    if missing:
        known = dict.fromkeys([*firsts, *(first for first, _ in overlaps)])
        counts.update({(first, part): 0 for first in known for part in by_beginning})
    facts = [
        ([(first, second) for second in by_beginning.get(part, ())], Range(count, count + missing))
        for (first, part), count in counts.items()
    ]
    if missing:
        total = sum(counts.values())
        every = [(first, second) for (first, part) in counts for second in by_beginning.get(part, ())]
        facts.append((every, Range(total, total + missing)))
    bounds = {} if inherited is None else _at_most(firsts, inherited)
    return pair_system(facts, bounds, _at_most(seconds))


def _at_most(counts: Mapping[First, int], more: int = 0) -> dict[First, Range]:
    return {part: Range(0, count + more) for part, count in counts.items()}


def entered_system(
    crossings: Iterable[Crossing],
    site: CallSite,
    caller: Executed,
    callee: Executed,
    entries: CallNumbering,
    missing: int = 0,
) -> System[Route, Part]:
    """Type I, for one call site and one callee; overlaps may be ``missing`` that were cut short."""
    root = callee.numbering.graph.root
    overlaps: Counter[tuple[Route, Part]] = Counter()
    for in_callee, in_caller, count in crossings:
        part, _ = entries.overlap(root, in_callee)
        overlaps[caller.numbering.prefix(site.block, in_caller), part] += count
    return system_of_overlaps(
        overlaps,
        _prefixes(caller, site),
        _entering(callee, entries),
        lambda part: entries.beginning(root, part),
        missing,
        None if _made_again(caller, site) else caller.inherited,
    )


def returned_system(
    crossings: Iterable[Crossing],
    site: CallSite,
    caller: Executed,
    callee: Executed,
    returns: CallNumbering,
    missing: int = 0,
) -> System[Route, Part]:
    """Type II, for one call site and one callee; overlaps may be ``missing`` that were cut short."""
    block = site.block
    overlaps: Counter[tuple[Route, Part]] = Counter()
    for in_callee, in_caller, count in crossings:
        part, _ = returns.overlap(block, in_caller)
        overlaps[callee.numbering.regenerate(in_callee), part] += count
    seconds = _following(caller, site, returns)
    return system_of_overlaps(
        overlaps,
        _leaving(callee),
        seconds,
        lambda part: returns.beginning(block, part),
        missing,
        caller.inherited,
    )


def entered_pairs(
    crossings: Iterable[Crossing],
    site: CallSite,
    caller: Executed,
    callee: Executed,
    entries: CallNumbering,
    missing: int = 0,
) -> System[Route, Part]:
    """Type I where whole paths were counted in pairs; ``entries`` is of the largest degree."""
    root = callee.numbering.graph.root
    pairs: Counter[tuple[Route, Part]] = Counter()
    for in_callee, in_caller, count in crossings:
        route = path_or_prefix(callee.numbering, (), in_callee)
        part = entries.beginning(root, route.edges, whole=True)
        pairs[caller.numbering.prefix(site.block, in_caller), part] += count
    more = None if _made_again(caller, site) else caller.inherited
    seconds = _entering(callee, entries)
    return system_of_overlaps(pairs, _prefixes(caller, site), seconds, lambda part: part, missing, more)


def returned_pairs(
    crossings: Iterable[Crossing],
    site: CallSite,
    caller: Executed,
    callee: Executed,
    returns: CallNumbering,
    missing: int = 0,
) -> System[Route, Part]:
    """Type II where whole paths were counted in pairs; ``returns`` is of the largest degree."""
    pairs: Counter[tuple[Route, Part]] = Counter()
    for in_callee, in_caller, count in crossings:
        route = path_or_prefix(caller.numbering, caller.sites, in_caller)
        behind = route.edges[route.blocks.index(site.block) :]
        part = returns.beginning(site.block, behind, whole=True)
        pairs[callee.numbering.regenerate(in_callee), part] += count
    seconds = _following(caller, site, returns)
    more = caller.inherited
    return system_of_overlaps(pairs, _leaving(callee), seconds, lambda part: part, missing, more)


def _made_again(caller: Executed, site: CallSite) -> bool:
    """Whether a call is in a block with a self loop, so that one path may make it several times."""
    graph = caller.numbering.graph
    return any(graph.edges[edge].dst == site.block for edge in graph.out_edges[site.block])


def _prefixes(caller: Executed, site: CallSite) -> Counter[Route]:
    """How often each prefix reached a call."""
    found: Counter[Route] = Counter()
    for path, count in caller.paths.items():
        if site.block in path.blocks:
            found[_prefix(path, site.block)] += count
    return found


def _entering(callee: Executed, entries: CallNumbering) -> Counter[Part]:
    """How often each path started in a callee, as far as overlaps go."""
    found: Counter[Part] = Counter()
    for path, count in callee.paths.items():
        if path.starts is PathStart.ENTRY:
            found[entries.beginning(callee.numbering.graph.root, path.edges, whole=True)] += count
    return found


def _leaving(callee: Executed) -> dict[Route, int]:
    """How often a callee returned with each path."""
    return {path: count for path, count in callee.paths.items() if path.ends is PathEnd.EXIT}


def _following(caller: Executed, site: CallSite, returns: CallNumbering) -> Counter[Part]:
    """How often a caller did what behind a call."""
    found: Counter[Part] = Counter()
    for path, count in caller.paths.items():
        if site.block in path.blocks and len(path.edges) > (at := path.blocks.index(site.block)):
            found[returns.beginning(site.block, path.edges[at:], whole=True)] += count
    return found


def _prefix(path: Route, block: int) -> Route:
    at = path.blocks.index(block)
    return Route(path.blocks[: at + 1], path.edges[:at], path.starts, PathEnd.UNWOUND)
