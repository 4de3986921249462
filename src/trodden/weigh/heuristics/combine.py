"""How probable it is that a branch goes each of its ways: Algorithm 1 (WL94 §3.2).

The paper's chain of cases is kept: a block without successors has nothing to share out; one that calls what
does not come back goes nowhere but to EXIT; one with both back edges and others is predicted by what speaks
of loops; then come two ways, and more than two.  Which heuristics speak in which of these cases is in the
table; all that apply are combined by Dempster's rule.

The rule in general (:func:`combined`): evidence gives a mass to a set of edges and the rest to all others.
The product of such masses lies on those edges that are treated alike by all evidence, and nothing tells
them apart, so they share it equally.  With two ways that is the multiplication of Algorithm 1, with one
piece of evidence about a loop its ``taken_prob(LBH) / m``, and without any the equal shares of ``1 / n``.

Beyond the paper, some heuristics settle a branch: what a check for errors leads to is seldom reached,
whatever else there is to say.  The first of them fixes what its edges have in all; among many ways the others
still tell how each side shares its part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trodden.graph.cfg import Graph
from trodden.graph.loop_forest import LoopForest
from trodden.weigh.features.branch import Branch, Places, branches, never_goes_on
from trodden.weigh.features.branch_context import Surroundings
from trodden.weigh.features.clues import BlockClues
from trodden.weigh.heuristics.ball_larus import Heuristic, Scope, scope_of
from trodden.weigh.heuristics.comparisons import KINDS, about
from trodden.weigh.heuristics.rates import Rates
from trodden.weigh.heuristics.registry import HEURISTICS

Said = tuple[Heuristic, Places]
"""A heuristic that applies to a branch, and to which of its edges it says that control will go."""

_BY_SCOPE = {
    scope: tuple(each for each in HEURISTICS if scope & each.scope and each not in KINDS) for scope in Scope
}


def branch_odds(
    graph: Graph, clues: Sequence[BlockClues], rates: Rates, forest: LoopForest | None = None
) -> list[float]:
    """How probable each edge is once control is in its source; nothing for virtual edges."""
    around = Surroundings(graph, clues, forest)
    odds = [0.0] * len(graph.edges)
    for block, edges in enumerate(around.flow):
        if len(edges) == 1:
            odds[edges[0]] = 1.0
        elif edges and never_goes_on(around, block):
            ways = [edge for edge in edges if graph.edges[edge].dst == graph.exit]
            for edge in ways:
                odds[edge] = 1 / len(ways)
    witnesses = {
        scope: [each for each in table if each.key in rates.taken] for scope, table in _BY_SCOPE.items()
    }
    for branch in branches(around):
        for edge, share in zip(branch.edges, _shares(branch, witnesses, rates), strict=True):
            odds[edge] = share
    return odds


def predictions(
    graph: Graph, clues: Sequence[BlockClues], forest: LoopForest | None = None
) -> Iterator[tuple[Branch, list[Said]]]:
    """For each branch what every heuristic says that applies to it, whatever its rate."""
    for branch in branches(Surroundings(graph, clues, forest)):
        yield branch, list(_said(branch, _BY_SCOPE))


def combined(edges: int, evidence: Sequence[tuple[Places, float]]) -> list[float]:
    """The probabilities of so many edges; each piece of evidence gives a mass to some of them.

    Edges that all evidence treats alike share what falls on them.
    """
    kinds = [0] * edges
    masses = [1.0] * edges
    for number, (places, mass) in enumerate(evidence):
        named = set(places)
        for place in range(edges):
            if place in named:
                kinds[place] |= 1 << number
                masses[place] *= mass
            else:
                masses[place] *= 1 - mass
        most = max(masses)
        masses = [each / most for each in masses]
    alike: dict[int, int] = {}
    for kind in kinds:
        alike[kind] = alike.get(kind, 0) + 1
    shared = [each / alike[kind] for each, kind in zip(masses, kinds, strict=True)]
    total = sum(shared)
    return [each / total for each in shared]


def _said(branch: Branch, witnesses: Mapping[Scope, Sequence[Heuristic]]) -> Iterator[Said]:
    """What heuristics say of a branch, those of the paper first."""
    scope, edges = scope_of(branch), len(branch.edges)
    for heuristic in witnesses[scope]:
        places = heuristic.predicts(branch)
        if 0 < len(places) < edges:
            yield heuristic, places
    if scope is Scope.PLAIN:
        for heuristic in about(branch):
            yield heuristic, heuristic.predicts(branch)


def _shares(branch: Branch, witnesses: Mapping[Scope, Sequence[Heuristic]], rates: Rates) -> Sequence[float]:
    """What all evidence comes to; the first that settles a branch says what its edges have in all."""
    edges = len(branch.edges)
    found: list[tuple[Places, float]] = []
    settled: tuple[Places, float] | None = None
    for heuristic, places in _said(branch, witnesses):
        rate = rates.taken.get(heuristic.key)
        if rate is None:
            continue
        mass = heuristic.mass(branch, rate)
        if not heuristic.settles:
            found.append((places, mass))
        elif settled is None:
            settled = places, mass
            if edges == 2:
                return _of_two([settled])
    if edges == 2:
        return _of_two(found)
    shares = combined(edges, found)
    return shares if settled is None else _rescaled(shares, *settled)


def _rescaled(shares: Sequence[float], places: Places, mass: float) -> list[float]:
    """The same shares, but those of some edges come to ``mass`` in all, those of the others to the rest."""
    named = set(places)
    inside = sum(share for place, share in enumerate(shares) if place in named)
    outside = sum(share for place, share in enumerate(shares) if place not in named)
    if not (inside and outside):
        return combined(len(shares), [(places, mass)])
    return [
        share * mass / inside if place in named else share * (1 - mass) / outside
        for place, share in enumerate(shares)
    ]


def _of_two(evidence: Sequence[tuple[Places, float]]) -> Sequence[float]:
    """The same for two edges, faster."""
    first = second = 0.5
    for places, mass in evidence:
        if places[0]:
            mass = 1 - mass
        first, second = first * mass, second * (1 - mass)
        total = first + second
        first, second = first / total, second / total
    return first, second
