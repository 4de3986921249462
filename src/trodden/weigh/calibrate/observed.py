"""What branches were observed to do, and what the heuristics predict of them (WL94 §3.1).

A heuristic's coverage and hit rate are shares of executions, as Ball and Larus measured them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.weigh.features.block_features import BlockFeatures
from trodden.weigh.features.branch import branches
from trodden.weigh.features.branch_context import BranchContext
from trodden.weigh.heuristics.combine import branch_probabilities, predictions
from trodden.weigh.heuristics.heuristic import Scope, scope_of
from trodden.weigh.heuristics.rates import Measured, Rates
from trodden.weigh.heuristics.registry import HEURISTICS


@dataclass(frozen=True)
class Counted:
    """A function with its edge counts; ``None`` where a count is not known."""

    graph: Graph
    features: Sequence[BlockFeatures]
    counts: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Observation:
    """An executed branch: how often each of its edges was taken, and the edges that heuristics predict.

    ``decisive`` are the decisive ones among them, in their order of precedence.
    """

    scope: Scope
    counts: tuple[float, ...]
    said: tuple[tuple[str, frozenset[int]], ...]
    decisive: tuple[str, ...] = ()

    @property
    def executions(self) -> float:
        """How often it was executed."""
        return sum(self.counts)

    def hits(self, positions: Iterable[int]) -> float:
        """How often one of some edges was taken."""
        return sum(self.counts[position] for position in positions)


def observe(functions: Iterable[Counted]) -> list[Observation]:
    """All executed branches whose edge counts are known."""
    found: list[Observation] = []
    for function in functions:
        for branch, said in predictions(function.graph, function.features):
            counts = [count for edge in branch.edges if (count := function.counts[edge]) is not None]
            if len(counts) == len(branch.edges) and sum(counts) > 0:
                found.append(
                    Observation(
                        scope_of(branch),
                        tuple(counts),
                        tuple((heuristic.key, frozenset(positions)) for heuristic, positions in said),
                        tuple(heuristic.key for heuristic, _ in said if heuristic.decisive),
                    )
                )
    return found


def measure(observations: Sequence[Observation]) -> dict[str, Measured]:
    """Coverage and hit rate of each heuristic that applies to an executed branch.

    Coverage is relative to the executions of the branches in the scope of the heuristic.
    """
    asked = dict.fromkeys(Scope, 0.0)
    applied: dict[str, list[float]] = {}
    for seen in observations:
        asked[seen.scope] += seen.executions
        for key, positions in seen.said:
            sums = applied.setdefault(key, [0.0, 0.0, 0.0])
            sums[0] += seen.executions
            sums[1] += seen.hits(positions)
            sums[2] += 1
    found: dict[str, Measured] = {}
    for heuristic in HEURISTICS:
        if heuristic.key in applied:
            executions, hits, branches = applied[heuristic.key]
            total = sum(count for scope, count in asked.items() if scope in heuristic.scope)
            found[heuristic.key] = Measured(executions / total, hits / executions, int(branches))
    return found


@dataclass(frozen=True)
class Accuracy:
    """How many executions of branches took the edge that was predicted to be the most probable.

    ``best`` are those that a perfect static prediction gets right: always the most frequent edge.
    """

    executions: float
    right: float
    best: float


def accuracy(functions: Iterable[Counted], rates: Rates) -> Accuracy:
    """How well a table of rates predicts executed branches; equally probable edges share the executions."""
    executions = right = best = 0.0
    for function in functions:
        probabilities = branch_probabilities(function.graph, function.features, rates)
        for branch in branches(BranchContext(function.graph, function.features)):
            counts = [count for edge in branch.edges if (count := function.counts[edge]) is not None]
            if len(counts) == len(branch.edges) and sum(counts) > 0:
                shares = [probabilities[edge] for edge in branch.edges]
                likely = [count for count, share in zip(counts, shares, strict=True) if share == max(shares)]
                executions += sum(counts)
                right += sum(likely) / len(likely)
                best += max(counts)
    return Accuracy(executions, right, best)
