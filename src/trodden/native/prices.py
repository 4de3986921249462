"""What a probe costs on each edge of a native function: expected frequency times instructions.

An increment is one instruction on x86-64.  On a critical edge it needs a block of its own and a jump
back; on an edge that cannot be split (a computed goto, an unwind edge) the target has to find out by a phi
where control came from.  A loop that tells its trips costs only what is added where it is left.
Pricing edges this way, before the spanning tree is chosen, is the mixed placement that Samples
studied (BL94 §7.1.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from trodden.native.induction import Induction
from trodden.native.read import FunctionRead
from trodden.plan.probes import Trip

INCREMENT = 1.0
JUMP = 1.0
MERGED = 8.0


def edge_prices(read: FunctionRead, weights: Sequence[float]) -> list[float]:
    """Price every edge of the function's graph."""
    prices: list[float] = []
    for index, weight in enumerate(weights):
        cost = INCREMENT
        if index < len(read.positions) and not read.carries_freely(index):
            cost = INCREMENT + JUMP if read.splittable(index) else MERGED
        prices.append(weight * cost)
    return prices


def find_trips(read: FunctionRead, weights: Sequence[float]) -> tuple[list[Trip], dict[int, Induction]]:
    """The loops whose back edge need not be counted inside, and what tells their trips."""
    trips: list[Trip] = []
    inductions: dict[int, Induction] = {}
    for number, loop in enumerate(read.loops.loops):
        induction = read.induction(number)
        if induction is None:
            continue
        price = 0.0
        for edge in loop.exits:
            jump = 0.0 if read.carries_freely(edge) else JUMP
            price += weights[edge] * (induction.flush_cost + jump)
        trips.append(Trip(loop.back_edges[0], tuple(loop.exits), price))
        inductions[loop.back_edges[0]] = induction
    return trips, inductions
