"""From a function and the user's options to a plan: weights, costs of edges, locations of probes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.analysis.induction import Induction
from trodden.native.analysis.known_calls import TracedCalls
from trodden.native.options.declarations import ESTIMATE, Options
from trodden.native.planning.plan_calls import with_calls
from trodden.native.planning.plan_trace import trace_plan
from trodden.native.planning.probe_costs import edge_costs, find_countable_loops
from trodden.native.planning.register_slots import block_frequencies, blocks_that_may_be_cut_short
from trodden.plan.counters.schemes import (
    checked,
    eprof,
    every_block,
    every_edge,
    vprof_by_blocks,
    vprof_by_edges,
)
from trodden.plan.overlap_probes import CallSite
from trodden.plan.paths.limits import DEFAULT_LIMIT, DENSE
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.placement import single_prefixes
from trodden.plan.paths.plan import checked_paths, path_plan
from trodden.plan.probes import Plan
from trodden.weigh.features.block_features import FunctionFeatures
from trodden.weigh.frequency.expected import expected_weights
from trodden.weigh.frequency.nesting import nesting_weights
from trodden.weigh.heuristics.rates import default_rates

SPARSE_FROM_SLOTS = 1 << 21
"""From this many slots on, path tables are sparse: every thread has memory for all counters of a unit."""


@dataclass(frozen=True)
class Planned:
    """A plan, the weights that it was made with, and the induction variables that its loops are counted by.

    ``ambiguous`` are the blocks where a path may be cut short and only the path register identifies it.
    ``measured``: the weights are counts of an earlier run.
    """

    plan: Plan
    weights: list[float]
    inductions: dict[int, Induction] = field(default_factory=dict)
    ambiguous: frozenset[int] = frozenset()
    measured: bool = False


def plan_for(
    read: FunctionCfg,
    options: Options,
    machine: str,
    slots: int,
    features: FunctionFeatures,
    calls: TracedCalls | None = None,
    sites: Sequence[CallSite] = (),
) -> Planned:
    """The plan for one function of a unit whose functions so far have ``slots`` counters.

    ``calls`` are those of a function that is traced, ``sites`` those of one whose paths extend over calls.
    """
    graph = read.graph
    if not options.paths and options.scheme == "every-block":
        return Planned(every_block(graph), [])
    if not options.paths and options.scheme == "every-edge":
        return Planned(every_edge(graph), [])
    weights = options.measured(graph, read.ir.symbol) if options.measured else None
    if weights is not None:
        return replace(_plan_by_weights(read, options, machine, weights, slots, calls, sites), measured=True)
    if options.weights == ESTIMATE:
        weights = expected_weights(graph, features, default_rates(), read.loops)
    else:
        weights = nesting_weights(graph, read.loops)
    return _plan_by_weights(read, options, machine, weights, slots, calls, sites)


def _plan_by_weights(
    read: FunctionCfg,
    options: Options,
    machine: str,
    weights: list[float],
    slots: int,
    calls: TracedCalls | None,
    sites: Sequence[CallSite],
) -> Planned:
    graph = read.graph
    if calls is not None:
        plan, inductions = trace_plan(read, options, weights, calls)
        return Planned(plan, weights, inductions)
    if options.paths:
        return _paths(read, options, machine, weights, slots, sites)
    if options.scheme == "blocks-by-blocks":
        return Planned(vprof_by_blocks(graph, block_frequencies(read, weights)), weights)
    costs = edge_costs(read, weights)
    if options.scheme == "blocks-by-edges":
        return Planned(vprof_by_edges(graph, costs), weights)
    countable_loops, inductions = (
        find_countable_loops(read, weights) if options.loop_exit_counts else ([], {})
    )
    scheme = checked if options.scheme == "checked" else eprof
    return Planned(scheme(graph, costs, countable_loops), weights, inductions)


def _paths(
    read: FunctionCfg,
    options: Options,
    machine: str,
    weights: list[float],
    slots: int,
    sites: Sequence[CallSite],
) -> Planned:
    countable_loops, inductions = (
        find_countable_loops(read, weights) if options.loop_exit_counts else ([], {})
    )
    may_be_cut_short = blocks_that_may_be_cut_short(read)
    costs = edge_costs(read, weights)
    # What is known of a path has to be known before each call.
    ends = may_be_cut_short.union(site.block for site in sites)
    plan = path_plan(
        read.graph,
        costs,
        limit=options.max_paths,
        dense=min(DENSE, max(SPARSE_FROM_SLOTS - slots, DEFAULT_LIMIT)),
        may_be_cut_short=ends,
        stack_slots=machine == "x86_64",
        resume_edges=resume_edges(read),
        context=options.context,
        timed=options.metric == "cycles",
        rule=options.cut_by,
        countable_loops=countable_loops,
    )
    if options.scheme == "checked":
        plan = checked_paths(plan, read.graph)
    ambiguous = may_be_cut_short
    if may_be_cut_short and plan.paths is not None:
        ambiguous -= single_prefixes(Numbering(read.graph, plan.paths)).keys()
    if options.over_calls:
        plan = with_calls(plan, read, costs, options, sites, ends)
    return Planned(plan, weights, inductions, ambiguous)


def resume_edges(read: FunctionCfg) -> list[int]:
    """The edges that follow calls that return twice; of an invoke, its normal edge."""
    return [
        edge
        for block in sorted(read.returns_twice)
        for edge in read.graph.out_edges[block]
        if read.ir.blocks[block].opcode != "invoke" or read.positions[edge] == (0,)
    ]
