"""What the register ``before`` holds, block by block: the paths that the present one continues.

It is tracked as the other registers are (:mod:`trodden.plan.overlapping.registers`).  In pairs it is the
number of one path plus one, and so follows from the path register without any code.  (What the stack slot
holds does not stay there: it is read where a path has ended.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import topological_order
from trodden.plan.overlap_probes import ChainPath, ChainPathAt, Channel, ForgetPaths
from trodden.plan.overlapping.registers import Phis
from trodden.plan.overlapping.tuples import following
from trodden.plan.paths.path_register import STACK_SLOT, Base, Chosen, OverlapPhi, Part, Register, Value
from trodden.plan.probes import Plan, Probe

NOTHING = Value(None, 0)
"""The register where the present path continues none."""


class Followed(NamedTuple):
    """A path that has ended behind others."""

    before: Value
    path: Value


@dataclass
class AlongEdge:
    """What the probes of an edge do: what is counted, by the number of the probe.

    ``joined`` are values that are computed on the edge from what was before a path and that path.
    """

    before: Value
    counted: dict[int, Followed] = field(default_factory=dict)
    joined: dict[Chosen, Followed] = field(default_factory=dict)


@dataclass
class Needed:
    """The phis and, by edge, the computed values that need code; ``others`` are of the path register."""

    phis: Phis = field(default_factory=dict)
    joined: dict[int, list[Chosen]] = field(default_factory=dict)
    others: list[Value] = field(default_factory=list)


class BeforeRegister:
    """The register of a plan with tuples at the start of each block (``at``)."""

    def __init__(self, graph: Graph, plan: Plan, path: Register) -> None:
        assert plan.tuples is not None
        self.graph, self.plan, self.path = graph, plan, path
        self.at: list[Value] = [NOTHING] * len(graph.labels)
        self.edges: dict[int, AlongEdge] = {}
        self.phis: Phis = {}
        self._merged: set[Base] = set()
        self._propagate()

    def _propagate(self) -> None:
        graph, order = self.graph, topological_order(self.graph)
        reached, known = set(order), set[int]()
        arriving = {
            vertex: [
                edge
                for edge in graph.in_edges[vertex]
                if graph.edges[edge].kind is EdgeKind.FLOW and graph.edges[edge].src in reached
            ]
            for vertex in order
        }
        start = self._follow(-1, self.plan.on_entry, NOTHING, None).before
        changed = True
        while changed:
            changed = False
            for vertex in order:
                for edge in arriving[vertex]:
                    source = graph.edges[edge].src
                    if source in known:
                        probes = self.plan.on_edges.get(edge, ())
                        self.edges[edge] = self._follow(
                            edge, probes, self.at[source], self.path.at_end(source)
                        )
                values = {self.edges[edge].before for edge in arriving[vertex] if edge in self.edges}
                values |= {start} if vertex == graph.root else set()
                joined = self._join(vertex, values)
                changed |= joined != self.at[vertex] or vertex not in known
                self.at[vertex] = joined
                known.add(vertex)
        for vertex in order:
            if self.at[vertex] == Value(_phi(vertex), 0):
                brought = {edge: self.edges[edge].before for edge in arriving[vertex]}
                self.phis[_phi(vertex)] = (vertex, brought)

    def _join(self, vertex: int, values: set[Value]) -> Value:
        phi = _phi(vertex)
        if phi not in self._merged and len(values) < 2:
            only = next(iter(values), NOTHING)
            if only.base != STACK_SLOT:
                return only
        self._merged.add(phi)
        return Value(phi, 0)

    def _follow(self, edge: int, probes: Sequence[Probe], before: Value, path: Value | None) -> AlongEdge:
        found = AlongEdge(before)
        for number, probe in enumerate(probes):
            match probe:
                case ChainPath(add):
                    assert path is not None, "a path ends whose register was never set"
                    self._end(found, edge, number, path.plus(add))
                case ChainPathAt(ended):
                    self._end(found, edge, number, Value(None, ended))
                case ForgetPaths():
                    found.before = NOTHING
            path = self.path.after(path, (probe,))
        return found

    def _end(self, found: AlongEdge, edge: int, number: int, path: Value) -> None:
        assert self.plan.tuples is not None
        before = found.before
        if before != NOTHING:
            found.counted[number] = Followed(before, path)
        if self.plan.tuples.length == 2:
            found.before = path.plus(1)
        elif before.base is None and path.base is None:
            found.before = Value(None, following(self.plan, before.add, path.add))
        else:
            chosen = Chosen(Channel.LOOP, Part.BEFORE, edge, number)
            found.joined[chosen] = Followed(before, path)
            found.before = Value(chosen, 0)

    def needed(self, used: Iterable[Value]) -> Needed:
        """What the values in use follow from, and what that follows from in turn."""
        waiting = [value.base for value in used if value.base is not None]
        found, known = Needed(), set[Base]()
        while waiting:
            base = waiting.pop()
            if base in known:
                continue
            known.add(base)
            values: list[Value] = []
            if isinstance(base, Chosen) and base.part is Part.BEFORE:
                found.joined.setdefault(base.edge, []).append(base)
                values = list(self.edges[base.edge].joined[base])
            elif isinstance(base, OverlapPhi) and base.part is Part.BEFORE:
                found.phis[base] = self.phis[base]
                values = list(self.phis[base][1].values())
            else:
                found.others.append(Value(base, 0))
            waiting += [value.base for value in values if value.base is not None]
        for edge, joined in found.joined.items():
            found.joined[edge] = [each for each in self.edges[edge].joined if each in joined]
        return found


def _phi(vertex: int) -> OverlapPhi:
    return OverlapPhi(Channel.LOOP, Part.BEFORE, vertex)
