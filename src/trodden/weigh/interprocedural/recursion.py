"""How often the functions of a recursive component are invoked (the cycles of WL94 §5).

Algorithm 3 handles one head of a cycle after the other and ignores the cycles of its descendants.  Here the
flow equations of the whole component are solved by Gauss-Seidel sweeps in depth-first order, in which only
calls that close a cycle use the values of the previous sweep, so that one sweep follows a cycle of any length
once around.

Such sweeps without calls from outside also determine whether recursion ends.  The asymptotic growth factor of
positive values is the paper's cyclic probability where a component has one head, and generalizes it to
several: recursion ends if and only if it is below one (Stein and Rosenberg).  It lies between the least and
the largest growth of any values in one sweep (Collatz and Wielandt).

As in the paper it is the cyclic probability that is bounded: the calls that close cycles are scaled down, all
by the same factor.  The others are left as they are, or functions deep in a component of hundreds of
functions would seem to be never called.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trodden.weigh.frequency.propagate import HIGHEST_WEIGHT

_CLOSE = 1e-10
"""Relative: bounds this close determine the value between them."""

_SETTLED = 1e-12
"""Relative: a change this small is as good as none."""

_PATIENCE = 2000
"""Sweeps after which the upper bound is used as the growth factor: the component then ends sooner."""

_PULLS = 200
"""During so many sweeps all values are rescaled so that calls in and out balance; then sweeps go on alone."""

_Arriving = Sequence[Sequence[tuple[int, float]]]
"""For each member its callers, and how often each calls it per invocation."""


@dataclass(frozen=True)
class RecursionSolution:
    """Invocations of each member, and by how much the calls that close cycles were scaled down."""

    invocations: list[float]
    scale: float


def solve_recursion(
    inflow: Sequence[float],
    calls: Iterable[tuple[int, int, float]],
    max_iterations: float,
    instead: float | None = None,
) -> RecursionSolution:
    """Solve the flow equations of one component whose members are numbered in depth-first order.

    ``inflow`` is how often each is called from outside and ``calls`` are caller, callee and local call
    frequency of the calls inside.  Where calling the component would lead to more than ``max_iterations``
    rounds through its cycles, the calls that close one (the callee's number is not the larger) are scaled
    down until it leads to ``instead`` as many, or to just as many.
    """
    arriving: list[list[tuple[int, float]]] = [[] for _ in inflow]
    for caller, callee, frequency in calls:
        arriving[callee].append((caller, frequency))
    bound = 1 - 1 / max_iterations
    growth = _growth(arriving, bound)
    if growth <= bound:
        return RecursionSolution(_solve(inflow, arriving, max_iterations), 1.0)
    scale = (1 - 1 / (instead or max_iterations)) / growth
    scaled = [
        [(caller, often if caller < callee else often * scale) for caller, often in callers]
        for callee, callers in enumerate(arriving)
    ]
    return RecursionSolution(_solve(inflow, scaled, max_iterations), scale)


def _sweep(start: Sequence[float], inflow: Sequence[float], arriving: _Arriving) -> list[float]:
    """One Gauss-Seidel sweep."""
    values = list(start)
    for member, callers in enumerate(arriving):
        value = inflow[member]
        for caller, often in callers:
            value += often * values[caller]
        values[member] = min(value, HIGHEST_WEIGHT)
    return values


def _growth(arriving: _Arriving, bound: float) -> float:
    """The asymptotic growth factor of sweeps; some value below ``bound`` if it is below.

    A sweep depends only on the values of the members whose calls close cycles, so these determine it.
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


def _solve(inflow: Sequence[float], arriving: _Arriving, max_iterations: float) -> list[float]:
    """Sweep until convergence.

    Every few sweeps all values are scaled by one factor, so that calls in and out balance: sweeps alone are
    slow at that where recursion hardly ends.
    """
    leaving = [1.0] * len(inflow)
    for callers in arriving:
        for caller, often in callers:
            leaving[caller] -= often
    entering = sum(inflow)
    values = list(inflow)
    for sweep in range(int(_PULLS + 50 * max_iterations)):
        before = values
        values = _sweep(before, inflow, arriving)
        if all(abs(new - old) <= _SETTLED * new for new, old in zip(values, before, strict=True)):
            break
        if sweep % 4 == 3 and sweep < _PULLS:
            balance = sum(value * rest for value, rest in zip(values, leaving, strict=True))
            if balance > 0:
                values = [min(value * entering / balance, HIGHEST_WEIGHT) for value in values]
    return values
