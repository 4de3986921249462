"""Where the executions started that were under way when a process was killed.

A walk can be turned into a path only with the sum of values (BL96 §3.2) that it had in its first block.
The paths that ended are known: after each that ended on a back edge, a cut edge or a resume edge another one
started (§4.1), with a sum that depends on the block alone.  The paths that a forked child inherited are known
as well, each with its block and register.  How many executions entered the procedure is not known, because
nothing counts entries.

So the order is: starts after ended paths (``after_ended_paths``); then inherited paths
(``inherited_unfinished``), whose beginnings are part of the starts and of the excess, and are removed from
both; then what is left of the starts, as sources (``after_others``); and last the entries (``entries``),
which account for what leaves the root block beyond all of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trodden.plan.routes import PathStart, Route
from trodden.recover.function_counts import Prefix
from trodden.recover.killed.procedure import Procedure
from trodden.recover.paths import PathFlow


@dataclass(frozen=True, slots=True)
class Source:
    """``times`` executions of paths that had reached ``block`` with the sum of values ``total``."""

    block: int
    total: int
    times: int


class SourcePool:
    """Sources from which walks draw their beginnings, in the order of the sources."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._sources = list(sources)
        self._at: dict[int, list[int]] = {}
        for number, source in enumerate(self._sources):
            self._at.setdefault(source.block, []).append(number)

    def draw(self, block: int, times: int) -> Iterator[tuple[int, int]]:
        """The sums of values of so many executions from a block, each with its number of executions."""
        for number in self._at.get(block, ()):
            source = self._sources[number]
            part = min(times, source.times)
            if part:
                self._sources[number] = replace(source, times=source.times - part)
                times -= part
                yield source.total, part

    @property
    def left(self) -> list[Source]:
        """The sources, as far as nothing was drawn from them."""
        return [source for source in self._sources if source.times]


def after_ended_paths(procedure: Procedure, flow: PathFlow, excess: Mapping[int, int]) -> Counter[int]:
    """How many paths must have started in each block, after an edge that ended another (BL96 §4.1).

    ``flow.begun`` are those after paths that were counted.  An edge that ends paths and has an excess
    ended as many more.
    """
    return Counter(flow.begun) + after_ended_by(procedure, excess)


def after_ended_by(procedure: Procedure, excess: Mapping[int, int]) -> Counter[int]:
    """How many paths must have started in each block after edges that ended others."""
    found: Counter[int] = Counter()
    for edge in procedure.removed:
        found[procedure.graph.edges[edge].dst] += max(excess.get(edge, 0), 0)
    return +found


@dataclass(frozen=True)
class Inherited:
    """The paths that a forked child has inherited and has not ended, and what is left without them.

    ``sources`` are where they were when the child began.  ``excess`` and ``begun`` do not contain their
    beginnings any more, and from ``edges``, the counts by the paths, these are no longer subtracted.
    """

    sources: list[Source]
    excess: dict[int, int]
    begun: Counter[int]
    edges: list[int]


def inherited_unfinished(
    procedure: Procedure,
    prefixes: Mapping[Prefix, int],
    flow: PathFlow,
    excess: Mapping[int, int],
    begun: Mapping[int, int],
) -> Inherited:
    """The paths of its parent that a forked child has not ended.

    A forked child continues the paths of its parent.  What the parent had executed of them is subtracted from
    the child (:mod:`trodden.recover.paths`), which is right for those that the child ends.  Of the others too
    much is subtracted: they are still under way, from where the child began.  With counters on the edges the
    excess shows how many those are.  Without, or if only the entry is subtracted, negative counts show it.
    """
    excess_left, begun_left, counts = dict(excess), Counter(begun), list(flow.edges)
    found: list[Source] = []
    for (block, register), times in prefixes.items():
        total = procedure.decoder.sum_of(block, register)
        if times >= 0 or total is None:
            continue
        try:
            route = procedure.decoder.route(block, total)
        except ValueError:
            continue
        if procedure.redundant_slots and (_taken(route) or route.starts is not PathStart.ENTRY):
            unfinished = _seen_in_excess(route, excess_left, begun_left)
        else:
            unfinished = _seen_in_counts(procedure, route, counts)
        unfinished = min(unfinished, -times)
        if unfinished > 0:
            found.append(Source(block, total, unfinished))
            for edge in _taken(route):
                counts[edge] += unfinished
                excess_left[edge] = excess_left.get(edge, 0) - unfinished
            if route.starts is PathStart.ENTRY:
                counts[procedure.graph.closing] += unfinished
            else:
                begun_left[route.blocks[route.context]] -= unfinished
    return Inherited(found, excess_left, +begun_left, counts)


def _taken(route: Route) -> Sequence[int]:
    """The edges that a path took itself; those of its context were taken by earlier paths."""
    return route.edges[route.context :]


def _seen_in_excess(route: Route, excess: Mapping[int, int], begun: Mapping[int, int]) -> int:
    """No more executions began like a route than there is excess on each of its edges."""
    seen = [excess.get(edge, 0) for edge in _taken(route)]
    if route.starts is not PathStart.ENTRY:
        seen.append(begun.get(route.blocks[route.context], 0))
    return min(seen, default=0)


def _seen_in_counts(procedure: Procedure, route: Route, counts: Sequence[int]) -> int:
    """At least as many executions of a route are missing as make none of its counts negative."""
    entry = (procedure.graph.closing,) if route.starts is PathStart.ENTRY else ()
    return max((-counts[edge] for edge in (*_taken(route), *entry)), default=0)


def after_others(procedure: Procedure, begun: Mapping[int, int]) -> list[Source]:
    """The sources of paths that started after others, by block."""
    found = []
    for block, times in sorted(begun.items()):
        total = procedure.sums.at_start(block)
        if total is not None:
            found.append(Source(block, total, times))
    return found


def entries(
    procedure: Procedure, excess: Mapping[int, int], known: Iterable[Source], never_entered: bool
) -> list[Source]:
    """The executions that entered the procedure: as many as left its root block, less the ``known`` ones.

    Nothing counts an entry, so that those which have not left the root block yet leave no trace.  But what
    was executed was entered at least once, even if all that left the root block may have arrived there by
    back edges.
    """
    root = procedure.graph.root
    leaving = sum(max(excess.get(edge, 0), 0) for edge in procedure.graph.out_edges[root])
    there = [source.times for source in known if source.block == root]
    times = max(leaving - sum(there), int(never_entered and (leaving > 0 or bool(there))))
    return [Source(root, procedure.sums.at_entry(), times)] if times > 0 else []
