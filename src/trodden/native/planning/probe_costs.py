"""What a probe costs on each edge of a native function: expected frequency times instructions.

An increment is one instruction on x86-64, wherever it stands: the jump that a block of its own on a
critical edge would need is mostly laid out away by LLVM (a price for it made the programs of the bench
slower, not faster).  On an edge that cannot be split (a computed goto, an unwind edge) the target
has to find out by a phi where control came from.  A loop that tells its trips costs only what is added
where it is left.
"""

from __future__ import annotations

from collections.abc import Sequence

from trodden.native.analysis.function_cfg import FunctionRead
from trodden.native.analysis.induction import Induction
from trodden.plan.probes import Trip

MERGED = 8.0


def edge_prices(read: FunctionRead, weights: Sequence[float]) -> list[float]:
    """Price every edge of the function's graph."""
    prices = list(weights)
    for index in range(len(read.positions)):
        if not read.splittable(index) and not read.needs_no_block(index):
            prices[index] *= MERGED
    return prices


def find_trips(read: FunctionRead, weights: Sequence[float]) -> tuple[list[Trip], dict[int, Induction]]:
    """The loops whose back edge need not be counted inside, and what tells their trips."""
    trips: list[Trip] = []
    inductions: dict[int, Induction] = {}
    for number, loop in enumerate(read.loops.loops):
        induction = read.induction(number)
        if induction is None:
            continue
        price = sum(weights[edge] for edge in loop.exits) * induction.flush_cost
        trips.append(Trip(loop.back_edges[0], tuple(loop.exits), price))
        inductions[loop.back_edges[0]] = induction
    return trips, inductions
