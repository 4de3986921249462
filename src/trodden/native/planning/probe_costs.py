"""What a probe costs on each edge of a native function: expected frequency times instructions.

An increment is one instruction on x86-64, wherever it is: the jump that a block on a critical edge would need
is mostly removed by LLVM's block placement (a cost for it made the programs of the benchmark slower, not
faster).  On an edge that cannot be split (a computed goto, an unwind edge) the target has to distinguish its
in-edges by a phi.  A loop whose trip count follows from an induction variable costs only what is added at its
exits.
"""

from __future__ import annotations

from collections.abc import Sequence

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.analysis.induction import Induction
from trodden.plan.probes import CountableLoop

MERGED = 8.0


def edge_costs(read: FunctionCfg, weights: Sequence[float]) -> list[float]:
    """The cost of a probe on every edge of the function's graph."""
    costs = list(weights)
    for index in range(len(read.positions)):
        if not read.splittable(index) and not read.needs_no_block(index):
            costs[index] *= MERGED
    return costs


def find_countable_loops(
    read: FunctionCfg, weights: Sequence[float]
) -> tuple[list[CountableLoop], dict[int, Induction]]:
    """The loops that need no counter on their back edge, and the induction variables of their trip counts."""
    countable_loops: list[CountableLoop] = []
    inductions: dict[int, Induction] = {}
    for number, loop in enumerate(read.loops.loops):
        induction = read.induction(number)
        if induction is None:
            continue
        cost = sum(weights[edge] for edge in loop.exits) * induction.flush_cost
        countable_loops.append(CountableLoop(loop.back_edges[0], tuple(loop.exits), cost))
        inductions[loop.back_edges[0]] = induction
    return countable_loops, inductions
