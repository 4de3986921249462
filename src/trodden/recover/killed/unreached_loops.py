"""Self loops that were iterated by executions of which nothing else is known.

A self loop has a counter of its own, since paths do not contain it (BL96 §4.1).  That counter is incremented
at once, the path only when it ends: of a process that was killed while it iterated the loop for the first
time, the loop is all that was counted.  But nothing is executed without having been entered.  Some execution
under way must have reached the block, from the entry or from where a path is known to have started.
:mod:`trodden.recover.killed.cover` finds the fewest that explain all such loops together.

Which edges they took is not known.  The chosen edges have no counter of their own, which would show that they
were taken, and paths take them before they are counted.  If it is the block that has the counter
(``BlockMeasure``), every arrival was counted as well: then no more executions can have reached the block
than its counter has beyond the arrivals that are known.

Where the trip count is added to the counter only when the loop is left, a nonzero counter shows that the
execution has left the loop.

A path that was cut short can be stated only where the path register identifies it, which it need not do in
a block without calls from which no path can end.  A loop in such a block is left undetermined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.plan.probes import BlockMeasure, Plan
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.killed.cover import Cover
from trodden.recover.killed.procedure import Procedure
from trodden.recover.killed.sources import Source


@dataclass(frozen=True)
class Arrivals:
    """What is known of the blocks that have counted self loops.

    ``unreached`` are those whose loop was iterated although no path reaches them.  ``room[block]`` is how
    many more arrivals a block may have had; any number where it is not given.
    """

    unreached: list[int]
    room: dict[int, int]


def loop_arrivals(
    graph: Graph,
    plan: Plan,
    counted: FunctionCounts,
    edges: Sequence[int],
    excess: Mapping[int, int] | None = None,
    starts: Collection[int] = (),
) -> Arrivals:
    """How often control reached self loops by the paths, which took ``edges``, and by the excess of others.

    A block of ``starts`` was reached by an execution under way.  A block in which a forked child continues a
    path of its parent was reached by the parent.
    """
    ahead = excess or {}
    here = {*starts, *(block for (block, _), times in counted.prefixes.items() if times < 0)}
    iterated: Counter[int] = Counter()
    known: dict[int, int] = {}
    room: dict[int, int] = {}
    for slot, measure in enumerate(plan.measures):
        block = measure.block if isinstance(measure, BlockMeasure) else graph.edges[measure.edge].src
        if isinstance(measure, BlockMeasure):
            room[block] = counted.counters[slot]
        elif graph.edges[measure.edge].dst != block:
            continue
        iterated[block] += counted.counters[slot]
        if block not in known:
            into = [edge for edge in graph.in_edges[block] if graph.edges[edge].src != block]
            known[block] = sum(edges[edge] + max(ahead.get(edge, 0), 0) for edge in into)
    return Arrivals(
        [block for block, times in iterated.items() if times > 0 and known[block] <= 0 and block not in here],
        {block: max(times - known[block], 0) for block, times in room.items()},
    )


@dataclass(frozen=True)
class Reached:
    """How executions under way reached self loops: the edges, with how often, and how many were entered.

    ``undetermined`` are the blocks for which that cannot be said: the path register identifies no path there,
    or no execution can have reached them.
    """

    taken: dict[int, int]
    entries: int
    undetermined: list[int]


def reach_loops(
    procedure: Procedure,
    counters: Sequence[int],
    loops: Arrivals,
    sources: Iterable[Source],
    spend: Callable[[int], None],
) -> Reached:
    """The fewest entries by which, with the ``sources``, some execution reached every loop."""
    starts: Counter[int] = Counter()
    for source in sources:
        starts[source.block] += source.times
    cover = Cover(procedure.graph, procedure.uncounted, starts, loops.room, spend)
    unreached = set(loops.unreached)
    undetermined = [block for block in loops.unreached if not procedure.decoder.decodes(block)]
    unreached.difference_update(undetermined)
    undetermined += cover.require(block for block in procedure.order if block in unreached)
    for block in unreached.difference(undetermined):
        cover.continue_from(block, procedure.trip_count_edges(block, counters))
    return Reached(dict(+cover.taken), cover.entries, undetermined)
