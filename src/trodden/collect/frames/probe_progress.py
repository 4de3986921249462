"""How far a frame has got from its program location, judging by the probes that have executed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trodden.collect.frames.code_map import CodeMap
from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.overlap_probes import BumpOverlap, ChainPath, ChainPathAt
from trodden.plan.paths.locations import Holder, Mark
from trodden.plan.probes import AddTripCount, Bump, BumpAt, Count, Plan

COUNTING = (Count, AddTripCount, Bump, BumpAt, BumpOverlap, ChainPath, ChainPathAt)


class Undetermined(Exception):
    """The state of a frame does not follow from what is known."""


@dataclass
class Progress:
    """A frame has reached ``block``, by ``edge`` if it took one at its program location.

    ``pending`` are the probes of the edges and blocks that it has passed which have not executed yet.
    ``register_stored``: if this location stores the path register in its stack slot, it has done so.
    """

    block: int
    edge: int | None = None
    pending: list[Mark] = field(default_factory=list)
    register_stored: bool = True


class ProbeProgress:
    """Follows the frames of one function; the probes of edges that are ``silent`` have no code."""

    def __init__(
        self, graph: Graph, plan: Plan, code: CodeMap, silent: frozenset[tuple[int, int]] = frozenset()
    ) -> None:
        self._graph = graph
        self._plan = plan
        self._code = code
        self._all_probes = code.all_probes()
        self._silent = silent

    def is_reliable(self, location: int) -> bool:
        """Whether a location shares no instructions, and no probe of its edges may have executed unseen.

        LLVM may merge the probes of several edges: they execute behind the location then, or before it.
        """
        if not self._code.numbering.has(location) or self._code.is_shared(location):
            return False
        edge = self._code.numbering.edge_of(location)
        here = {location} if edge is None else {location, self._graph.edges[edge].src}
        return not here & self._code.unmarked or all(
            map(self._has_all_probes, [edge] if edge is not None else self.edges_of(location))
        )

    def edges_of(self, block: int) -> list[int]:
        """The edges into a block and out of it."""
        edges = dict.fromkeys([*self._graph.in_edges[block], *self._graph.out_edges[block]])
        return [edge for edge in edges if self._graph.edges[edge].kind is EdgeKind.FLOW]

    def _in_edges(self, block: int) -> list[int]:
        return [edge for edge in self.edges_of(block) if self._graph.edges[edge].dst == block]

    def out_edges(self, block: int) -> list[int]:
        """The edges out of a block."""
        return [edge for edge in self.edges_of(block) if self._graph.edges[edge].src == block]

    def _has_all_probes(self, edge: int) -> bool:
        """Whether the counting probes of an edge are in the code, or were merged into its target."""
        target = self._graph.edges[edge].dst
        for number in self._counting(edge):
            if not self._is_in_code(Mark(Holder.EDGE, edge, number)):
                return target < self._graph.exit and self._is_in_code(Mark(Holder.MERGED, target))
        return True

    def _is_in_code(self, probe: Mark) -> bool:
        return self._code.numbering.mark(probe) in self._all_probes

    def progress(self, location: int, index: int) -> Progress:
        """The progress of a frame whose next instruction, at a reliable location, has this index."""
        ahead = self._code.probes_ahead(index)
        if ahead is None:
            raise Undetermined("a probe is being executed")
        if self._code.may_be_in_successor(index):
            raise Undetermined("the next block may have begun")
        here = self._code.probes_at(location)
        exchanged = {
            code for code in self._code.probes_of_predecessor_ahead(index) if self._enters(location, code)
        }
        pending = self._decoded((here & ahead) | exchanged)
        if any(probe.holder is Holder.MERGED for probe in pending):
            raise Undetermined("only a phi knows which edge was taken")
        self._check_pending(location, self._decoded(here & ahead))
        executed = here - ahead - exchanged
        if executed:
            executed -= self._code.probes_elsewhere(index)
        found = self._follow(location, self._decoded(executed), pending)
        found.register_stored = not any(probe.holder is Holder.SLOT for probe in pending)
        return found

    def _decoded(self, codes: Iterable[int]) -> list[Mark]:
        found = map(self._code.numbering.mark_of, codes)
        return [probe for probe in found if probe is not None]

    def _enters(self, location: int, code: int) -> bool:
        """Whether a code is of a probe that executes when a block is entered."""
        probe = self._code.numbering.mark_of(code)
        if probe is None or location >= self._graph.exit:
            return False
        if probe.holder is Holder.EDGE:
            source, target, _ = self._graph.edges[probe.index]
            return target == location != source
        return probe.holder in (Holder.BLOCK, Holder.MERGED) and probe.index == location

    def _check_pending(self, location: int, pending: Iterable[Mark]) -> None:
        """A pending probe at a location must belong to its own edges, or to those of a successor."""
        edge = self._code.numbering.edge_of(location)
        block = location if edge is None else self._graph.edges[edge].dst
        expected = {block} | {self._graph.edges[each].dst for each in self._graph.out_edges[block]}
        for probe in pending:
            if probe.holder is Holder.EDGE:
                source, target, _ = self._graph.edges[probe.index]
                known = target == block or source in expected
            else:
                known = probe.holder is Holder.SLOT or probe.index in expected
            if not known:
                raise Undetermined("a probe of an unrelated block is at this location")

    def _follow(self, location: int, executed: Sequence[Mark], pending: Sequence[Mark]) -> Progress:
        """Follow the edges of executed probes from a location."""
        own_edge = self._code.numbering.edge_of(location)
        advanced = self._advanced_probes(location)
        taken = {probe.index for probe in executed if probe.holder is Holder.EDGE} | advanced
        if own_edge is not None and self._has_probes(own_edge, (self._graph.edges[own_edge].src,)):
            # Some of its probes execute before its own block begins.
            taken.add(own_edge)
        entered = {probe.index for probe in executed if probe.holder is Holder.BLOCK}
        found = self._start(location, own_edge, taken, entered)
        visited = {found.block}
        followed: list[int] = []
        passed = self._passed_before(location, own_edge, found)
        while True:
            leaving = self._taken_from(found.block, taken - passed, entered - visited)
            if not leaving:
                break
            if len(leaving) > 1:
                raise Undetermined("two out-edges of a block were taken")
            found = Progress(self._graph.edges[leaving[0]].dst, leaving[0])
            followed += [edge for edge in leaving if edge not in advanced]
            passed.add(leaving[0])
            visited.add(found.block)
        if taken - passed or entered - visited:
            raise Undetermined("a probe has executed on an edge that was not followed")
        if own_edge is None or found.edge is not None:
            found.pending = self._pending(location, executed, pending, passed, followed, visited)
        return found

    def _start(self, location: int, own_edge: int | None, taken: set[int], entered: set[int]) -> Progress:
        """The progress before further edges are followed; a block on an edge may have taken that edge."""
        if own_edge is None:
            return Progress(location)
        source, target, _ = self._graph.edges[own_edge]
        beyond = any(self._graph.edges[edge].src == target for edge in taken - {own_edge})
        if own_edge in taken or target in entered or beyond:
            return Progress(target, own_edge)
        return Progress(source)

    def _passed_before(self, location: int, own_edge: int | None, start: Progress) -> set[int]:
        """The edges that were taken before, by which control reached the location."""
        if own_edge is not None:
            return {own_edge} if start.edge is not None else set()
        return {edge for edge in self._in_edges(location) if self._graph.edges[edge].src != location}

    def _taken_from(self, block: int, taken: set[int], entered: set[int]) -> list[int]:
        """The out-edges of a block that were taken, by their own probes or by those of what follows."""
        leaving = [edge for edge in taken if self._graph.edges[edge].src == block]
        return leaving or self._edges_without_probes(
            block, {self._graph.edges[edge].src for edge in taken} | entered
        )

    def _pending(
        self,
        location: int,
        executed: Sequence[Mark],
        pending: Sequence[Mark],
        passed: set[int],
        followed: Sequence[int],
        visited: set[int],
    ) -> list[Mark]:
        """The probes of all edges and blocks that the frame has passed which have not executed."""
        found = [
            probe
            for probe in pending
            if (probe.holder is Holder.EDGE and probe.index in passed)
            or (probe.holder is Holder.BLOCK and probe.index == location)
        ]
        # Probes of an edge that was followed may also be at a location that has not been reached.
        found += [probe for probe in self._on_edges(followed) if probe not in (*executed, *found)]
        for block in visited - {location}:
            found += [probe for probe in self._on_block(block) if probe not in executed]
        if any(self._graph.edges[edge].src == self._graph.edges[edge].dst == location for edge in passed):
            # The block is about to begin again; probes that executed in it belong to the iteration before.
            found += [probe for probe in self._on_block(location) if probe not in found]
        return found

    def _on_edges(self, edges: Iterable[int]) -> list[Mark]:
        return [Mark(Holder.EDGE, edge, number) for edge in edges for number in self._counting(edge)]

    def _on_block(self, block: int) -> list[Mark]:
        probes = range(len(self._plan.on_blocks.get(block, ())))
        return [Mark(Holder.BLOCK, block, number) for number in probes]

    def _advanced_probes(self, location: int) -> set[int]:
        """The out-edge of a block whose probes execute before the block, which has to stay empty."""
        if location >= self._graph.exit:
            return set()
        leaving = self.out_edges(location)
        if len(leaving) != 1 or not self._counts(leaving[0]):
            return set()
        edge = leaving[0]
        target = self._graph.edges[edge].dst
        if target != self._graph.exit and self._is_in_code(Mark(Holder.MERGED, target)):
            return set()
        numbering = self._code.numbering
        if self._has_probes(edge, (location, numbering.on_edge(edge), target)):
            return set()
        entering = self._in_edges(location)
        before = [self._graph.edges[each].src for each in entering] + [*map(numbering.on_edge, entering)]
        if self._has_probes(edge, before):
            return {edge}
        if not self._has_all_probes(edge) and not self._code.unmarked & {*before}:
            return set()
        raise Undetermined("the probes of the out-edge were not found")

    def _has_probes(self, edge: int, locations: Iterable[int]) -> bool:
        """Whether probes of an edge are at any of some locations."""
        probes = self._decoded(code for each in locations for code in self._code.probes_at(each))
        return any((probe.holder, probe.index) == (Holder.EDGE, edge) for probe in probes)

    def _edges_without_probes(self, block: int, targets: set[int]) -> list[int]:
        """The edges without counting probes from a block to any of ``targets``."""
        edges = self.out_edges(block) if targets and block != self._graph.exit else []
        return [edge for edge in edges if self._graph.edges[edge].dst in targets and not self._counts(edge)]

    def _counts(self, edge: int) -> bool:
        return bool(self._counting(edge))

    def _counting(self, edge: int) -> list[int]:
        """The probes of an edge, by their numbers, that count something."""
        return [
            number
            for number, probe in enumerate(self._plan.on_edges.get(edge, ()))
            if isinstance(probe, COUNTING) and (edge, number) not in self._silent
        ]
