"""The probe vocabulary: the few things that can be asked to happen when an edge is taken.

A plan never says how a probe is carried out; the reference interpreter, the native lowering and the
Python lowering each do that in their own way and answer with the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Count:
    """Add one to counter ``slot``."""

    slot: int


@dataclass(frozen=True, slots=True)
class AddTrips:
    """Add to counter ``slot`` how often ``back_edge`` was taken since its loop was entered.

    It stands on the edges that leave the loop: the optimisation of BL94 §6.3 that takes a counter
    out of a loop whose trips can be told from a value that the program keeps anyway.
    """

    slot: int
    back_edge: int


Probe = Count | AddTrips


@dataclass(frozen=True, slots=True)
class EdgeMeasure:
    """The slot holds the frequency of one edge."""

    edge: int


@dataclass(frozen=True, slots=True)
class BlockMeasure:
    """The slot holds the frequency of one vertex."""

    block: int


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """The slot holds the frequency of an edge once more, to be compared with what the others say of it."""

    edge: int


Measure = EdgeMeasure | BlockMeasure | SecondOpinion


@dataclass(frozen=True)
class Plan:
    """Probes on the edges and blocks of one graph, and what their counters mean.

    ``measures[slot]`` says what the counter ``slot`` holds.  ``free`` are edges that carry no counter
    although they break a cycle (the heuristic of BL94 Figure 11 removed it): block counts follow all
    the same, the counts of those edges do not.
    """

    scheme: str
    measures: tuple[Measure, ...]
    on_edges: Mapping[int, Sequence[Probe]] = field(default_factory=dict)
    on_blocks: Mapping[int, Sequence[Probe]] = field(default_factory=dict)
    free: frozenset[int] = frozenset()

    @property
    def slots(self) -> int:
        """How many counters the plan needs."""
        return len(self.measures)


@dataclass(frozen=True, slots=True)
class Trip:
    """A loop whose trips the ground can tell without a counter inside.

    ``back_edge`` is its only back edge, ``exits`` are the edges that leave it, ``price`` is what
    telling the trips costs on all of them together.
    """

    back_edge: int
    exits: tuple[int, ...]
    price: float
