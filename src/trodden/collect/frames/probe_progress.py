"""How far a frame has come from the place that it is in, by the probes that it has carried out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trodden.collect.frames.code_map import CodeView
from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.paths.locations import Holder, Mark
from trodden.plan.probes import AddTrips, Bump, BumpAt, Count, Plan

COUNTING = (Count, AddTrips, Bump, BumpAt)


class Unknown(Exception):
    """Something that would have to be known cannot be."""


@dataclass
class Walk:
    """The way a frame has come: to ``block``, over ``edge`` if that was taken in the same place.

    ``probes`` are those of edges and blocks on the way that were not carried out yet.  ``stored``: the path
    register is in the frame's cell, if this is a place that puts it there.
    """

    block: int
    edge: int | None = None
    probes: list[Mark] = field(default_factory=list)
    stored: bool = True


class Reaching:
    """Follows the frames of one function."""

    def __init__(self, graph: Graph, plan: Plan, code: CodeView) -> None:
        self._graph = graph
        self._plan = plan
        self._code = code
        self._all = code.all_marks()

    def trusted(self, place: int) -> bool:
        """Whether nobody else uses the place's instructions, and all probes around it are somewhere."""
        if not self._code.numbers.has(place) or self._code.shared(place):
            return False
        edge = self._code.numbers.edge_of(place)
        return all(map(self._complete, [edge] if edge is not None else self.around(place)))

    def around(self, block: int) -> list[int]:
        """The edges into a block and out of it."""
        beside = dict.fromkeys([*self._graph.in_edges[block], *self._graph.out_edges[block]])
        return [edge for edge in beside if self._graph.edges[edge].kind is EdgeKind.FLOW]

    def _complete(self, edge: int) -> bool:
        target = self._graph.edges[edge].dst
        for number, probe in enumerate(self._plan.on_edges.get(edge, ())):
            if isinstance(probe, COUNTING) and not self._marked(Mark(Holder.EDGE, edge, number)):
                return target < self._graph.exit and self._marked(Mark(Holder.MERGED, target))
        return True

    def _marked(self, mark: Mark) -> bool:
        return self._code.numbers.mark(mark) in self._all

    def walk(self, place: int, index: int) -> Walk:
        """How far a frame has come whose next instruction, in a trusted place, is the one with that index."""
        ahead = self._code.ahead(index)
        if ahead is None:
            raise Unknown("a probe is being carried out")
        if self._code.forestalled(index):
            raise Unknown("it may be in the next block already")
        here = self._code.marks(place)
        overtaken = {code for code in self._code.overtaken(index) if self._leads_into(place, code)}
        waiting = self._marks((here & ahead) | overtaken)
        if any(mark.holder is Holder.MERGED for mark in waiting):
            raise Unknown("only a phi knows which edge was taken")
        self._check_strangers(place, self._marks(here & ahead))
        walk = self._walk(place, self._marks(here - ahead - overtaken), waiting)
        walk.stored = not any(mark.holder is Holder.SLOT for mark in waiting)
        return walk

    def _marks(self, codes: Iterable[int]) -> list[Mark]:
        found = map(self._code.numbers.mark_of, codes)
        return [mark for mark in found if mark is not None]

    def _leads_into(self, place: int, code: int) -> bool:
        """Whether a mark is of a probe on the way into a block."""
        mark = self._code.numbers.mark_of(code)
        if mark is None or place >= self._graph.exit:
            return False
        if mark.holder is Holder.EDGE:
            return self._graph.edges[mark.index].dst == place != self._graph.edges[mark.index].src
        return mark.holder in (Holder.BLOCK, Holder.MERGED) and mark.index == place

    def _check_strangers(self, place: int, waiting: Iterable[Mark]) -> None:
        """A probe still to come in a place must be on its edges, or on those of a block that follows."""
        edge = self._code.numbers.edge_of(place)
        block = place if edge is None else self._graph.edges[edge].dst
        following = {block} | {self._graph.edges[each].dst for each in self._graph.out_edges[block]}
        for mark in waiting:
            if mark.holder is Holder.EDGE:
                source, target, _ = self._graph.edges[mark.index]
                known = target == block or source in following
            else:
                known = mark.holder is Holder.SLOT or mark.index in following
            if not known:
                raise Unknown("a probe stands where it does not belong")

    def _walk(self, place: int, past: Sequence[Mark], waiting: Sequence[Mark]) -> Walk:
        """How far the frame has come, by the probes that were carried out."""
        own = self._code.numbers.edge_of(place)
        before = self._handed_on(place)
        taken = {mark.index for mark in past if mark.holder is Holder.EDGE} | before
        if own is not None and self._has(own, (self._graph.edges[own].src,)):
            # Some of its probes were carried out before its own block began.
            taken.add(own)
        entered = {mark.index for mark in past if mark.holder is Holder.BLOCK}
        walk = Walk(place)
        if own is not None:
            source, target, _ = self._graph.edges[own]
            beyond = any(self._graph.edges[edge].src == target for edge in taken - {own})
            walk = Walk(target, own) if own in taken or target in entered or beyond else Walk(source)
        seen = {walk.block}
        left: list[int] = []
        passed: set[int] = {own} if own is not None and walk.edge is not None else set()
        if own is None:
            entering = (edge for edge in self.around(place) if self._graph.edges[edge].dst == place)
            passed |= {edge for edge in entering if self._graph.edges[edge].src != place}
        while True:
            leaving = [edge for edge in taken - passed if self._graph.edges[edge].src == walk.block]
            if not leaving:
                leaving = self._leading_to(
                    walk.block, {self._graph.edges[edge].src for edge in taken - passed} | (entered - seen)
                )
            if not leaving:
                break
            if len(leaving) > 1:
                raise Unknown("two ways were taken at once")
            walk = Walk(self._graph.edges[leaving[0]].dst, leaving[0])
            left += [edge for edge in leaving if edge not in before]
            passed.add(leaving[0])
            seen.add(walk.block)
        if taken - passed or entered - seen:
            raise Unknown("a probe was carried out that is not on the way")
        if own is None or walk.edge is not None:
            walk.probes = [
                mark
                for mark in waiting
                if (mark.holder is Holder.EDGE and mark.index in passed)
                or (mark.holder is Holder.BLOCK and mark.index == place)
            ]
            # Of an edge that it has taken already, probes may also be in a place that it has not come to.
            walk.probes += [mark for mark in self._on_edges(left) if mark not in (*past, *walk.probes)]
            for block in seen - {place}:
                walk.probes += [mark for mark in self._on_block(block) if mark not in past]
            if any(self._graph.edges[edge].src == self._graph.edges[edge].dst == place for edge in passed):
                # It is about to begin the same block again: what it did there was the last time.
                walk.probes += [mark for mark in self._on_block(place) if mark not in walk.probes]
        return walk

    def _on_edges(self, edges: Iterable[int]) -> list[Mark]:
        return [
            Mark(Holder.EDGE, edge, number)
            for edge in edges
            for number, probe in enumerate(self._plan.on_edges.get(edge, ()))
            if isinstance(probe, COUNTING)
        ]

    def _on_block(self, block: int) -> list[Mark]:
        probes = range(len(self._plan.on_blocks.get(block, ())))
        return [Mark(Holder.BLOCK, block, number) for number in probes]

    def _handed_on(self, place: int) -> set[int]:
        """The edge out of a block whose probes stand before the block, since that must stay empty."""
        if place >= self._graph.exit:
            return set()
        leaving = [edge for edge in self.around(place) if self._graph.edges[edge].src == place]
        if len(leaving) != 1 or not self._counts(leaving[0]):
            return set()
        edge = leaving[0]
        target = self._graph.edges[edge].dst
        if target != self._graph.exit and self._marked(Mark(Holder.MERGED, target)):
            return set()
        numbers = self._code.numbers
        if self._has(edge, (place, numbers.on_edge(edge), target)):
            return set()
        entering = [each for each in self.around(place) if self._graph.edges[each].dst == place]
        before = [self._graph.edges[each].src for each in entering] + [*map(numbers.on_edge, entering)]
        if not self._has(edge, before):
            raise Unknown("nobody knows where the probes of the way out are")
        return {edge}

    def _has(self, edge: int, places: Iterable[int]) -> bool:
        """Whether probes of an edge stand in any of some places."""
        marks = self._marks(code for each in places for code in self._code.marks(each))
        return any((mark.holder, mark.index) == (Holder.EDGE, edge) for mark in marks)

    def _leading_to(self, block: int, targets: set[int]) -> list[int]:
        """The edges without probes from a block to those that the frame has passed too."""
        edges = self.around(block) if targets and block != self._graph.exit else []
        return [
            edge
            for edge in edges
            if self._graph.edges[edge].src == block
            and self._graph.edges[edge].dst in targets
            and not self._counts(edge)
        ]

    def _counts(self, edge: int) -> bool:
        return any(isinstance(probe, COUNTING) for probe in self._plan.on_edges.get(edge, ()))
