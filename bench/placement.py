"""How many counters, and how often they are incremented: the columns of BL94 §6.1 for a measured profile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from trodden.plan.probes import AddTrips
from trodden.profile.model import FunctionProfile, Profile

# BL94 Table 2 and §6.1, four C programs: cc1, espresso, xlisp, eqntott.
PAPER_SHARE = "39-46%"
PAPER_REDUCTION = "3-4x"


@dataclass(frozen=True)
class Placement:
    """Edges and counters of a program; increments with a counter in every block, and with those chosen.

    ``trips`` are those of the latter that add a loop's trips on leaving it instead of counting inside.
    """

    functions: int
    edges: int
    counters: int
    redundant: int
    optimal: int
    trips: int

    @property
    def share(self) -> float:
        """The part of the edges that has a counter."""
        return self.counters / self.edges

    @property
    def reduction(self) -> float:
        """By which factor there are fewer increments than with a counter in every block."""
        return self.redundant / self.optimal if self.optimal else 1.0

    def as_json(self) -> dict[str, float]:
        """For the file of results."""
        return {**asdict(self), "share": self.share, "reduction": self.reduction}


def placement(profile: Profile) -> Placement:
    """What a profile says of the placement that counted it."""
    return placement_of(profile.functions.values())


def placement_of(functions: Iterable[FunctionProfile]) -> Placement:
    """The placement of some functions, weighed by how often each edge and block was run."""
    number = edges = counters = redundant = optimal = trips = 0
    for function in functions:
        graph, plan = function.facts.graph, function.facts.plan
        number += 1
        edges += sum(1 for _ in graph.flow_edges())
        counters += plan.slots
        redundant += sum(function.counted_blocks[: graph.exit])
        for edge, probes in plan.on_edges.items():
            taken = function.counted_edges[edge] or 0
            optimal += taken * len(probes)
            trips += taken * sum(isinstance(probe, AddTrips) for probe in probes)
        for block, probes in plan.on_blocks.items():
            optimal += len(probes) * function.counted_blocks[block]
    return Placement(number, edges, counters, redundant, optimal, trips)
