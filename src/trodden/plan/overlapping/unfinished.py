"""Overlaps that were active when control was lost: which one it was, from the path and the register.

Where a path is cut short inside an overlap, the register of the overlap is no number yet unless the overlap
has stopped before.  But which path was cut short is known, and with it the edges that it had taken and how
far the overlap had come; what the register held there identifies the path before it.
"""

from __future__ import annotations

from dataclasses import replace

from trodden.plan.overlapping.fictitious import overlap_offsets
from trodden.plan.overlapping.numbering import OverlapNumbering, OverlappingPath
from trodden.plan.overlapping.path_graph import overlap_nodes
from trodden.plan.overlapping.region import Ways
from trodden.plan.probes import Plan
from trodden.plan.routes import Route


class UnfinishedOverlaps:
    """Tells the overlaps of one plan, whose numbering is known."""

    def __init__(self, plan: Plan, numbering: OverlapNumbering) -> None:
        self._numbering = numbering
        self._ways: Ways = numbering.region.ways
        self._ahead = overlap_offsets(plan, numbering)
        self._nodes = overlap_nodes(numbering.region)
        self._degrees = dict(numbering.overlaps.degrees)

    def may_be_active(self, block: int) -> bool:
        """Whether an overlap may be active, or may have stopped and not been counted, in a block."""
        return block in self._numbering.region.owners

    def overlap(self, route: Route, register: int, word: int) -> OverlappingPath | None:
        """The overlap that was active at the end of a path that was cut short; ``None`` if there was none.

        ``register`` is that of the overlap modulo ``word``, which exceeds all numbers, fictitious ones
        included.  :class:`ValueError` if it belongs to no path that can have been before this one.
        """
        active = self._active(route)
        if active is None:
            return None
        ahead, stopped = active
        if stopped:
            return self._stopped(register, word, ahead)
        block = route.blocks[-1]
        total = (register - self._ahead[block]) % word
        if total >= self._numbering.number:
            return None
        arcs: list[int] = []
        for number, rest in self._numbering.follow(self._numbering.dag.entry, total):
            arcs.append(number)
            if self._numbering.dag.arcs[number].dst == self._nodes[block]:
                found = replace(self._numbering.with_overlap(arcs), stop=block)
                if rest == 0 and found.ahead == ahead:
                    return found
        raise ValueError(f"{self._numbering.graph.name}: no overlap arrives at {block} with this register")

    def register_at_start(self, header: int, number: int) -> int:
        """The register of an overlap that has just begun behind a path with the lowest of its numbers."""
        return number + self._ahead[header]

    def none(self, route: Route) -> int:
        """The register of a fictitious overlap at the end of a path that was cut short."""
        active = self._active(route)
        if active is None or active[1]:
            return self._numbering.number
        return self._numbering.number + self._ahead.get(route.blocks[-1], 0)

    def behind(self, before: int, route: Route) -> OverlappingPath | None:
        """The overlap that was active at the end of a path that was cut short behind another.

        That one is given by any number that it has with an overlap.
        """
        active = self._active(route)
        path = self._numbering.regenerate(before)
        if active is None or path.edges[-1] not in self._numbering.extended:
            return None
        ahead, _ = active
        edges = self._numbering.graph.edges
        return OverlappingPath(path, ahead, edges[ahead[-1]].dst if ahead else route.blocks[0])

    def _active(self, route: Route) -> tuple[tuple[int, ...], bool] | None:
        """The edges of an overlap that began with a path, and whether it has stopped before the end.

        ``None`` if there is none any more, or none can begin there.
        """
        header, edges = route.blocks[0], self._numbering.graph.edges
        if header not in self._degrees:
            return None
        owner = self._numbering.nest.owner(self._numbering.plain, header, self._degrees[header])
        if not all(e in self._ways.onward(edges[e].src) and owner.stays(e) for e in route.edges):
            return None
        passed = 0
        for position, edge in enumerate(route.edges):
            passed += self._ways.predicate(edges[edge].src)
            if owner.degree is not None and passed > owner.degree:
                return route.edges[:position], True
        return route.edges, False

    def _stopped(self, register: int, word: int, ahead: tuple[int, ...]) -> OverlappingPath | None:
        """An overlap that has passed enough predicates: its register is its number."""
        number = register % word
        if number >= self._numbering.number:
            return None
        found = self._numbering.overlapping(number)
        if found.ahead != ahead:
            raise ValueError(f"{self._numbering.graph.name}: overlap {number} goes another way")
        return found
