"""What branches were seen to do, beside what the heuristics say of them (WL94 §3.1).

A heuristic's coverage and hit rate are shares of executions, as Ball and Larus measured them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.weigh.features.branch import branches
from trodden.weigh.features.branch_context import Surroundings
from trodden.weigh.features.clues import BlockClues
from trodden.weigh.heuristics.ball_larus import Scope, scope_of
from trodden.weigh.heuristics.combine import branch_odds, predictions
from trodden.weigh.heuristics.rates import Measured, Rates
from trodden.weigh.heuristics.registry import HEURISTICS


@dataclass(frozen=True)
class Counted:
    """A function of which it is known how often each edge was taken; ``None`` where that is not known."""

    graph: Graph
    clues: Sequence[BlockClues]
    counts: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Observation:
    """A branch that ran: how often each of its edges was taken, and the places that heuristics predict.

    ``settling`` are those of them that settle a branch alone, in the order in which they are asked.
    """

    scope: Scope
    counts: tuple[float, ...]
    said: tuple[tuple[str, frozenset[int]], ...]
    settling: tuple[str, ...] = ()

    @property
    def executions(self) -> float:
        """How often it ran."""
        return sum(self.counts)

    def hits(self, places: Iterable[int]) -> float:
        """How often control went along one of some edges."""
        return sum(self.counts[place] for place in places)


def observe(functions: Iterable[Counted]) -> list[Observation]:
    """All branches that ran and whose edges are known."""
    found: list[Observation] = []
    for function in functions:
        for branch, said in predictions(function.graph, function.clues):
            counts = [count for edge in branch.edges if (count := function.counts[edge]) is not None]
            if len(counts) == len(branch.edges) and sum(counts) > 0:
                found.append(
                    Observation(
                        scope_of(branch),
                        tuple(counts),
                        tuple((heuristic.key, frozenset(places)) for heuristic, places in said),
                        tuple(heuristic.key for heuristic, _ in said if heuristic.settles),
                    )
                )
    return found


def measure(observations: Sequence[Observation]) -> dict[str, Measured]:
    """Coverage and hit rate of each heuristic that applies to a branch which ran.

    Coverage is the share of the executions of those branches that the heuristic is asked about at all.
    """
    asked = dict.fromkeys(Scope, 0.0)
    applied: dict[str, list[float]] = {}
    for seen in observations:
        asked[seen.scope] += seen.executions
        for key, places in seen.said:
            sums = applied.setdefault(key, [0.0, 0.0, 0.0])
            sums[0] += seen.executions
            sums[1] += seen.hits(places)
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
    """How many executions of branches went the way that was held to be the most probable.

    ``best`` are those that a prediction which knows the counts would get right: always the more frequent way.
    """

    executions: float
    right: float
    best: float


def accuracy(functions: Iterable[Counted], rates: Rates) -> Accuracy:
    """How well a table of rates predicts branches that ran; ways held to be equal share what happened."""
    executions = right = best = 0.0
    for function in functions:
        odds = branch_odds(function.graph, function.clues, rates)
        for branch in branches(Surroundings(function.graph, function.clues)):
            counts = [count for edge in branch.edges if (count := function.counts[edge]) is not None]
            if len(counts) == len(branch.edges) and sum(counts) > 0:
                shares = [odds[edge] for edge in branch.edges]
                likely = [count for count, share in zip(counts, shares, strict=True) if share == max(shares)]
                executions += sum(counts)
                right += sum(likely) / len(likely)
                best += max(counts)
    return Accuracy(executions, right, best)
