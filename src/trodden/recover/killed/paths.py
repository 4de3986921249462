"""The paths that were under way when a process was killed, as far as its counters show them.

A path is counted when it ends (BL96 §3.4).  Of a path that had started at the entry of the function and had
not ended there is no trace in the path table, and it is simply missing.  But after a path that ended on a
back edge another one started (§4.1): that one is known to have reached the loop entry.  If every edge has a
counter of its own beside the paths (a plan that checks itself), the edges also show how far each path had
got.  The counter of a self loop shows that some execution had reached its block.

The counts are completed in seven steps.  Each takes values and returns values; what they find is added up in
a :class:`FunctionCounts` of what is missing.

1. *Excess* (``Procedure.excess``): for each edge with a counter of its own, by how much that is ahead of the
   paths.  All later steps are about this number.  Self loops are set aside for steps 4, 6 and 7, because
   paths do not contain them.
2. *Counters behind the paths* (``edge_counters_behind_paths``): where the excess is negative, the process was
   killed after the path was counted and before its edge was.  The counter of the edge has an increment
   pending.  What remains is never negative, so that step 5 can take it for a flow.
3. *Sources* (:mod:`trodden.recover.killed.sources`): where executions under way had started: in paths that
   a forked child inherited, after paths that had ended, and at the entry.  Inherited paths come first, since
   they account for excess that would otherwise be taken for new executions.  Entries come last: nothing
   counts them, and there are as many as the other sources leave to be explained.
4. *Self loops that no path reaches* (:mod:`trodden.recover.killed.unreached_loops`): some execution under way
   must have taken edges that have no counters.  These are added to the excess, and further entries to the
   sources.  All known sources are needed first, because an execution that is known to have started explains
   a loop better than one of which there is no trace.
5. *Walks* (:mod:`trodden.recover.killed.open_walks`): the excess is split into walks from the sources.  Each
   is a path that ended without being counted, or one that was about to be counted before its end, or one that
   was cut short in a block.  Afterwards paths and counters agree on every edge but self loops.
6. *Entries of a root block that is a self loop* (``entries_in_root_loop``): these show only in the trip count
   of that loop, which is right only after step 5 has found the paths that lead to the block.
7. *Counters of self loops* (``self_loop_counters``): of two counters of a loop the lower has increments
   pending.  Before step 6, an entry would be taken for an iteration.

Without counters on the edges the only excess is that of step 4; a path that leads to no such loop is cut
short where its execution is last known to have been.  No step repeats until something holds, so that no bound
on rounds is needed: there are no more walks than sources and edges.

The result is one that some execution can have produced; where there are several, it need not be what
happened.  One thing is not determined by counters on the edges: where a path had started that is found to
have ended, at the entry or after a back edge to the root block, and in which loop context (MR98 §7).  The
edges are right in any case; there may have been more entries.

The result is checked by recovering all counts from it.  If they still contradict each other, something else
is wrong with them; then nothing is changed, and the contradiction is reported.  A self loop for which step 4
finds no explanation that can be stated is added as a path that was cut short there without its register, for
which :mod:`trodden.recover.paths` reports that it is not known which path it was.  Where a single path leads
to the block, that path is known, but the counters show that it was not taken: then the loop is reported as
unreachable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from trodden.graph.cfg import Graph
from trodden.plan.probes import Plan
from trodden.recover.budget import Budget
from trodden.recover.function_counts import FunctionCounts, Prefix
from trodden.recover.killed.lagging import (
    edge_counters_behind_paths,
    entries_in_root_loop,
    self_loop_counters,
)
from trodden.recover.killed.open_walks import Walk, walks_cut_short, walks_that_ended
from trodden.recover.killed.procedure import Procedure
from trodden.recover.killed.sources import (
    Source,
    SourcePool,
    after_ended_by,
    after_ended_paths,
    after_others,
    entries,
    inherited_unfinished,
)
from trodden.recover.killed.unreached_loops import loop_arrivals, reach_loops
from trodden.recover.paths import PathFlow, recover_paths
from trodden.recover.plain_form import PlainForm
from trodden.recover.sparse_counters import SparseCounters

_STEPS_A_SOURCE = 256

OpenPath = tuple[int, Walk]
"""The sum of values with which executions left the first block of a walk, and the walk."""


@dataclass(frozen=True)
class CompletedPaths:
    """What is ``missing`` in the counts; ``None`` if nothing is, or nothing would explain a contradiction.

    ``unreachable`` are blocks whose self loop was iterated although no execution can have reached them: the
    flow law holds for the counts, and yet no program can have produced them.
    """

    missing: FunctionCounts | None
    unreachable: tuple[int, ...] = ()


def complete_paths(graph: Graph, plan: Plan, counted: FunctionCounts) -> CompletedPaths:
    """The least that is missing in the path counts of a procedure, if they contradict each other."""
    if plan.paths is None:
        return CompletedPaths(None)
    if plan.two_registers:
        return _complete_extended(PlainForm(graph, plan), graph, plan, counted)
    flow = recover_paths(graph, plan, counted)
    if not flow.violations and not loop_arrivals(graph, plan, counted, flow.edges).unreached:
        return CompletedPaths(None)
    procedure = Procedure(graph, plan)
    found, undetermined = paths_under_way(procedure, counted, flow)
    found += self_loops(procedure, counted + found)
    if recover_paths(graph, plan, counted + found).violations:
        return CompletedPaths(None)
    without_register = [block for block in undetermined if procedure.decoder.needs_register(block)]
    found += FunctionCounts(
        SparseCounters(plan.slots, {}), {}, {(each, None): 1 for each in without_register}
    )
    unreachable = [block for block in undetermined if block not in without_register]
    return CompletedPaths(found or None, tuple(unreachable))


def _complete_extended(plain: PlainForm, graph: Graph, plan: Plan, counted: FunctionCounts) -> CompletedPaths:
    """What is missing where paths are counted with overlaps or in tuples, as far as paths alone show it.

    Paths before those that are found to have been under way are not known.  So an overlap that was active is
    missing, and a path that was to be counted with it is one that never ended.
    """
    inherited = plain.inherited_overlaps(counted)
    completed = complete_paths(graph, plain.plan, plain.of(counted + inherited))
    missing = None if completed.missing is None else plain.back(completed.missing)
    found = inherited if missing is None else inherited + missing
    if not found:
        return CompletedPaths(None, completed.unreachable)
    unknown = any(register is None for _, register in (missing.prefixes if missing else ()))
    if not unknown and recover_paths(graph, plan, counted + found).violations:
        return CompletedPaths(None)
    return CompletedPaths(found, completed.unreachable)


def paths_under_way(
    procedure: Procedure, counted: FunctionCounts, flow: PathFlow
) -> tuple[FunctionCounts, list[int]]:
    """Steps 1 to 5: what is missing in paths, and on the edges that they take.

    The second part are the blocks whose self loop was iterated, and for which step 4 found no explanation.
    """
    graph = procedure.graph
    every = procedure.excess(flow, counted.counters)
    excess = {edge: times for edge, times in every.items() if procedure.sums.takes(edge)}
    pending = edge_counters_behind_paths(procedure, excess)
    begun = after_ended_paths(procedure, flow, excess)
    inherited = inherited_unfinished(procedure, counted.prefixes, flow, excess, begun)
    started = after_others(procedure, inherited.begun)
    known = [*inherited.sources, *started]
    forked = any(times < 0 for times in counted.prefixes.values())
    never_entered = flow.edges[graph.closing] == 0 and not forked
    entered = entries(procedure, inherited.excess, known, never_entered)
    blocks = [source.block for source in (*known, *entered)]
    loops = loop_arrivals(graph, procedure.plan, counted, inherited.edges, inherited.excess, blocks)
    budget = Budget(len(known) + len(graph.edges), _STEPS_A_SOURCE)
    spend = partial(budget.spend, where=graph.name)
    reached = reach_loops(procedure, counted.counters, loops, known, spend)
    if reached.entries:
        entered = [*entered, Source(graph.root, procedure.sums.at_entry(), reached.entries)]
    started += after_others(procedure, after_ended_by(procedure, reached.taken))
    # If nothing had been entered before, the first execution did not arrive by a back edge.
    others = [*entered, *started] if never_entered else [*started, *entered]
    walks = open_paths(procedure, inherited.excess | reached.taken, [*inherited.sources, *others])
    missing = _increments(procedure, pending) + outcomes(procedure, walks)
    return missing, reached.undetermined


def open_paths(procedure: Procedure, excess: Mapping[int, int], sources: list[Source]) -> Iterator[OpenPath]:
    """Step 5: the excess as walks, each with the sum of values of its source.

    A walk without a source is left out, and with it whatever contradicts the flow law; the others are found
    all the same.
    """
    graph, ends = procedure.graph, procedure.sums.ends
    budget = Budget(len(sources) + len(graph.edges), _STEPS_A_SOURCE)
    pool = SourcePool(sources)
    ended, left = walks_that_ended(graph, excess, ends, lambda steps: budget.spend(steps, graph.name))
    yield from _with_sources(ended, pool)
    starts = [(source.block, source.times) for source in pool.left]
    cut_short = walks_cut_short(graph, left, starts, lambda steps: budget.spend(steps, graph.name))
    yield from _with_sources(cut_short, pool)


def _with_sources(walks: Iterable[Walk], pool: SourcePool) -> Iterator[OpenPath]:
    for walk in walks:
        for total, times in pool.draw(walk.block, walk.times):
            yield total, Walk(walk.block, walk.edges, times)


def outcomes(procedure: Procedure, walks: Iterable[OpenPath]) -> FunctionCounts:
    """What became of executions under way: paths that ended uncounted, and paths that were cut short.

    A walk whose last block paths reach only after they were counted was stopped between the counter of its
    last edge and that of its path.  One continuation is left for it, whose edges count as taken; if that
    leads round a loop, another path has started after it.
    """
    ended: Counter[int] = Counter()
    pending: Counter[int] = Counter()
    prefixes: Counter[Prefix] = Counter()
    for total, walk in walks:
        rest = determined_rest(procedure, walk)
        edges = (*walk.edges, *rest)
        total += sum(map(procedure.sums.along, edges))
        block = procedure.graph.edges[edges[-1]].dst if edges else walk.block
        if edges and edges[-1] in procedure.sums.ends:
            ended[total] += walk.times
            pending.update(
                {procedure.redundant_slots[e]: walk.times for e in rest if e in procedure.redundant_slots}
            )
            if not rest or block == procedure.graph.exit:
                continue
            following = procedure.sums.at_start(block)
            prefix = None if following is None else procedure.decoder.prefix_of(block, following)
        else:
            prefix = procedure.decoder.prefix_of(block, total)
        if prefix is not None:
            prefixes[prefix] += walk.times
    slots = procedure.plan.slots
    if not procedure.paths.dense:
        sparse = {path: (times, 0) for path, times in ended.items()}
        return FunctionCounts(SparseCounters(slots, pending), {}, prefixes, sparse)
    first = len(procedure.plan.measures)
    pending.update({first + path: times for path, times in ended.items()})
    return FunctionCounts(SparseCounters(slots, pending), {}, prefixes)


def determined_rest(procedure: Procedure, walk: Walk) -> list[int]:
    """The edges that a walk has yet to take if its path should have been counted already."""
    rest: list[int] = []
    last = walk.edges[-1] if walk.edges else None
    while last is not None and last not in procedure.sums.ends:
        block = procedure.graph.edges[last].dst
        last = procedure.sums.only_edge(block) if block in procedure.counted_early else None
        rest += [] if last is None else [last]
    return rest


def self_loops(procedure: Procedure, counted: FunctionCounts) -> FunctionCounts:
    """Steps 6 and 7: what is missing in the trip counts of self loops."""
    graph, plan = procedure.graph, procedure.plan
    flow = recover_paths(graph, plan, counted)
    excess = procedure.excess(flow, counted.counters)
    found = FunctionCounts.zero(plan.slots)
    times = entries_in_root_loop(procedure, excess)
    prefix = procedure.decoder.prefix_of(graph.root, procedure.sums.at_entry()) if times else None
    if prefix is not None:
        found += FunctionCounts(found.counters, {}, {prefix: times})
        flow = recover_paths(graph, plan, counted + found)
        excess = procedure.excess(flow, counted.counters)
    return found + _increments(procedure, self_loop_counters(procedure, flow, excess))


def _increments(procedure: Procedure, pending: Mapping[int, int]) -> FunctionCounts:
    return FunctionCounts(SparseCounters(procedure.plan.slots, pending))
