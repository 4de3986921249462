"""From a function and the user's options to a plan: weights, costs of edges, locations of probes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.analysis.induction import Induction
from trodden.native.analysis.known_calls import TracedCalls
from trodden.native.options.declarations import ESTIMATE, Options
from trodden.native.planning.plan_paths import plan_paths
from trodden.native.planning.plan_trace import trace_plan
from trodden.native.planning.probe_costs import edge_costs, find_countable_loops
from trodden.native.planning.register_slots import block_frequencies
from trodden.plan.counters.schemes import (
    checked,
    eprof,
    every_block,
    every_edge,
    vprof_by_blocks,
    vprof_by_edges,
)
from trodden.plan.overlap_probes import CallSite
from trodden.plan.overlapping.fictitious import NONE, Fictitious
from trodden.plan.probes import Plan
from trodden.weigh.features.block_features import FunctionFeatures
from trodden.weigh.frequency.expected import expected_weights
from trodden.weigh.frequency.nesting import nesting_weights
from trodden.weigh.heuristics.rates import default_rates


@dataclass(frozen=True)
class Planned:
    """A plan, the weights that it was made with, and the induction variables that its loops are counted by.

    ``ambiguous`` are the blocks where a path may be cut short and only the path register identifies it.
    ``measured``: the weights are counts of an earlier run.  ``fictitious`` are the overlaps that begin where
    there is none, and ``unfinished`` the blocks where one may be active when a path is cut short.
    """

    plan: Plan
    weights: list[float]
    inductions: dict[int, Induction] = field(default_factory=dict)
    ambiguous: frozenset[int] = frozenset()
    measured: bool = False
    fictitious: Fictitious = NONE
    unfinished: frozenset[int] = frozenset()


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
        paths = plan_paths(read, options, machine, weights, slots, sites)
        inductions = dict(paths.inductions)
        return Planned(
            paths.plan,
            weights,
            inductions,
            paths.ambiguous,
            fictitious=paths.fictitious,
            unfinished=paths.unfinished,
        )
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
