"""The counts of all functions of a unit, each by the flow law or from its paths, according to its plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from trodden.plan.routes import PathCount, PathEnd
from trodden.program.facts import BranchKind, FunctionFacts, UnitFacts
from trodden.recover.budget import Budget
from trodden.recover.flow import recover
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.paths import recover_paths
from trodden.recover.unit_counts import UnitCounts

_NEVER_RETURNS = frozenset({BranchKind.DEAD_END, BranchKind.UNWIND})


@dataclass(frozen=True)
class RecoveredFunction:
    """All counts of one function; ``paths`` is ``None`` if its plan does not count paths.

    ``cut_short[v]`` is how often the function ended in block ``v`` without leaving it along an edge, less how
    often control was resumed there; ``violations`` are contradictions between the counters and the flow law.
    ``stops`` are those of the ends whose position in the block is known, by block and position (see
    :data:`trodden.recover.function_counts.Stop`); ``path_stops`` the same by the number of the path.
    ``unlocated`` frames may have ended in the function as well.
    """

    facts: FunctionFacts
    blocks: Sequence[int]
    edges: Sequence[int | None]
    cut_short: Mapping[int, int]
    violations: tuple[str, ...]
    paths: tuple[PathCount, ...] | None = None
    stops: Mapping[tuple[int, int], int] = field(default_factory=dict)
    path_stops: Mapping[tuple[int, int], int] = field(default_factory=dict)
    unlocated: int = 0


def recover_unit(
    unit: UnitFacts, counted: UnitCounts, budget: Budget | None = None, only: Collection[int] | None = None
) -> Iterator[RecoveredFunction]:
    """The functions of a unit with all their counts, in their order; or ``only`` some of them."""
    for number, function in counted.functions(unit, only):
        facts = unit.functions[number]
        yield _by_flow(facts, function) if facts.plan.paths is None else _by_paths(facts, function, budget)


def _by_flow(facts: FunctionFacts, counted: FunctionCounts) -> RecoveredFunction:
    """The flow law applied to the counters of a function (BL94 §3.1)."""
    if facts.plan.counts_nothing:
        return _not_counted(facts, counted)
    cut_short = counted.early_ends
    flow = recover(facts.graph, facts.plan, list(counted.counters), cut_short)
    return RecoveredFunction(
        facts,
        flow.blocks,
        flow.edges,
        cut_short,
        tuple(flow.violations),
        stops=_stops(counted),
        unlocated=counted.unlocated,
    )


def _not_counted(facts: FunctionFacts, counted: FunctionCounts) -> RecoveredFunction:
    """A function that is only traced: its counts follow from the trace (:mod:`trodden.profile.derived`)."""
    graph = facts.graph
    edges = [None] * len(graph.edges)
    return RecoveredFunction(facts, [0] * len(graph.labels), edges, {}, (), stops=_stops(counted))


def _by_paths(facts: FunctionFacts, counted: FunctionCounts, budget: Budget | None) -> RecoveredFunction:
    """The paths of a function regenerated from their numbers (BL96 §3.5)."""
    flow = recover_paths(facts.graph, facts.plan, counted, budget)
    paths = tuple(_as_it_ended(facts, path) for path in flow.paths)
    return RecoveredFunction(
        facts,
        flow.blocks,
        flow.edges,
        flow.early,
        flow.violations,
        paths,
        stops=_stops(counted),
        path_stops=flow.stops,
        unlocated=counted.unlocated,
    )


def _stops(counted: FunctionCounts) -> dict[tuple[int, int], int]:
    """How many frames ended at each position of a block, whatever path they were on."""
    found: Counter[tuple[int, int]] = Counter()
    for (block, _, position), times in counted.stops.items():
        found[block, position] += times
    return {where: times for where, times in sorted(found.items()) if times}


def _as_it_ended(facts: FunctionFacts, path: PathCount) -> PathCount:
    """A path that ends in a call which never returns, or in an exception, was cut short like others."""
    if path.ends is PathEnd.EXIT and facts.blocks[path.blocks[-1]].kind in _NEVER_RETURNS:
        return replace(path, ends=PathEnd.UNWOUND)
    return path
