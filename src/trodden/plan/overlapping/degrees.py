"""A degree for each loop, within a budget.

TZG04 has one degree for a whole program and finds a third of the largest possible one to be enough.  Loops
differ: what a predicate more costs and tells depends on how often the loop iterates and on how many ways lead
on.  So degrees are raised where the expected gain is largest for its cost, as long as the budget lasts.

*Gain.*  When an overlap has stopped, what is still open is which of the loop paths that begin like this was
executed.  Weights say how often overlaps stop at each predicate; log2 of the number of loop paths that go on
from there is how much is open each time.  That is 0 where bounds are exact, and more predicates never add to
it.

*Cost.*  In counters: the overlaps behind each path that ends on a back edge, less the one counter that the
path has anyway.  In executions of probes: those on back edges and exits, and on all edges of a predicate but
the most frequent, twice where the predicate counter is tested.  (Chords are chosen for the procedure as a
whole, so this is an estimate.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from trodden.plan.overlapping.loops import LoopNest, affordable, extended_edges, largest_degree, loop_headers
from trodden.plan.overlapping.region import Owner, Ways, explore
from trodden.plan.paths.dag import Dag
from trodden.plan.probes import Paths

HIGHEST = 32
"""Degrees above this are not considered: what overlaps of that length leave open hardly ever matters."""


class Budget(NamedTuple):
    """How many counters and how many expected executions of probes overlaps may add to a procedure."""

    counters: float
    executions: float


class Offer(NamedTuple):
    """What a degree leaves open and what it costs, compared with a loop whose paths are not extended."""

    degree: int
    open: float
    counters: int
    executions: float


def choose_degrees(dag: Dag, paths: Paths, weights: Sequence[float], budget: Budget) -> dict[int, int | None]:
    """Degrees for the loops of a procedure; loops that are not extended are left out."""
    nest, ways = LoopNest(dag.graph), Ways(dag)
    crossed = crossed_by_header(dag, paths)
    before = paths_to(dag)
    choices = [
        _Loop(header, loop_offers(ways, nest.owner(dag, header, None), crossed[header], weights, before))
        for header in affordable(nest, crossed)
    ]
    left = budget
    waiting = [
        (-value, header, number)
        for number, loop in enumerate(choices)
        for value, header in [(loop.best(left), loop.header)]
        if value > 0.0
    ]
    heapify(waiting)
    while waiting:
        known, header, number = heappop(waiting)
        loop = choices[number]
        value = loop.best(left)
        if value == -known:
            left = loop.take(left)
            value = loop.best(left)
        if value > 0.0:
            heappush(waiting, (-value, header, number))
    return {loop.header: loop.degree for loop in choices if loop.degree}


@dataclass
class _Loop:
    """The offers for a loop, the first of which is to leave it as it is, and which of them has been taken."""

    header: int
    offers: Sequence[Offer]
    taken: int = 0
    next: int = 0

    @property
    def degree(self) -> int:
        return self.offers[self.taken].degree

    def best(self, left: Budget) -> float:
        """The best gain per cost of an offer that the budget allows, which becomes the next to be taken."""
        now = self.offers[self.taken]
        found = 0.0
        for number in range(self.taken + 1, len(self.offers)):
            offer = self.offers[number]
            counters, executions = offer.counters - now.counters, offer.executions - now.executions
            if counters > left.counters or executions > left.executions:
                continue
            cost = max(_share(counters, left.counters), _share(executions, left.executions))
            value = (now.open - offer.open) / max(cost, math.ulp(1.0))
            if value > found:
                found, self.next = value, number
        return found

    def take(self, left: Budget) -> Budget:
        """Take the offer that was found; what is left of the budget."""
        now, then = self.offers[self.taken], self.offers[self.next]
        self.taken = self.next
        return Budget(
            left.counters - (then.counters - now.counters),
            left.executions - (then.executions - now.executions),
        )


def _share(cost: float, left: float) -> float:
    return 0.0 if math.isinf(left) or not cost else cost / left


def loop_offers(
    ways: Ways, owner: Owner, crossed: Sequence[int], weights: Sequence[float], before: Sequence[int]
) -> list[Offer]:
    """What each degree of a loop leaves open and costs, from 0 (nothing is extended) up.

    ``crossed`` are its back edges; ``before`` is the number of paths that lead to each block.  One pass over
    the loop serves all degrees.
    """
    graph = ways.dag.graph
    crossings = sum(weights[edge] for edge in crossed)
    extended = sum(before[graph.edges[edge].src] for edge in crossed)
    most = min(largest_degree(ways, owner), HIGHEST)
    if not most:
        return [Offer(0, 0.0, 0, 0.0)]
    walk = _Overlaps(ways, owner, weights, most)
    basic = crossings + walk.leaving
    offers = [Offer(0, crossings * walk.open[0], 0, 0.0)]
    offers += [
        Offer(
            degree,
            crossings * walk.open[degree],
            extended * (walk.overlaps(degree) - 1),
            basic + walk.added[degree],
        )
        for degree in range(1, most + 1)
    ]
    return offers


class _Overlaps:
    """All overlaps of a loop by degree: how likely they are, how many there are, and what they add to.

    ``open[k]`` is what overlaps of degree k leave open, in bits.  ``leaving`` is the weight of the edges that
    leave the loop, ``added[k]`` that of the edges with additions.
    """

    def __init__(self, ways: Ways, owner: Owner, weights: Sequence[float], most: int) -> None:
        edges = ways.dag.graph.edges
        order = list(explore(ways, owner, {owner.vertex: 1}))
        onward = {block: [edge for edge in ways.onward(block) if owner.stays(edge)] for block in order}
        ends = {block: len(onward[block]) < len(ways.out(block)) or not onward[block] for block in order}
        loop_paths: dict[int, int] = {}
        for block in reversed(order):
            loop_paths[block] = ends[block] + sum(loop_paths[edges[edge].dst] for edge in onward[block])
        self.open = [0.0] * (most + 1)
        self.added = [0.0] * (most + 1)
        self.leaving = 0.0
        self._stopped = [0] * (most + 1)
        self._ended = [0] * (most + 1)
        chance = {block: [0.0] * (most + 1) for block in order}
        number = {block: [0] * (most + 1) for block in order}
        chance[owner.vertex][0], number[owner.vertex][0] = 1.0, 1
        for block in order:
            predicate = ways.predicate(block)
            here, count = chance[block], number[block]
            out = ways.out(block)
            total = math.fsum(weights[edge] for edge in out)
            self.leaving += math.fsum(weights[edge] for edge in out if edge not in onward[block])
            if predicate:
                bits = math.log2(loop_paths[block])
                self._stop(here, count, bits)
                here, count = [0.0, *here[:-1]], [0, *count[:-1]]
            if ends[block]:
                self._ended = [known + more for known, more in zip(self._ended, count, strict=True)]
            self._add(count, [weights[edge] for edge in onward[block]])
            for edge in onward[block]:
                share = weights[edge] / total if total > 0.0 else 1.0 / len(out)
                target = edges[edge].dst
                chance[target] = [a + share * b for a, b in zip(chance[target], here, strict=True)]
                number[target] = [a + b for a, b in zip(number[target], count, strict=True)]

    def _stop(self, chance: Sequence[float], count: Sequence[int], bits: float) -> None:
        """Overlaps of degree k stop at a predicate if they have passed k others."""
        self.open = [known + share * bits for known, share in zip(self.open, chance, strict=True)]
        self._stopped = [known + more for known, more in zip(self._stopped, count, strict=True)]

    def _add(self, count: Sequence[int], weights: Sequence[float]) -> None:
        """The most frequent edge needs no addition; others do, with a test if some overlaps have stopped."""
        first = next((passed for passed, ways in enumerate(count) if ways), None)
        last = max((passed for passed, ways in enumerate(count) if ways), default=0)
        if first is not None and len(weights) > 1:
            cost = math.fsum(weights) - max(weights)
            for degree in range(first, len(self.added)):
                self.added[degree] += cost if degree >= last else 2 * cost

    def overlaps(self, degree: int) -> int:
        """How many different overlaps of a degree there are."""
        return self._stopped[degree] + sum(self._ended[: degree + 1])


def crossed_by_header(dag: Dag, paths: Paths) -> dict[int, list[int]]:
    """The back edges of each loop that can be extended."""
    found: dict[int, list[int]] = {}
    for edge, header in extended_edges(dag, loop_headers(dag, paths), paths).items():
        found.setdefault(header, []).append(edge)
    return dict(sorted(found.items()))


def paths_to(dag: Dag) -> list[int]:
    """How many paths lead to each block."""
    found = [0] * len(dag.outs)
    found[dag.entry] = 1
    for node in dag.order[1:]:
        found[node] = sum(found[dag.arcs[number].src] for number in dag.ins[node])
    return found
