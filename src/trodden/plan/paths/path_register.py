"""What the path register holds, block by block, before any code is made of it.

The register of BL96 is never a variable of its own.  Its value at a place is either a constant or
``base + constant`` where the base is a phi; setting it and adding to it cost nothing until two different
values meet.  So most of the paper's Figure 8 falls out by itself: what is known needs no register, and an
addition is folded into the address of the counter or into the value that a phi takes on that edge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import topological_order
from trodden.plan.probes import Add, Plan, Probe, Restore, Save, Set


class Value(NamedTuple):
    """A number that is known but for its base, the name of an SSA value (or none at all)."""

    base: str | None
    add: int

    def plus(self, amount: int) -> Value:
        """The value with a constant added."""
        return Value(self.base, self.add + amount)


UNSET = Value(None, 0)
"""What the register holds where nobody will look."""

CELL = "trodden.cell"
"""The base that stands for what the frame's cell holds at the moment (see cells.py)."""


@dataclass
class Register:
    """The register's value in every block (``at``) and where each edge arrives (``along``).

    ``at[v]`` is ``None`` where nothing has been set.  In the blocks of ``kept`` an unknown register goes
    over into the frame's cell, and is taken from there when it is wanted again.  ``cells`` is what the cell
    of a loop holds inside it (MR98 §7).  ``phis[name]`` are the edges whose values meet in a base, and what
    each brings along.
    """

    at: list[Value | None]
    kept: Collection[int] = frozenset()
    along: dict[int, Value | None] = field(default_factory=dict)
    cells: dict[int, Value | None] = field(default_factory=dict)
    phis: dict[str, tuple[int, dict[int, Value]]] = field(default_factory=dict)

    def leaving(self, block: int) -> Value | None:
        """The register at the end of a block."""
        value = self.at[block]
        if value is not None and value.base is not None and block in self.kept:
            return Value(CELL, value.add)
        return value

    def after(self, value: Value | None, probes: Iterable[Probe]) -> Value | None:
        """The register once the probes have been carried out."""
        for probe in probes:
            match probe:
                case Set(amount):
                    value = Value(None, amount)
                case Add(amount):
                    value = value.plus(amount) if value is not None else None
                case Restore(cell, amount):
                    kept = self.cells.get(cell)
                    value = kept.plus(amount) if kept is not None else None
        return value

    def saved(self, value: Value | None, probes: Sequence[Probe]) -> Iterable[tuple[int, Value | None]]:
        """What the probes of an edge put into cells."""
        for position, probe in enumerate(probes):
            if isinstance(probe, Save):
                yield probe.cell, self.after(value, probes[:position])

    def needed(self, used: Iterable[Value | None]) -> dict[str, tuple[int, dict[int, Value]]]:
        """The phis behind the values in use, and behind what they take in turn."""
        waiting = [value.base for value in used if value is not None and value.base is not None]
        known = {CELL}
        found: dict[str, tuple[int, dict[int, Value]]] = {}
        while waiting:
            name = waiting.pop()
            if name not in known:
                known.add(name)
                found[name] = self.phis[name]
                waiting += [value.base for value in found[name][1].values() if value.base is not None]
        return found


def track(graph: Graph, plan: Plan, kept: Collection[int] = frozenset()) -> Register:
    """Follow the register through the procedure: values that meet and differ become a phi.

    Passes over the blocks go on until nothing changes.  A block that has a phi keeps it, so each of
    them changes but a few times, and a pass sees nearly all changes at once as it goes forward.
    """
    register = Register([None] * len(graph.labels), kept)
    order = topological_order(graph)
    reached = set(order)
    coming = {
        vertex: [
            e
            for e in graph.in_edges[vertex]
            if graph.edges[e].kind is EdgeKind.FLOW and graph.edges[e].src in reached
        ]
        for vertex in order
    }
    merged: set[str] = set()
    start = register.after(None, plan.on_entry)
    changed = True
    while changed:
        changed = False
        keeping: dict[int, list[tuple[int, Value | None]]] = {}
        for vertex in order:
            for edge in coming[vertex]:
                probes = plan.on_edges.get(edge, ())
                before = register.leaving(graph.edges[edge].src)
                for cell, value in register.saved(before, probes):
                    keeping.setdefault(cell, []).append((edge, value))
                register.along[edge] = register.after(before, probes)
            arriving = [register.along[edge] for edge in coming[vertex]]
            arriving += [start] if vertex == graph.root else []
            changed |= _meet(f"trodden.r.{vertex}", arriving, merged, register.at, vertex)
        for cell, brought in keeping.items():
            values = [value for _, value in brought]
            if any(value is not None and value.base == CELL for value in values):
                merged.add(f"trodden.c.{cell}")
            changed |= _meet(f"trodden.c.{cell}", values, merged, register.cells, cell)
    for vertex in order:
        _take_in(register, f"trodden.r.{vertex}", vertex, {e: register.along[e] for e in coming[vertex]})
    for cell, brought in keeping.items():
        name = f"trodden.c.{cell}"
        header = graph.edges[brought[0][0]].dst
        entering = dict(brought)
        kept = {e: entering.get(e, Value(name, 0)) for e in coming[header]}
        _take_in(register, name, header, kept)
    return register


def _meet(
    name: str,
    arriving: Sequence[Value | None],
    merged: set[str],
    known: list[Value | None] | dict[int, Value | None],
    place: int,
) -> bool:
    """Join what arrives at a place; whether that is another value than before."""
    values = {value for value in arriving if value is not None}
    if len(values) > 1:
        merged.add(name)
    joined = Value(name, 0) if name in merged else next(iter(values), None)
    before = known[place] if isinstance(known, list) else known.get(place)
    known[place] = joined
    return joined != before


def _take_in(register: Register, name: str, vertex: int, brought: dict[int, Value | None]) -> None:
    held = register.at[vertex] if name.startswith("trodden.r.") else register.cells.get(_number(name))
    if held == Value(name, 0):
        register.phis[name] = (vertex, {edge: value or UNSET for edge, value in brought.items()})


def _number(name: str) -> int:
    return int(name.rsplit(".", 1)[1])
