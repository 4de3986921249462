"""Which call sites to keep where not all of them fit: ``auto`` (MR98 §8, §9.1).

Numbers have to fit a register, and a table may have a limit below that; of most programs the paths through
all call sites would need hundreds of bits.  As :mod:`trodden.plan.paths.cutting` does with edges, all sites
are cut first.  Then they are kept one after the other, as long as no table exceeds the limit: those first
that are executed often for the bits that they add to the numbers of their procedure.

What a site adds is known without another pass.  If ``before`` is how many paths of the procedure come to the
call, each of which goes on in as many ways as ψ of the return says, keeping the call adds ``before`` times
the difference between ψ of the callee, applied to that, and that.  A site that adds nothing, because a single
path leads through its callee, is kept in any case.

The work is bounded: every pass over a procedure is paid for, and when the budget is spent all other sites
stay cut.  The budget is proportional to the size of the program.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from typing import NamedTuple

from trodden.plan.interprocedural.call_graph import callees_by_caller, search_calls, sites_that_can_be_kept
from trodden.plan.interprocedural.evaluation import Evaluation
from trodden.plan.interprocedural.linear import IDENTITY, Linear
from trodden.plan.interprocedural.numbering import Mode
from trodden.plan.interprocedural.points import Points, dag_of, lay_out
from trodden.plan.interprocedural.program import Program, Site

_EFFORT = 64
"""How many times each arc may be looked at on average."""

_LAYOUT = 8
"""How much longer it takes to build the graph of a procedure than to evaluate it."""

REGISTER = 2**62
"""The largest table, whatever is asked for."""


def choose_sites(
    program: Program,
    weights: Mapping[Site, float],
    mode: Mode,
    limit: int = REGISTER,
    among: Collection[Site] | None = None,
) -> frozenset[Site]:
    """The sites to keep so that no table has more than ``limit`` numbers: any, or some of ``among``.

    Where a procedure alone has more, its table gets no larger than that.  Paths that are split at cut calls
    have other tables, for which nothing is said here.
    """
    candidates = [
        (site, callee) for site, callee in sites_that_can_be_kept(program) if among is None or site in among
    ]
    choice = _Choice(program, candidates, mode, min(limit, REGISTER))
    waiting: list[tuple[float, Site, int]] = []
    apart: list[tuple[Site, int]] = []
    for site, callee in candidates:
        if choice.is_free(callee):
            choice.keep(site, callee)
        else:
            waiting.append((choice.cost(site, callee, weights[site]), site, callee))
    heapify(waiting)
    while waiting and not choice.exhausted:
        before, site, callee = waiting[0]
        now = choice.cost(site, callee, weights[site])
        if now > before:
            heapreplace(waiting, (now, site, callee))
        else:
            heappop(waiting)
            if not choice.keep(site, callee):
                apart.append((site, callee))
    _try_again(choice, apart)
    return frozenset(choice.kept)


def _try_again(choice: _Choice, apart: Sequence[tuple[Site, int]]) -> None:
    """Keep what fits now: a callee that does not return, or an exception, can also save paths."""
    before = None
    while before != len(apart) and not choice.exhausted:
        before = len(apart)
        apart = [
            (site, callee) for site, callee in apart if choice.exhausted or not choice.keep(site, callee)
        ]


class _State(NamedTuple):
    """What the tables depend on, of one procedure: ψ of Entry_P and GEntry_P, and behind its kept calls."""

    entry: Linear
    inside: Linear
    behind: Mapping[Site, Linear]


class _Choice:
    """The kept sites, and what the tables are with them; every procedure is taken for a root."""

    def __init__(
        self, program: Program, candidates: Sequence[tuple[Site, int]], mode: Mode, limit: int
    ) -> None:
        self._program = program
        self._piecewise = mode is Mode.PIECEWISE
        callees = callees_by_caller(candidates, len(program))
        order, _ = search_calls(program, callees)
        self._rank = {number: rank for rank, number in enumerate(order)}
        self.kept: dict[Site, int] = {}
        self._sites: list[list[Site]] = [[] for _ in program]
        self._callers: list[list[Site]] = [[] for _ in program]
        self._dags = [dag_of(procedure) for procedure in program]
        self._candidates = [[site for site, _ in sites] for sites in callees]
        self._effort = 0
        self._passes: list[Evaluation] = []
        for number in range(len(program)):
            self._passes.append(self._compute(number, {}))
        self._effort = _EFFORT * (len(candidates) + sum(len(each.points.arcs) for each in self._passes))
        self._states = [self._state(number, found) for number, found in enumerate(self._passes)]
        self._unbalanced = [1] * len(program)
        sizes = [self._size(state, 1) for state in self._states]
        self._limit = [max(limit, size) for size in sizes]

    @property
    def exhausted(self) -> bool:
        """Whether the budget is spent."""
        return self._effort < 0

    def is_free(self, callee: int) -> bool:
        """Whether a call adds nothing: its callee has one path.  Of pieces there are more for each call."""
        return not self._piecewise and self._states[callee].entry == IDENTITY

    def cost(self, site: Site, callee: int, weight: float) -> float:
        """The bits that keeping a site adds, for each of its executions."""
        found = self._passes[site.procedure]
        self._effort -= 1
        bits = math.log2(found.total + self._more(site, callee, found)) - math.log2(found.total)
        if weight > 0:
            return bits / weight
        return math.inf if bits > 0 else -math.inf

    def _more(self, site: Site, callee: int, found: Evaluation) -> int:
        """How many paths keeping a site adds to those of its procedure."""
        if found.before is None:
            found.before = self._count_before(site.procedure, found)
        point = found.points.before_call(site.block, site.call)
        behind = found.psi(point + 1).of(1)
        return found.before[point] * (self._states[callee].entry.of(behind) - behind)

    def keep(self, site: Site, callee: int) -> bool:
        """Keep a site, unless a table would exceed its limit; whether it was kept."""
        found = self._passes[site.procedure]
        free = self.is_free(callee)
        if not (free or self._piecewise) and (
            found.total + self._more(site, callee, found) > self._limit[site.procedure]
        ):
            return False
        self.kept[site] = callee
        self._sites[site.procedure].append(site)
        self._callers[callee].append(site)
        if free:
            return True
        passes = self._changed_passes(site.procedure)
        states = {number: self._state(number, found) for number, found in passes.items()}
        unbalanced = self._changed_returns(states, callee)
        if unbalanced is None or not all(
            self._fits(number, state, unbalanced.get(number, self._unbalanced[number]))
            for number, state in states.items()
        ):
            del self.kept[site]
            self._sites[site.procedure].pop()
            self._callers[callee].pop()
            return False
        for number, found in passes.items():
            self._passes[number], self._states[number] = found, states[number]
        for number, returns in unbalanced.items():
            self._unbalanced[number] = returns
        return True

    def _compute(self, number: int, changed: Mapping[int, Evaluation]) -> Evaluation:
        found = self._passes[number] if number < len(self._passes) else None
        caught = frozenset(site for site in self._sites[number] if self._matters(site))
        if found is None or found.caught != caught:
            points = self._lay_out(number)
            self._effort -= _LAYOUT * len(points.arcs)
            onward: Sequence[Sequence[int]] = [[points.arcs[arc].dst for arc in outs] for outs in points.outs]
        else:
            points, onward = found.points, found.onward
        self._effort -= len(points.arcs)
        through = {}
        for site in self._sites[number]:
            callee = self.kept[site]
            of = changed[callee] if callee in changed else self._passes[callee]
            through[points.before_call(site.block, site.call)] = of.psi(of.points.entry)
        return Evaluation(points, onward, caught, through)

    def _lay_out(self, number: int) -> Points:
        """The graph of a procedure; where a piece starts behind an exception depends on what is kept."""
        calls = [
            (site.block, site.call)
            for site in self._candidates[number]
            if site in self.kept or not self._matters(site)
        ]
        return lay_out(self._program[number], calls, self._piecewise, dag=self._dags[number])

    def _matters(self, site: Site) -> bool:
        procedure = self._program[site.procedure]
        return self._piecewise and not procedure.pads.isdisjoint(procedure.graph.out_edges[site.block])

    def _count_before(self, number: int, found: Evaluation) -> list[int]:
        """How many paths lead to each node of a procedure, or what that would be for the calls on them."""
        points = found.points
        before = [0] * len(points.outs)
        before[points.entry] = before[points.inside] = 1
        self._effort -= len(points.arcs)
        factors = {
            points.before_call(site.block, site.call): self._states[self.kept[site]].entry.a
            for site in self._sites[number]
        }
        for node in points.order:
            more = before[node]
            for target in found.onward[node]:
                before[target] += more
            if node in factors:
                before[found.onward[node][0]] += more * (factors[node] - 1)
        return before

    def _state(self, number: int, found: Evaluation) -> _State:
        points = found.points
        behind = {
            site: found.psi(points.before_call(site.block, site.call) + 1) for site in self._sites[number]
        }
        return _State(found.psi(points.entry), found.inside, behind)

    def _changed_passes(self, first: int) -> dict[int, Evaluation]:
        """A procedure and those that call it by kept calls, directly or not, as far as anything changes.

        None that is too large is followed any further: its callers would be too large as well.
        """
        changed: dict[int, Evaluation] = {}
        heap = [(self._rank[first], first)]
        waiting = {first}
        while heap:
            _, number = heappop(heap)
            changed[number] = found = self._compute(number, changed)
            entry = found.psi(found.points.entry)
            if entry == self._states[number].entry or entry.of(1) > self._limit[number]:
                continue
            for site in self._callers[number]:
                if site.procedure not in waiting:
                    waiting.add(site.procedure)
                    heappush(heap, (self._rank[site.procedure], site.procedure))
        return changed

    def _changed_returns(self, states: Mapping[int, _State], callee: int) -> dict[int, int] | None:
        """numUnbalRLPaths of the procedures where it changes, callers first; ``None`` if it is too large."""
        changed: dict[int, int] = {}
        if not self._piecewise:
            return changed
        waiting = {callee} | {self.kept[site] for number in states for site in self._sites[number]}
        heap = [(-self._rank[number], number) for number in waiting]
        heapify(heap)
        while heap:
            _, number = heappop(heap)
            self._effort -= len(self._callers[number])
            returns = 1
            for site in self._callers[number]:
                caller = site.procedure
                state = states.get(caller, self._states[caller])
                returns += state.behind[site].of(changed.get(caller, self._unbalanced[caller]))
            if returns == self._unbalanced[number]:
                continue
            changed[number] = returns
            if not self._fits(number, states.get(number, self._states[number]), returns):
                return None
            for site in self._sites[number]:
                if (inner := self.kept[site]) not in waiting:
                    waiting.add(inner)
                    heappush(heap, (-self._rank[inner], inner))
        return changed

    def _size(self, state: _State, unbalanced: int) -> int:
        return state.entry.of(1) + (state.inside.of(unbalanced) if self._piecewise else 0)

    def _fits(self, number: int, state: _State, unbalanced: int) -> bool:
        return max(self._size(state, unbalanced), unbalanced) <= self._limit[number]
