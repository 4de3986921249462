"""How often the functions of a recursive component are invoked (the cycles of WL94 §5).

Algorithm 3 takes one head of a cycle after the other and leaves the cycles of its descendants out of
account.  Here the flow equations of the whole component are solved: sweeps in the order of a depth-first
search, in which only calls that close a cycle use the values of the sweep before, so one sweep follows a
cycle of any length all the way round.

Whether recursion ends shows in such sweeps too, if there are no calls from outside.  By how much they let
positive values grow in the long run is the paper's cyclic probability where a component has one head, and
carries it over to those with several: recursion ends exactly if it is below one (Stein and Rosenberg).  It
lies between the least and the largest growth of any values in one sweep (Collatz and Wielandt).

As in the paper it is the cyclic probability that is bounded: the calls that close cycles are scaled down, all
by the same factor.  Those that lead on are left as they are, or what lies deep in a component of hundreds of
functions would seem to be never called.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trodden.weigh.frequency.propagate import HIGHEST_WEIGHT

_CLOSE = 1e-10
"""Relative: bounds this close tell what lies between them."""

_SETTLED = 1e-12
"""Relative: a change this small is as good as none."""

_PATIENCE = 2000
"""Sweeps after which the upper bound of growth is taken for it: the component ends all the sooner."""

_PULLS = 200
"""During so many sweeps the whole is pulled to where calls in and out balance; then sweeps alone go on."""

_Arriving = Sequence[Sequence[tuple[int, float]]]
"""For each member who calls it, and how often for one invocation of his."""


@dataclass(frozen=True)
class Settled:
    """Invocations of each member, and by how much the calls that close cycles were scaled down."""

    invocations: list[float]
    scale: float


def settle(
    inflow: Sequence[float],
    calls: Iterable[tuple[int, int, float]],
    most_rounds: float,
    instead: float | None = None,
) -> Settled:
    """Solve the flow equations of one component whose members are numbered in depth-first order.

    ``inflow`` is how often each is called from outside and ``calls`` are caller, callee and local call
    frequency of the calls inside.  Where calling the component would lead to more than ``most_rounds``
    rounds through its cycles, the calls that close one (the callee's number is not the larger) are scaled
    down until it leads to ``instead`` as many, or to just as many.
    """
    arriving: list[list[tuple[int, float]]] = [[] for _ in inflow]
    for caller, callee, frequency in calls:
        arriving[callee].append((caller, frequency))
    bound = 1 - 1 / most_rounds
    growth = _growth(arriving, bound)
    if growth <= bound:
        return Settled(_solve(inflow, arriving, most_rounds), 1.0)
    scale = (1 - 1 / (instead or most_rounds)) / growth
    scaled = [
        [(caller, often if caller < callee else often * scale) for caller, often in callers]
        for callee, callers in enumerate(arriving)
    ]
    return Settled(_solve(inflow, scaled, most_rounds), scale)


def _sweep(start: Sequence[float], inflow: Sequence[float], arriving: _Arriving) -> list[float]:
    """The values that follow from others, each used as soon as it is there."""
    values = list(start)
    for member, callers in enumerate(arriving):
        value = inflow[member]
        for caller, often in callers:
            value += often * values[caller]
        values[member] = min(value, HIGHEST_WEIGHT)
    return values


def _growth(arriving: _Arriving, bound: float) -> float:
    """By how much sweeps let values grow in the long run; anything below ``bound`` if it is below.

    A sweep takes up nothing but the values of the members whose calls close cycles, so these decide.
    """
    closing = sorted({i for member, callers in enumerate(arriving) for i, _ in callers if i >= member})
    nothing = [0.0] * len(arriving)
    shape = [1.0] * len(arriving)
    most = 0.0
    for _ in range(_PATIENCE):
        values = _sweep(shape, nothing, arriving)
        growth = [values[member] / shape[member] for member in closing]
        most = max(growth)
        if most < bound or most - min(growth) <= _CLOSE * most:
            break
        for member in closing:
            values[member] = (values[member] / most + shape[member]) / 2
        largest = max(values[member] for member in closing)
        shape = [max(value / largest, 1 / HIGHEST_WEIGHT) for value in values]
    return most


def _solve(inflow: Sequence[float], arriving: _Arriving, most_rounds: float) -> list[float]:
    """Sweep until nothing changes any more.

    Every few sweeps all values are scaled by one factor, so that as much is called as calls: sweeps alone are
    slow at that where recursion hardly ends.
    """
    leaving = [1.0] * len(inflow)
    for callers in arriving:
        for caller, often in callers:
            leaving[caller] -= often
    entering = sum(inflow)
    values = list(inflow)
    for turn in range(int(_PULLS + 50 * most_rounds)):
        before = values
        values = _sweep(before, inflow, arriving)
        if all(abs(new - old) <= _SETTLED * new for new, old in zip(values, before, strict=True)):
            break
        if turn % 4 == 3 and turn < _PULLS:
            balance = sum(value * rest for value, rest in zip(values, leaving, strict=True))
            if balance > 0:
                values = [min(value * entering / balance, HIGHEST_WEIGHT) for value in values]
    return values
