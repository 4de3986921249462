"""The probe vocabulary: the operations that a plan can place on edges and blocks.

A plan never says how a probe is executed.  The reference interpreter (:mod:`trodden.plan.interpret`) and each
front end do that in their own way, with the same results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from trodden.plan.overlap_probes import CallOverlaps, OverlapProbe, Overlaps, Tuples

WORD = 1 << 64
"""The path register is a word of the machine: its arithmetic wraps around here."""


@dataclass(frozen=True, slots=True)
class Count:
    """Add one to counter ``slot``."""

    slot: int


@dataclass(frozen=True, slots=True)
class AddTripCount:
    """Add to counter ``slot`` how often ``back_edge`` was taken since its loop was entered.

    It is placed on the exit edges of the loop: the optimisation of BL94 §6.3 that moves a counter out of a
    loop whose trip count follows from an induction variable of the program.
    """

    slot: int
    back_edge: int


@dataclass(frozen=True, slots=True)
class Set:
    """Set the path register to ``value`` (BL96 §3.4: ``r = Inc``)."""

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
    """Save the register for a loop, by its number: the path number on entry to the loop (MR98 §7)."""

    loop: int


@dataclass(frozen=True, slots=True)
class Restore:
    """Set the register to what was saved for a loop plus ``add`` (MR98 §7)."""

    loop: int
    add: int


@dataclass(frozen=True, slots=True)
class StartClock:
    """A path starts here: each Bump adds the time that has passed since (BL96 §1.2)."""


@dataclass(frozen=True, slots=True)
class EmitEntry:
    """Append to the trace that the procedure was entered."""


@dataclass(frozen=True, slots=True)
class EmitRegion:
    """The region whose number is the path register plus ``add`` ends here: append the number to the trace."""

    add: int = 0


@dataclass(frozen=True, slots=True)
class EmitRegionAt:
    """The region ``number`` ends here, whatever the register holds: append the number to the trace."""

    number: int


@dataclass(frozen=True, slots=True)
class EmitWitness:
    """Append a witness to the trace (BL94 §4.1)."""

    witness: int


@dataclass(frozen=True, slots=True)
class EmitBits:
    """Append the lowest ``bits`` bits of ``value`` to the bits that wait to be written (BL94 §6.2)."""

    value: int
    bits: int


@dataclass(frozen=True, slots=True)
class FlushBits:
    """Write the bits that wait, as one record; unless it is ``forced``, only if many are waiting."""

    forced: bool


@dataclass(frozen=True, slots=True)
class EmitTripCount:
    """Append to the trace how often ``back_edge`` was taken since its loop was entered.

    It is placed on the exit edges of the loop.
    """

    back_edge: int


TraceProbe = EmitEntry | EmitRegion | EmitRegionAt | EmitWitness | EmitBits | FlushBits | EmitTripCount

Probe = (
    Count | AddTripCount | Set | Add | Bump | BumpAt | Save | Restore | StartClock | TraceProbe | OverlapProbe
)


@dataclass(frozen=True, slots=True)
class EdgeMeasure:
    """The slot holds the frequency of one edge."""

    edge: int


@dataclass(frozen=True, slots=True)
class BlockMeasure:
    """The slot holds the frequency of one vertex."""

    block: int


@dataclass(frozen=True, slots=True)
class RedundantMeasure:
    """The slot holds the frequency of an edge redundantly, to check what follows from the others."""

    edge: int


Measure = EdgeMeasure | BlockMeasure | RedundantMeasure


@dataclass(frozen=True)
class Paths:
    """How the paths of a graph are numbered (BL96 §3.2, §4): all that decoding their table needs.

    Paths end on ``back_edges`` and ``cuts``, and new ones start after them.  ``resume_edges`` are those
    after calls that return twice (setjmp), which control may reach from anywhere: paths end before the call
    and start after it.  A self loop does not end a path (§4.1): it has a counter of its own and is
    in none of the three.  ``number`` is the number of possible paths.  With ``context`` they are numbered in
    their loop context (MR98 §7).  ``dense``: each has a counter, after those of the plan's measures;
    otherwise they are counted in a sparse path table.  ``timed``: each count has a sum of time beside it.
    """

    number: int
    back_edges: tuple[int, ...] = ()
    cuts: tuple[int, ...] = ()
    resume_edges: tuple[int, ...] = ()
    context: bool = False
    dense: bool = True
    timed: bool = False

    def same_numbers(self, other: Paths) -> bool:
        """Whether both give the same numbers to the paths of a graph, however they count them."""
        return replace(self, dense=other.dense, timed=other.timed) == other


@dataclass(frozen=True)
class Trace:
    """How the execution of a graph is recorded: all that regenerating it needs beside the graph.

    ``encoding`` is ``"paths"``, ``"witnesses"`` or ``"bits"``.  ``calls`` are the blocks that end in a call
    which may execute code with probes or may not return: each with the procedure that it certainly calls, by
    its index in the unit, or ``None``.  Regions end on ``back_edges`` and ``cuts``, before calls and at EXIT.
    ``counted`` are the self loops whose trips are counted instead.  ``resumes`` are the call blocks whose
    call may return twice, ``landings`` the blocks where control arrives from an unwinder, ``tails`` the call
    blocks whose callee takes the place of the procedure: the activation ends before the call.  ``entered``:
    entering the procedure is recorded.  ``witnesses`` are the edges that write a witness, and
    ``witness_values`` what each of them writes; if there are none, its position in ``witnesses``.
    """

    encoding: str
    calls: Mapping[int, int | None] = field(default_factory=dict)
    back_edges: tuple[int, ...] = ()
    cuts: tuple[int, ...] = ()
    counted: tuple[int, ...] = ()
    resumes: tuple[int, ...] = ()
    landings: tuple[int, ...] = ()
    entered: bool = True
    witnesses: tuple[int, ...] = ()
    witness_values: tuple[int, ...] = ()
    tails: tuple[int, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Probes on the edges and blocks of one graph, and what their counters mean.

    ``measures[slot]`` says what the counter ``slot`` holds.  If there are ``paths`` and they are dense, the
    counters after the measures are theirs: first one per path, then, if timed, another one per path.
    ``on_entry`` are the probes on entry to the procedure.  ``free`` are chords without a counter (removed
    by the heuristic of BL94 Figure 11): block counts follow without it, the counts of those edges do not.
    With ``overlaps`` the numbers that are counted are not those of ``paths``, but of the overlapping paths.
    With ``tuples`` paths are also counted in tuples of those that followed each other; if these are dense,
    their counters come last; with ``calls`` over calls and returns.
    """

    scheme: str
    measures: tuple[Measure, ...]
    on_edges: Mapping[int, Sequence[Probe]] = field(default_factory=dict)
    on_blocks: Mapping[int, Sequence[Probe]] = field(default_factory=dict)
    free: frozenset[int] = frozenset()
    on_entry: Sequence[Probe] = ()
    paths: Paths | None = None
    trace: Trace | None = None
    overlaps: Overlaps | None = None
    tuples: Tuples | None = None
    calls: CallOverlaps | None = None

    @property
    def counts_nothing(self) -> bool:
        """Whether all that is known of a run is its trace."""
        return self.trace is not None and not self.measures

    @property
    def extends(self) -> bool:
        """Whether any path is extended over a back edge."""
        return self.overlaps is not None and bool(self.overlaps.degrees)

    @property
    def two_registers(self) -> bool:
        """Whether a frame has a second register beside that of its path: of an overlap or of paths before."""
        return self.extends or self.tuples is not None

    @property
    def numbers(self) -> int:
        """How many different paths, or overlapping ones, can be counted."""
        if self.overlaps is not None:
            return self.overlaps.number
        return 0 if self.paths is None else self.paths.number

    @property
    def slots(self) -> int:
        """How many counters the plan needs."""
        return self.first_tuple + (0 if self.tuples is None or not self.tuples.dense else self.tuple_numbers)

    @property
    def first_tuple(self) -> int:
        """The slot behind those of all paths: that of the first tuple, if tuples have slots."""
        table = self.numbers if self.paths is not None and self.paths.dense else 0
        return len(self.measures) + (2 * table if self.paths is not None and self.paths.timed else table)

    @property
    def tuple_numbers(self) -> int:
        """How many numbers tuples of paths have (:mod:`trodden.plan.overlapping.tuples`)."""
        return 0 if self.tuples is None else (self.numbers + 1) ** self.tuples.length


@dataclass(frozen=True, slots=True)
class CountableLoop:
    """A loop whose trip count the front end can compute without a counter inside.

    ``back_edge`` is its only back edge, ``exits`` are its exit edges, ``cost`` is the cost of computing the
    trip count on all of them together.
    """

    back_edge: int
    exits: tuple[int, ...]
    cost: float
