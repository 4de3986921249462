"""Which probes go on which edge of the procedure (BL96 §3.4, Figure 8; §4; MR98 §7).

Figure 8 works on arcs: the register is set as late and the counter of a path is bumped as early as the
chords allow.  Its result is translated to the edges of the procedure, where a removed edge carries the
probes of its dummy arc to EXIT and then those of the one from ENTRY.  At a node with a single prefix the
register is known: there additions become assignments, and bumps need no register.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from trodden.plan.overlap_probes import StartOverlap, StartOverlapAt
from trodden.plan.paths.arc_values import ArcValues
from trodden.plan.paths.chords import Increments
from trodden.plan.paths.dag import BEHIND, ArcKind, Dag
from trodden.plan.probes import Add, Bump, BumpAt, Probe, Restore, Save, Set, StartClock


@dataclass(frozen=True)
class PlacedProbes:
    """The probes on edges, on entering the procedure, and in blocks before their calls."""

    on_edges: dict[int, list[Probe]]
    on_entry: list[Probe]
    on_blocks: dict[int, list[Probe]] = field(default_factory=dict)


def single_prefixes(numbering: ArcValues) -> dict[int, int]:
    """The nodes with a single prefix, each with the sum of that prefix.

    (Two prefixes of a node have the same sum only if they start apart, where starts are numbered separately;
    there it is the sum that counts.)
    """
    dag = numbering.dag
    known = {dag.entry: 0}
    for node in dag.order[1:]:
        sums = {
            None if (before := known.get(dag.arcs[number].src)) is None else before + numbering.value[number]
            for number in dag.ins[node]
        }
        if len(sums) == 1 and (only := sums.pop()) is not None:
            known[node] = only
    return known


def place_probes(
    numbering: ArcValues,
    increments: Increments,
    may_be_cut_short: Collection[int] = frozenset(),
    timed: bool = False,
) -> PlacedProbes:
    """Figure 8 for a whole procedure.

    No bump is moved up across a block of ``may_be_cut_short``, because a path that is cut short there must
    not have been counted.  If paths are ``timed``, no probe is moved, so that the clock covers all of a path.
    """
    placement = _Placement(numbering, increments, may_be_cut_short, timed)
    return placement.on_the_procedure()


class _Placement:
    """Figure 8: ``sets`` and ``bumps`` say what arcs do to the register; other chords add to it."""

    def __init__(
        self, numbering: ArcValues, increments: Increments, may_be_cut_short: Collection[int], timed: bool
    ) -> None:
        self.dag: Dag = numbering.dag
        self.known = single_prefixes(numbering)
        self.chords: Mapping[int, int] = increments.chords
        self.potential = increments.potential
        self.may_be_cut_short = may_be_cut_short
        self.timed = timed
        self.sets: dict[int, int] = {}
        self.bumps: dict[int, int] = {}
        self.loop_number = {vertex: loop for loop, vertex in enumerate(self.dag.arrival)}
        self._initialise()
        self._count()

    def _initialise(self) -> None:
        """Set the register on the first chord of a path, or before a join with paths without chords."""
        dag = self.dag
        work = [dag.entry]
        while work:
            for number in dag.outs[work.pop()]:
                target = dag.arcs[number].dst
                if dag.arcs[number].kind in BEHIND:
                    continue
                if number in self.chords:
                    self.sets[number] = self.chords[number]
                elif len(dag.ins[target]) == 1 and not self.timed:
                    work.append(target)
                else:
                    self.sets[number] = 0

    def _count(self) -> None:
        """Bump on the last chord of a path, or after a branch to paths with and without further chords."""
        dag = self.dag
        work = [dag.graph.exit]
        while work:
            for number in dag.ins[work.pop()]:
                source = dag.arcs[number].src
                if dag.arcs[number].kind in BEHIND:
                    continue
                if number in self.chords:
                    self.bumps[number] = self.chords[number]
                elif len(dag.outs[source]) == 1 and self._may_be_counted_before(source):
                    work.append(source)
                else:
                    self.bumps[number] = 0

    def _may_be_counted_before(self, block: int) -> bool:
        """False where paths start, because a bump precedes the probes that start a path on the same edge."""
        starts = block == self.dag.graph.root or block in self.dag.first_of or block in self.dag.arrival
        return not (self.timed or starts or block in self.may_be_cut_short)

    def on_the_procedure(self) -> PlacedProbes:
        """Combine the probes of the arcs that belong to one edge."""
        dag = self.dag
        edges = dag.graph.edges
        ends: dict[int, list[Probe]] = {}
        starts: dict[int, list[Probe]] = {}
        surrogates: dict[int, list[Probe]] = {}
        on_edges: dict[int, list[Probe]] = {}
        on_blocks: dict[int, list[Probe]] = {}
        on_entry: list[Probe] = []
        clock: list[Probe] = [StartClock()] if self.timed else []
        for number, arc in enumerate(dag.arcs):
            probes = self._probes(number)
            match arc.kind:
                case ArcKind.REAL:
                    on_edges[arc.of] = probes + self._arriving(edges[arc.of].dst)
                case ArcKind.ENTRY:
                    on_entry = clock + probes + self._arriving(arc.of)
                case ArcKind.START:
                    starts[arc.of] = clock + probes + self._arriving(arc.of)
                case ArcKind.SURROGATE:
                    surrogates[arc.of] = clock + probes
                case ArcKind.END | ArcKind.OVERLAP:
                    ends[arc.of] = probes
                case ArcKind.CALL:
                    on_blocks[arc.of] = probes
        for edge in dag.removed:
            behind = surrogates if dag.returns_in_context(edge) else starts
            on_edges[edge] = ends.get(edge, []) + behind.get(edges[edge].dst, [])
        return PlacedProbes(on_edges, on_entry, on_blocks)

    def _arriving(self, vertex: int) -> list[Probe]:
        """The probes for arriving at a split header from outside, after those of the edge."""
        if vertex not in self.dag.arrival:
            return []
        passing, _ = self.dag.outs[self.dag.arrival[vertex]]
        return [Save(self.loop_number[vertex]), *self._probes(passing)]

    def _probes(self, number: int) -> list[Probe]:
        """The probes of one arc."""
        arc = self.dag.arcs[number]
        increment = self.chords.get(number, 0)
        constant = self._constant(arc.src)
        if number in self.bumps:
            bump = self.bumps[number]
            return [Bump(signed(bump)) if constant is None else BumpAt((constant + bump) % 2**64)]
        if arc.kind is ArcKind.OVERLAP:
            return [
                StartOverlap(signed(increment), 0, 1)
                if constant is None
                else StartOverlapAt((constant + increment) % 2**64, 0, 1)
            ]
        if number in self.sets:
            return [Set(signed(self.sets[number]))]
        if arc.kind is ArcKind.SURROGATE:
            if constant is not None:
                return [Set(signed(constant + increment))]
            return [Restore(self.loop_number[arc.of], signed(increment))]
        if increment == 0:
            return []
        return [Add(signed(increment)) if constant is None else Set(signed(constant + increment))]

    def _constant(self, node: int) -> int | None:
        """What the register holds at a node, or would hold if it had been set, if that is a constant."""
        sum_there = self.known.get(node)
        return None if sum_there is None else sum_there - self.potential[node]


def signed(value: int) -> int:
    """The same value modulo 2**64, as a signed number."""
    return (value + 2**63) % 2**64 - 2**63
