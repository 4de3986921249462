"""Which path was being executed when a function was left in the middle of a block.

The executors know the block and, at best, what the path register saved there.  This module computes, from a
plan alone, how the register relates to the sum of values up to the block, which identifies the prefix (see
:mod:`trodden.plan.paths.numbering`).  It follows the probes of the plan, so it holds for any placement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.plan.paths.arc_values import ArcValues
from trodden.plan.paths.dag import ArcKind
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.placement import signed, single_prefixes
from trodden.plan.probes import Add, Bump, BumpAt, Plan, Probe, Restore, Save, Set


@dataclass(frozen=True, slots=True)
class SinglePrefix:
    """The block has a single prefix, which has this ``sum``."""

    sum: int


@dataclass(frozen=True, slots=True)
class RegisterOffset:
    """The register holds the sum of the prefix plus ``amount``, modulo 2**64."""

    amount: int


def register_offsets(
    graph: Graph, plan: Plan, numbering: ArcValues | None = None
) -> list[SinglePrefix | RegisterOffset | None]:
    """For every vertex how a prefix that ends in it is decoded; ``numbering`` is that of the plan's paths.

    ``None`` where no path can be cut short or its prefix cannot be decoded: in unreachable blocks, in EXIT,
    where the paths have been counted already, and where the register is not live.
    """
    if numbering is None:
        assert plan.paths is not None
        numbering = Numbering(graph, plan.paths)
    return _Following(numbering, plan).answer()


class _Following:
    """The register less the sum of values (``ahead``), propagated from block to block.

    ``ahead[v]`` is ``None`` where the edges into ``v`` do not agree on it, and ``counted`` are the blocks
    before which paths have been counted.  ``saved[loop]`` is a saved value less the sum on entry to its loop.
    """

    def __init__(self, numbering: ArcValues, plan: Plan) -> None:
        self._value = numbering.value
        self._dag = dag = numbering.dag
        self._plan = plan
        self._single = single_prefixes(numbering)
        self._ahead: list[int | None] = [None] * len(dag.graph.labels)
        self._counted: set[int] = set()
        self._saved: dict[int, int | None] = {}
        self._back: dict[int, list[int]] = {}
        self._start: dict[int, list[int]] = {}
        for edge in sorted(dag.removed):
            behind = self._back if dag.returns_in_context(edge) else self._start
            behind.setdefault(dag.graph.edges[edge].dst, []).append(edge)
        for vertex in dag.order:
            if vertex < dag.graph.exit:
                self._arrive(vertex)

    def answer(self) -> list[SinglePrefix | RegisterOffset | None]:
        """What is known of every vertex."""
        found: list[SinglePrefix | RegisterOffset | None] = [None] * len(self._ahead)
        for vertex, ahead in enumerate(self._ahead[:-1]):
            if vertex in self._counted:
                continue
            if vertex in self._single:
                found[vertex] = SinglePrefix(self._single[vertex])
            elif ahead is not None:
                found[vertex] = RegisterOffset(signed(ahead))
        return found

    def _arrive(self, vertex: int) -> None:
        """Meet over all edges into a block; those from outside of its loop come before its back edges."""
        dag = self._dag
        incoming: set[int | None] = set()
        for number in dag.ins[dag.into(vertex)]:
            arc = dag.arcs[number]
            for probes in self._probes_of(number):
                ahead = self._ahead[arc.src] if arc.kind is ArcKind.REAL else None
                incoming.add(self._follow(number, ahead, probes, vertex))
                if arc.kind is ArcKind.REAL and (arc.src in self._counted or _counts(probes)):
                    self._counted.add(vertex)
        if vertex in dag.arrival:
            _, surrogate = dag.outs[dag.arrival[vertex]]
            for edge in self._back[vertex]:
                incoming.add(self._follow(surrogate, None, self._plan.on_edges.get(edge, ()), vertex))
        self._ahead[vertex] = incoming.pop() if len(incoming) == 1 else None

    def _probes_of(self, number: int) -> list[Sequence[Probe]]:
        """The probes of every edge that an arc from outside represents."""
        arc = self._dag.arcs[number]
        if arc.kind is ArcKind.REAL:
            return [self._plan.on_edges.get(arc.of, ())]
        if arc.kind is ArcKind.ENTRY:
            return [self._plan.on_entry]
        return [self._plan.on_edges.get(edge, ()) for edge in self._start[arc.of]]

    def _follow(self, number: int, ahead: int | None, probes: Sequence[Probe], vertex: int) -> int | None:
        """The register less the sum after an arc and, at a split header, after the PASS arc that follows."""
        dag = self._dag
        arc = dag.arcs[number]
        passing = 0
        if vertex in dag.arrival and arc.kind is not ArcKind.SURROGATE:
            passing = self._value[dag.outs[dag.arrival[vertex]][0]]
        step = self._value[number] + passing
        ahead = None if ahead is None else ahead - step
        for probe in probes:
            match probe:
                case Set(value):
                    before = self._single.get(arc.src)
                    ahead = None if before is None else value - before - step
                case Add(value):
                    ahead = None if ahead is None else ahead + value
                case Save(loop):
                    saved = None if ahead is None else ahead + passing
                    self._saved[loop] = saved if self._saved.get(loop, saved) == saved else None
                case Restore(loop, value):
                    saved = self._saved.get(loop)
                    ahead = None if saved is None else saved + value - step
        return ahead


def _counts(probes: Sequence[Probe]) -> bool:
    return any(isinstance(probe, Bump | BumpAt) for probe in probes)
