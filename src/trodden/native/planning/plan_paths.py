"""From a function whose paths are counted to its plan: plain, overlapping, or in tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.analysis.induction import Induction
from trodden.native.options.declarations import AUTO, MAX, Options
from trodden.native.planning.plan_calls import with_calls
from trodden.native.planning.probe_costs import edge_costs, find_countable_loops
from trodden.native.planning.register_slots import blocks_that_may_be_cut_short
from trodden.plan.overlap_probes import CallSite
from trodden.plan.overlapping.degrees import Budget, choose_degrees
from trodden.plan.overlapping.fictitious import NONE, Fictitious, fictitious_overlaps
from trodden.plan.overlapping.numbering import OverlapNumbering
from trodden.plan.overlapping.pairs import with_chains
from trodden.plan.overlapping.plan import Degrees, overlapping_plan
from trodden.plan.overlapping.tuples import DENSE as TUPLES_DENSE
from trodden.plan.overlapping.tuples import most_paths
from trodden.plan.paths.limits import DEFAULT_LIMIT, DENSE
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.paths.placement import single_prefixes
from trodden.plan.paths.plan import checked_paths, choose_paths, path_plan
from trodden.plan.probes import Plan
from trodden.program.frame_word import MOST_NUMBERS

SPARSE_FROM_SLOTS = 1 << 21
"""From this many slots on, path tables are sparse: every thread has memory for all counters of a unit."""

AUTO_COUNTERS, AUTO_EXECUTIONS = 1 << 12, 1.0
"""What degrees that are chosen may cost a function: counters, and executions of probes for each execution of
an edge that ends paths."""


@dataclass(frozen=True)
class PlannedPaths:
    """A plan for paths, with the induction variables that its self loops are counted by.

    ``ambiguous`` are the blocks where a path may be cut short and only the path register identifies it,
    ``unfinished`` those where an overlap may be active then.
    """

    plan: Plan
    inductions: Mapping[int, Induction]
    ambiguous: frozenset[int]
    fictitious: Fictitious = NONE
    unfinished: frozenset[int] = frozenset()


def plan_paths(
    read: FunctionCfg,
    options: Options,
    machine: str,
    weights: list[float],
    slots: int,
    sites: Sequence[CallSite],
) -> PlannedPaths:
    """The plan for the paths of a function of a unit whose functions so far have ``slots`` counters.

    ``sites`` are the calls over which paths extend.
    """
    countable_loops, inductions = (
        find_countable_loops(read, weights) if options.loop_exit_counts else ([], {})
    )
    may_be_cut_short = blocks_that_may_be_cut_short(read)
    # The prefix of a path has to be known before each call, and not only where it may be cut short.
    known = may_be_cut_short.union(site.block for site in sites)
    costs = edge_costs(read, weights)
    room = max(SPARSE_FROM_SLOTS - slots, DEFAULT_LIMIT)
    dense = min(DENSE, room)
    limit = _limit(options)
    if options.overlap:
        plan = overlapping_plan(
            read.graph,
            costs,
            _degrees(read, options, machine, costs, known),
            limit=limit,
            most=_most(options, dense),
            dense=dense,
            may_be_cut_short=known,
            stack_slots=machine == "x86_64",
            resume_edges=resume_edges(read),
            rule=options.cut_by,
            countable_loops=countable_loops,
        )
    else:
        plan = path_plan(
            read.graph,
            costs,
            limit=limit,
            dense=dense,
            may_be_cut_short=known,
            stack_slots=machine == "x86_64",
            resume_edges=resume_edges(read),
            context=options.context,
            timed=options.metric == "cycles",
            rule=options.cut_by,
            countable_loops=countable_loops,
        )
    assert plan.paths is not None
    fictitious = NONE
    if plan.overlaps is not None and plan.overlaps.degrees:
        fictitious = fictitious_overlaps(plan, OverlapNumbering(read.graph, plan.paths, plan.overlaps))
    unfinished = may_be_cut_short & fictitious.starts.keys()
    if options.pairs:
        plan = _with_tuples(read, plan, options, room)
        if plan.tuples is not None and machine == "x86_64":
            unfinished = may_be_cut_short
    assert plan.paths is not None
    ambiguous = may_be_cut_short
    if may_be_cut_short:
        ambiguous -= single_prefixes(Numbering(read.graph, plan.paths)).keys()
    if options.scheme == "checked":
        plan = checked_paths(plan, read.graph)
    if options.over_calls:
        plan = with_calls(plan, read, costs, options, sites)
    return PlannedPaths(plan, inductions, ambiguous, fictitious, unfinished)


def _limit(options: Options) -> int | None:
    """The most paths of a function; in tuples each has to be identified by half a word."""
    if not options.pairs:
        return options.max_paths
    return MOST_NUMBERS if options.max_paths is None else min(options.max_paths, MOST_NUMBERS)


def _with_tuples(read: FunctionCfg, plan: Plan, options: Options, room: int) -> Plan:
    """The plan with what counts tuples, as long ones as fit a word."""
    length = options.pairs
    while length > 2 and plan.numbers > most_paths(length):
        length -= 1
    return with_chains(read.graph, plan, length, min(TUPLES_DENSE, room))


def _most(options: Options, dense: int) -> int:
    """The most overlapping paths: as many as have counters, unless paths alone may be more."""
    return dense if (options.max_paths or LARGEST) <= dense else MOST_NUMBERS // 2


def _degrees(
    read: FunctionCfg, options: Options, machine: str, costs: list[float], known: frozenset[int]
) -> Degrees:
    if options.overlap == MAX:
        return None
    if options.overlap != AUTO:
        return int(options.overlap)
    paths, dag = choose_paths(
        read.graph,
        costs,
        limit=_limit(options),
        may_be_cut_short=known,
        stack_slots=machine == "x86_64",
        resume_edges=resume_edges(read),
        rule=options.cut_by,
    )
    ends = sum(costs[edge] for edge in dag.removed) + costs[read.graph.closing]
    return choose_degrees(dag, paths, costs, Budget(AUTO_COUNTERS, AUTO_EXECUTIONS * ends))


def resume_edges(read: FunctionCfg) -> list[int]:
    """The edges that follow calls that return twice; of an invoke, its normal edge."""
    return [
        edge
        for block in sorted(read.returns_twice)
        for edge in read.graph.out_edges[block]
        if read.ir.blocks[block].opcode != "invoke" or read.positions[edge] == (0,)
    ]
