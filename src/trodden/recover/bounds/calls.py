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
from dataclasses import dataclass
from typing import NamedTuple

from trodden.plan.overlap_probes import CallSite
from trodden.plan.overlapping.call_pairs import path_or_prefix
from trodden.plan.overlapping.calls import CallNumbering
from trodden.plan.paths.numbering import Numbering
from trodden.plan.routes import PathEnd, PathStart, Route
from trodden.recover.bounds.margins import Margins
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


@dataclass(frozen=True)
class CallFacts:
    """What is known of the pairs over the calls of one callee at one call site, or over its returns.

    ``overlaps`` are the counts by first part and by what is known of the second, of which so many more may be
    ``missing``.  ``firsts`` and ``seconds`` are how often their parts were executed in any case, those of
    ``firsts`` only if they are ``bounded``; so many executions more were ``inherited`` by forked children.
    ``beginning`` is what is known of a second part.
    """

    overlaps: Mapping[tuple[Route, Part], int]
    firsts: Mapping[Route, int]
    seconds: Mapping[Part, int]
    beginning: Callable[[Part], Part]
    missing: int = 0
    bounded: bool = True
    inherited: int = 0

    def system(self) -> System[Route, Part]:
        """The sums that these are."""
        return system_of_overlaps(
            self.overlaps,
            self.firsts,
            self.seconds,
            self.beginning,
            self.missing,
            self.inherited if self.bounded else None,
        )

    def _few(self, executed: int, beginnings: int) -> bool:
        return max(len(self.firsts), executed) * beginnings <= _MOST_ROWS

    def margins(self) -> list[Margins[Route, Part]]:
        """The same as tables: one for each beginning of the second part, which it has in common.

        What is missing may be in any row of any of them; where that would be too many rows there is one table
        for all beginnings.  What is known of a second part beside its count: it followed as many other calls,
        at most, as parts with the same beginning did.
        """
        executed: Counter[Route] = Counter()
        for (first, _), count in self.overlaps.items():
            executed[first] += count
        beginnings = {second: self.beginning(second) for second in self.seconds}
        rows: dict[Part, Counter[Route]] = {}
        apart = not self.missing or self._few(len(executed), len(set(beginnings.values())))
        for (first, beginning), count in self.overlaps.items():
            rows.setdefault(beginning if apart else (), Counter())[first] += count
        columns: dict[Part, dict[Part, int]] = {}
        for second, count in self.seconds.items():
            columns.setdefault(beginnings[second] if apart else (), {})[second] = count
        found = []
        for beginning in columns if self.missing else rows:
            here = dict.fromkeys([*self.firsts, *executed], 0) if self.missing else {}
            here |= rows.get(beginning, {})
            total, seconds = sum(here.values()), columns.get(beginning, {})
            elsewhere = max(sum(seconds.values()) - total, 0) + self.inherited
            most = {
                first: count
                + max(min(self.missing, self.firsts[first] + self.inherited - executed[first]), 0)
                if self.bounded and first in self.firsts
                else count + self.missing
                for first, count in here.items()
            }
            found.append(
                Margins(
                    {first: Range(count, most[first]) for first, count in here.items()},
                    {each: Range(max(count - elsewhere, 0), count) for each, count in seconds.items()},
                    Range(total, total + self.missing),
                )
            )
        return found


_MOST_ROWS = 1 << 18


def entered_facts(
    crossings: Iterable[Crossing],
    site: CallSite,
    caller: Executed,
    callee: Executed,
    entries: CallNumbering,
    missing: int = 0,
) -> CallFacts:
    """Type I, for one call site and one callee; overlaps may be ``missing`` that were cut short."""
    root = callee.numbering.graph.root
    overlaps: Counter[tuple[Route, Part]] = Counter()
    for in_callee, in_caller, count in crossings:
        part, _ = entries.overlap(root, in_callee)
        overlaps[caller.numbering.prefix(site.block, in_caller), part] += count
    return CallFacts(
        overlaps,
        _prefixes(caller, site),
        _entering(callee, entries),
        lambda part: entries.beginning(root, part),
        missing,
        not _made_again(caller, site),
        caller.inherited,
    )


def returned_facts(
    crossings: Iterable[Crossing],
    site: CallSite,
    caller: Executed,
    callee: Executed,
    returns: CallNumbering,
    missing: int = 0,
) -> CallFacts:
    """Type II, for one call site and one callee; overlaps may be ``missing`` that were cut short."""
    block = site.block
    overlaps: Counter[tuple[Route, Part]] = Counter()
    for in_callee, in_caller, count in crossings:
        part, _ = returns.overlap(block, in_caller)
        overlaps[callee.numbering.regenerate(in_callee), part] += count
    seconds = _following(caller, site, returns)
    return CallFacts(
        overlaps,
        _leaving(callee),
        seconds,
        lambda part: returns.beginning(block, part),
        missing,
        True,
        caller.inherited,
    )


def entered_pairs(
    crossings: Iterable[Crossing],
    site: CallSite,
    caller: Executed,
    callee: Executed,
    entries: CallNumbering,
    missing: int = 0,
) -> CallFacts:
    """Type I where whole paths were counted in pairs; ``entries`` is of the largest degree."""
    root = callee.numbering.graph.root
    pairs: Counter[tuple[Route, Part]] = Counter()
    for in_callee, in_caller, count in crossings:
        route = path_or_prefix(callee.numbering, (), in_callee)
        part = entries.beginning(root, route.edges, whole=True)
        pairs[caller.numbering.prefix(site.block, in_caller), part] += count
    bounded = not _made_again(caller, site)
    seconds = _entering(callee, entries)
    return CallFacts(
        pairs, _prefixes(caller, site), seconds, lambda part: part, missing, bounded, caller.inherited
    )


def returned_pairs(
    crossings: Iterable[Crossing],
    site: CallSite,
    caller: Executed,
    callee: Executed,
    returns: CallNumbering,
    missing: int = 0,
) -> CallFacts:
    """Type II where whole paths were counted in pairs; ``returns`` is of the largest degree."""
    pairs: Counter[tuple[Route, Part]] = Counter()
    for in_callee, in_caller, count in crossings:
        route = path_or_prefix(caller.numbering, caller.sites, in_caller)
        behind = route.edges[route.blocks.index(site.block) :]
        part = returns.beginning(site.block, behind, whole=True)
        pairs[callee.numbering.regenerate(in_callee), part] += count
    seconds = _following(caller, site, returns)
    return CallFacts(pairs, _leaving(callee), seconds, lambda part: part, missing, True, caller.inherited)


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
