"""How far the witnesses of the heuristic are from the cheapest ones."""

from __future__ import annotations

from bench.figures.witness_costs import MOST_EDGES, WitnessCosts
from bench.tables.layout.cells import picked, quotient
from bench.tables.layout.means import GEOMETRIC
from bench.tables.layout.model import Column, Section, Table
from bench.tables.layout.values import COUNT, FINE

_COSTS = WitnessCosts()
_OPTIMUM = picked(_COSTS, "optimum")

TABLE = Table(
    name="witness-costs",
    title="Witnesses beside the cheapest ones",
    description=(
        "To find the cheapest witnesses is NP-complete (BL94 §4.1). The paper has a heuristic: blockers "
        "first, then what a maximum spanning tree leaves out (§4.2); in the reverse order, Figure 16, it "
        "costs more. Here both are divided by the optimum, which is found by integer programming, by the "
        f"weights that witnesses are placed with. Functions with more than {MOST_EDGES} edges are left out, "
        "and those whose optimum was not found within five seconds."
    ),
    measures=(_COSTS,),
    sections=(
        Section(
            "costs",
            "Cost of all witnesses, optimum = 1",
            (
                Column("traced", "functions", picked(_COSTS, "traced"), COUNT),
                Column("solved", "solved", picked(_COSTS, "solved"), COUNT),
                Column("optimal", "the heuristic is optimal", picked(_COSTS, "optimal"), COUNT),
                Column(
                    "heuristic",
                    "heuristic",
                    quotient(picked(_COSTS, "heuristic"), _OPTIMUM),
                    FINE,
                    (GEOMETRIC,),
                ),
                Column(
                    "reverse",
                    "tree first",
                    quotient(picked(_COSTS, "tree first"), _OPTIMUM),
                    FINE,
                    (GEOMETRIC,),
                ),
            ),
        ),
    ),
)
