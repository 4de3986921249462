"""The probe vocabulary: the few things that can be asked to happen when an edge is taken.

A plan never says how a probe is carried out; the reference interpreter, the native lowering and the
Python lowering each do that in their own way and answer with the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

WORD = 1 << 64
"""The path register is a word of the machine: its arithmetic wraps around here."""


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


@dataclass(frozen=True, slots=True)
class Set:
    """Let the path register be ``value`` (BL96 §3.4: ``r = Inc``)."""

    value: int


@dataclass(frozen=True, slots=True)
class Add:
    """Add ``value`` to the path register (BL96 §3.4: ``r += Inc``)."""

    value: int


@dataclass(frozen=True, slots=True)
class Bump:
    """The path whose number is the register plus ``add`` has ended here (``count[r + Inc]++``)."""

    add: int = 0


@dataclass(frozen=True, slots=True)
class BumpAt:
    """The path ``path`` has ended here, whatever the register holds (``count[Inc]++``)."""

    path: int


@dataclass(frozen=True, slots=True)
class Save:
    """Keep the register in ``cell``: the number on entry to a loop (MR98 §7)."""

    cell: int


@dataclass(frozen=True, slots=True)
class Restore:
    """Let the register be what ``cell`` keeps plus ``add`` (MR98 §7)."""

    cell: int
    add: int


@dataclass(frozen=True, slots=True)
class StartClock:
    """A path starts here: its time is taken from now on (BL96 §1.2); each Bump adds the time since."""


Probe = Count | AddTrips | Set | Add | Bump | BumpAt | Save | Restore | StartClock


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
class Paths:
    """How the paths of a graph are numbered (BL96 §3.2, §4): all that reading their table back needs.

    Paths end on ``back_edges`` and ``cuts`` and start anew behind them.  ``handlers`` are the edges behind a
    call that returns twice (setjmp), where control may appear from nowhere: paths end before the call
    and start behind it.  A self loop among the edges is no end of a path (§4.1): it has a counter of
    its own and stands in none of the three.  ``number`` is how many paths there can be.  They are numbered
    in context if ``context`` (MR98 §7).  ``dense``: they have one counter each, behind those of the plan's
    measures; otherwise they are kept by number.  ``timed``: beside each count there is a sum of time.
    """

    number: int
    back_edges: tuple[int, ...] = ()
    cuts: tuple[int, ...] = ()
    handlers: tuple[int, ...] = ()
    context: bool = False
    dense: bool = True
    timed: bool = False


@dataclass(frozen=True)
class Plan:
    """Probes on the edges and blocks of one graph, and what their counters mean.

    ``measures[slot]`` says what the counter ``slot`` holds.  If there are ``paths`` and they are dense, the
    counters behind the measures are theirs: first one a path, then, if timed, one more a path.  ``on_entry``
    are the probes of entering the procedure.  ``free`` are edges that carry no counter
    although they break a cycle (the heuristic of BL94 Figure 11 removed it): block counts follow all
    the same, the counts of those edges do not.
    """

    scheme: str
    measures: tuple[Measure, ...]
    on_edges: Mapping[int, Sequence[Probe]] = field(default_factory=dict)
    on_blocks: Mapping[int, Sequence[Probe]] = field(default_factory=dict)
    free: frozenset[int] = frozenset()
    on_entry: Sequence[Probe] = ()
    paths: Paths | None = None

    @property
    def slots(self) -> int:
        """How many counters the plan needs."""
        table = self.paths.number if self.paths is not None and self.paths.dense else 0
        return len(self.measures) + (2 * table if self.paths is not None and self.paths.timed else table)


@dataclass(frozen=True, slots=True)
class Trip:
    """A loop whose trips the ground can tell without a counter inside.

    ``back_edge`` is its only back edge, ``exits`` are the edges that leave it, ``price`` is what
    telling the trips costs on all of them together.
    """

    back_edge: int
    exits: tuple[int, ...]
    price: float
