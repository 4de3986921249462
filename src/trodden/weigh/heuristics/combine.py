"""The probability of each edge of a branch: Algorithm 1 (WL94 §3.2).

The paper's chain of cases is kept: a block without successors has no probabilities; one that ends in a call
that does not return goes to EXIT only; one with both back edges and others is predicted by the heuristics
about loops; then come branches with two edges, and with more than two.  Which heuristics apply in which of
these cases is in the table; all that apply are combined by Dempster's rule.

The rule in general (:func:`combined`): evidence gives a mass to a set of edges and the rest to all others.
The product of such masses belongs to those edges that all evidence treats alike, which share it equally.
With two edges that is the multiplication of Algorithm 1, with one piece of evidence about a loop its
``taken_prob(LBH) / m``, and without any the equal shares of ``1 / n``.

Beyond the paper, some heuristics are decisive: the code after a failed error check is seldom reached,
whatever other evidence there is.  The first of them fixes the total probability of its edges; where there
are more than two edges, the others still determine how each side shares its part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trodden.graph.cfg import Graph
from trodden.graph.loop_forest import LoopForest
from trodden.weigh.features.block_features import BlockFeatures
from trodden.weigh.features.branch import Branch, EdgePositions, branches, never_returns
from trodden.weigh.features.branch_context import BranchContext
from trodden.weigh.heuristics.comparisons import COMPARISONS, about
from trodden.weigh.heuristics.heuristic import Heuristic, Scope, scope_of
from trodden.weigh.heuristics.rates import Rates
from trodden.weigh.heuristics.registry import HEURISTICS

Prediction = tuple[Heuristic, EdgePositions]
"""A heuristic that applies to a branch, and the edges that it predicts."""

_BY_SCOPE = {
    scope: tuple(each for each in HEURISTICS if scope & each.scope and each not in COMPARISONS)
    for scope in Scope
}


def branch_probabilities(
    graph: Graph, features: Sequence[BlockFeatures], rates: Rates, forest: LoopForest | None = None
) -> list[float]:
    """The probability of each edge once its source is executed; 0 for virtual edges."""
    context = BranchContext(graph, features, forest)
    probabilities = [0.0] * len(graph.edges)
    for block, edges in enumerate(context.flow):
        if len(edges) == 1:
            probabilities[edges[0]] = 1.0
        elif edges and never_returns(context, block):
            exits = [edge for edge in edges if graph.edges[edge].dst == graph.exit]
            for edge in exits:
                probabilities[edge] = 1 / len(exits)
    heuristics = {
        scope: [each for each in table if each.key in rates.taken] for scope, table in _BY_SCOPE.items()
    }
    for branch in branches(context):
        for edge, share in zip(branch.edges, _shares(branch, heuristics, rates), strict=True):
            probabilities[edge] = share
    return probabilities


def predictions(
    graph: Graph, features: Sequence[BlockFeatures], forest: LoopForest | None = None
) -> Iterator[tuple[Branch, list[Prediction]]]:
    """For each branch the predictions of every heuristic that applies to it, whatever its rate."""
    for branch in branches(BranchContext(graph, features, forest)):
        yield branch, list(_said(branch, _BY_SCOPE))


def combined(edges: int, evidence: Sequence[tuple[EdgePositions, float]]) -> list[float]:
    """The probabilities of so many edges; each piece of evidence gives a mass to some of them.

    Edges that all evidence treats alike share their mass equally.
    """
    kinds = [0] * edges
    masses = [1.0] * edges
    for number, (positions, mass) in enumerate(evidence):
        named = set(positions)
        for position in range(edges):
            if position in named:
                kinds[position] |= 1 << number
                masses[position] *= mass
            else:
                masses[position] *= 1 - mass
        most = max(masses)
        masses = [each / most for each in masses]
    alike: dict[int, int] = {}
    for kind in kinds:
        alike[kind] = alike.get(kind, 0) + 1
    shared = [each / alike[kind] for each, kind in zip(masses, kinds, strict=True)]
    total = sum(shared)
    return [each / total for each in shared]


def _said(branch: Branch, heuristics: Mapping[Scope, Sequence[Heuristic]]) -> Iterator[Prediction]:
    """The predictions of heuristics for a branch, those of the paper first."""
    scope, edges = scope_of(branch), len(branch.edges)
    for heuristic in heuristics[scope]:
        positions = heuristic.predicts(branch)
        if 0 < len(positions) < edges:
            yield heuristic, positions
    if scope is Scope.PLAIN:
        for heuristic in about(branch):
            yield heuristic, heuristic.predicts(branch)


def _shares(branch: Branch, heuristics: Mapping[Scope, Sequence[Heuristic]], rates: Rates) -> Sequence[float]:
    """The combined evidence; the first decisive heuristic fixes the total probability of its edges."""
    edges = len(branch.edges)
    found: list[tuple[EdgePositions, float]] = []
    decisive: tuple[EdgePositions, float] | None = None
    for heuristic, positions in _said(branch, heuristics):
        rate = rates.taken.get(heuristic.key)
        if rate is None:
            continue
        mass = heuristic.mass(branch, rate)
        if not heuristic.decisive:
            found.append((positions, mass))
        elif decisive is None:
            decisive = positions, mass
            if edges == 2:
                return _of_two([decisive])
    if edges == 2:
        return _of_two(found)
    shares = combined(edges, found)
    return shares if decisive is None else _rescaled(shares, *decisive)


def _rescaled(shares: Sequence[float], positions: EdgePositions, mass: float) -> list[float]:
    """The same shares, but those of some edges come to ``mass`` in all, those of the others to the rest."""
    named = set(positions)
    inside = sum(share for position, share in enumerate(shares) if position in named)
    outside = sum(share for position, share in enumerate(shares) if position not in named)
    if not (inside and outside):
        return combined(len(shares), [(positions, mass)])
    return [
        share * mass / inside if position in named else share * (1 - mass) / outside
        for position, share in enumerate(shares)
    ]


def _of_two(evidence: Sequence[tuple[EdgePositions, float]]) -> Sequence[float]:
    """The same for two edges, faster."""
    first = second = 0.5
    for positions, mass in evidence:
        if positions[0]:
            mass = 1 - mass
        first, second = first * mass, second * (1 - mass)
        total = first + second
        first, second = first / total, second / total
    return first, second
