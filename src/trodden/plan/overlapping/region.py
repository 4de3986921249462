"""How far overlaps go: DI, PI and DNI edges, and the overlapping graph (TZG04 §2.1, §2.3).

An overlap begins at a block and follows the path that starts there.  It stops at the (k + 1)th *predicate*,
or before: on an edge that ends the path, or that leaves what it belongs to, which is a loop for overlaps
across back edges.  What the paper leaves open is decided as follows.

- A predicate is a block with two ways on, or one that is left only where paths end (the terminating block of
  the paper).  Two parallel edges are two ways, since they are on different paths.  A self loop is no way on:
  it neither ends a path nor is part of it (BL96 §4.1).
- Loops are those that nest in any graph (:func:`trodden.graph.loops.find_nested_loops`), so that an edge out
  of an irreducible loop ends its overlap as well.  All back edges to a header belong to one loop.
- An overlap of an outer loop goes on into an inner loop, and ends on the inner back edge.
- Over calls and returns an overlap also stops in a block where paths may be cut short, as far as the
  numbering is concerned: its register then holds a number wherever it may be lost.

``passed`` is a set of numbers of predicates in the bits of an integer: bit i says that an overlap may arrive
at the block after i of them.  Bit k + 1 is for overlaps that have stopped before and are still to be counted.
An edge is DI if no overlap on it has stopped, DNI if all have, and PI otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from trodden.plan.paths.dag import ArcKind, Dag


@dataclass(frozen=True)
class Owner:
    """What overlaps belong to: a loop, by its header and depth, or a procedure.

    ``stays`` says whether an edge on which no path ends is part of an overlap.  Without a ``degree`` it is
    the largest possible one.
    """

    vertex: int
    depth: int
    degree: int | None
    stays: Callable[[int], bool] = field(compare=False, repr=False)

    def beyond(self, passed: int, predicate: bool) -> int:
        """``passed`` behind a block."""
        if self.degree is None or not predicate:
            return passed
        stopped = 1 << (self.degree + 1)
        passed <<= 1
        return passed & (2 * stopped - 1) | (stopped if passed >= 2 * stopped else 0)

    def active(self, passed: int) -> int:
        """The part of ``passed`` for overlaps that have not stopped."""
        return passed if self.degree is None else passed & ((1 << (self.degree + 1)) - 1)

    def stopped(self, passed: int) -> bool:
        """Whether some overlap has."""
        return self.active(passed) != passed


class Ways:
    """The edges out of each block, as overlaps see them."""

    def __init__(self, dag: Dag) -> None:
        if dag.arrival:
            raise ValueError(f"{dag.graph.name}: paths in loop context have no overlaps")
        self.dag = dag
        self.position = {node: index for index, node in enumerate(dag.order)}
        real = {arc.of for arc in dag.arcs if arc.kind is ArcKind.REAL}
        exit_vertex = dag.graph.exit
        self._onward = [
            [edge for edge in edges if edge in real and dag.graph.edges[edge].dst != exit_vertex]
            for edges in dag.graph.out_edges
        ]
        self._out = [
            [edge for edge in edges if edge in real or edge in dag.removed] for edges in dag.graph.out_edges
        ]

    def out(self, block: int) -> list[int]:
        """All edges that lead on from a block, with those that end paths."""
        return self._out[block]

    def onward(self, block: int) -> list[int]:
        """The edges on which no path ends."""
        return self._onward[block]

    def predicate(self, block: int) -> bool:
        """Whether a block counts as a predicate."""
        return len(self._out[block]) != 1 or not self._onward[block]


@dataclass
class Region:
    """The overlapping graphs of several owners, laid over each other.

    ``ahead`` has the edges in them, each with whether it is PI for one of the owners (or would change an
    overlap of another that has stopped); ``stops`` the blocks where overlaps may stop.  ``owners[v]`` are
    those whose overlaps may be active or waiting to be counted in ``v``, each with ``passed``.
    """

    ways: Ways
    ahead: dict[int, bool] = field(default_factory=dict)
    stops: set[int] = field(default_factory=set)
    owners: dict[int, list[tuple[Owner, int]]] = field(default_factory=dict)

    @property
    def blocks(self) -> list[int]:
        """The blocks of the overlapping graphs, in topological order."""
        found = {block for block, here in self.owners.items() if any(o.active(passed) for o, passed in here)}
        return sorted(found, key=self.ways.position.__getitem__)

    def ended(self, edge: int) -> tuple[list[Owner], list[Owner]]:
        """The owners whose overlaps an edge ends, and those whose overlaps go on."""
        source = self.ways.dag.graph.edges[edge].src
        onward = edge in self.ways.onward(source)
        ends: list[Owner] = []
        goes_on: list[Owner] = []
        for owner, _ in self.owners.get(source, ()):
            (goes_on if onward and owner.stays(edge) else ends).append(owner)
        return ends, goes_on


def explore(ways: Ways, owner: Owner, arrivals: Mapping[int, int]) -> dict[int, int]:
    """``passed`` for every block where overlaps that begin in the blocks of ``arrivals`` may arrive.

    One pass in topological order over what can be reached.
    """
    edges = ways.dag.graph.edges
    seen = set(arrivals)
    work = list(arrivals)
    while work:
        for edge in ways.onward(work.pop()):
            target = edges[edge].dst
            if target not in seen and owner.stays(edge):
                seen.add(target)
                work.append(target)
    found = dict.fromkeys(sorted(seen, key=ways.position.__getitem__), 0) | dict(arrivals)
    for block in sorted(seen, key=ways.position.__getitem__):
        passed = owner.beyond(found[block], ways.predicate(block))
        for edge in ways.onward(block):
            if owner.stays(edge):
                found[edges[edge].dst] |= passed
    return found


def lay_out(
    ways: Ways,
    begins: Iterable[tuple[Owner, Mapping[int, int]]],
    may_be_cut_short: Collection[int] = frozenset(),
) -> Region:
    """The overlapping graphs of owners, each with the blocks where its overlaps begin, without DNI edges."""
    region = Region(ways)
    for owner, arrivals in begins:
        for block, passed in explore(ways, owner, arrivals).items():
            region.owners.setdefault(block, []).append((owner, passed))
    for block, here in region.owners.items():
        predicate = ways.predicate(block)
        for owner, passed in here:
            active, behind = owner.active(passed), owner.beyond(passed, predicate)
            if not active:
                continue
            staying = [edge for edge in ways.onward(block) if owner.stays(edge)]
            ends = len(staying) != len(ways.out(block)) or not staying or block in may_be_cut_short
            if ends or (owner.degree is not None and predicate and active >> owner.degree):
                region.stops.add(block)
            if owner.active(behind):
                region.ahead.update(dict.fromkeys(staying, False))
    for edge in region.ahead:
        source = ways.dag.graph.edges[edge].src
        region.ahead[edge] = any(
            owner.stays(edge) and owner.stopped(owner.beyond(passed, ways.predicate(source)))
            for owner, passed in region.owners[source]
        )
    return region
