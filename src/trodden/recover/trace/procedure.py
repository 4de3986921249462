"""The regions of one procedure as tables, which readers of its trace walk through.

A *region* is a stretch of one activation between two places where the reader has to look at the trace: it
starts at the root, behind a call, or where another region has ended on an edge; it ends in a call, at EXIT,
or on an edge that ends regions.  What the three encodings have in common is that the block where a region
starts and the symbol that is written at its end determine its blocks:

* ``paths``: the symbol is the sum of the keys of the arcs (BL96 §3.2);
* ``witnesses``: the symbol is the witness on the arc where the region ends; :attr:`Procedure.picks` says
  which arc leads there from a predicate (BL94 §4.1);
* ``bits``: each predicate takes the index of its arc from the bits that were written (BL94 §6.2).

A region is *silent* if nothing is written at its end.  Only one way leads from its start to its end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

NO_CALL = -2
UNKNOWN_CALLEE = -1

MANY_BITS = 24
"""On back edges bits are written if at least so many are waiting."""


class Encoding(IntEnum):
    """How a trace names the way that control has taken."""

    PATHS = 0
    WITNESSES = 1
    BITS = 2


class Arc(NamedTuple):
    """A way out of a block: ``edge`` of the graph to ``target``; -1 is no edge of its own.

    ``ends``: regions end on it; ``many``: they do if at least ``MANY_BITS`` bits are waiting.  ``key`` is its
    value (paths), the witness on it or -1 (witnesses), or its index among those of its predicate (bits).
    """

    key: int
    target: int
    edge: int
    ends: bool
    many: bool = False


class Region(NamedTuple):
    """The blocks of a region, the arcs between them, and the arc on which it has ended.

    The last block has a call if there is one arc less than there are blocks.
    """

    blocks: tuple[int, ...]
    arcs: tuple[Arc, ...]

    @property
    def calls(self) -> bool:
        """Whether it has ended in a call."""
        return len(self.arcs) < len(self.blocks)


class NoRegion(ValueError):
    """There is no region that starts there and has this symbol."""


@dataclass(frozen=True)
class Procedure:
    """Tables of a procedure with the blocks ``0 .. exit - 1`` and EXIT.

    Behind EXIT there is a *passage* for each edge behind a call that writes a witness: no block, but a
    start, where that is still to be read.

    ``arcs[v]`` are the ways out of block ``v``, by key if the encoding is ``paths``; a block that ends in a
    call has none.  ``calls[v]`` is the procedure, by its index in the unit, that such a block certainly
    calls, or ``UNKNOWN_CALLEE``; ``NO_CALL`` of others.  ``behind[v]`` is where a call goes on (edge and
    target), ``landing[v]`` where it does if it was left by an exception (edge, landing pad and target).
    ``counted`` are the blocks whose trips are written, with their self loops.  ``resumes`` are the blocks
    whose call returns, perhaps twice, ``tails`` those whose callee takes the place of the procedure.
    ``silent[v]`` says whether regions that start at ``v`` are silent.
    """

    name: str
    encoding: Encoding
    root: int
    exit: int
    arcs: Sequence[Sequence[Arc]]
    calls: Sequence[int]
    behind: Mapping[int, tuple[int, int]]
    landing: Mapping[int, Sequence[tuple[int, int, int]]]
    counted: Mapping[int, int]
    resumes: frozenset[int]
    tails: frozenset[int]
    silent: Sequence[bool]
    picks: Mapping[int, Mapping[int, int]] = field(default_factory=dict)

    @cached_property
    def _silent_regions(self) -> dict[int, Region]:
        return {}

    @cached_property
    def _known(self) -> dict[tuple[int, int], Region]:
        return {}

    def silent_region(self, start: int) -> Region:
        """The only region from a start where regions are silent."""
        found = self._silent_regions.get(start)
        if found is None:
            found = self._silent_regions[start] = self._walk(start, lambda vertex: 0)
        return found

    def region(self, start: int, symbol: int) -> Region:
        """The region that starts at a block and ends with a symbol; :class:`NoRegion` if there is none."""
        found = self._known.get((start, symbol))
        if found is None:
            if self.encoding is Encoding.PATHS:
                found = self._by_number(start, symbol)
            elif self.encoding is Encoding.WITNESSES:
                found = self._by_witness(start, symbol)
            else:
                raise NoRegion
            self._known[start, symbol] = found
        return found

    def way_by_sum(self, start: int, total: int, block: int) -> list[int] | None:
        """The blocks from the start of a region to a block of it, on the way whose arcs have that sum."""
        blocks, vertex, rest = [start], start, total
        while vertex != block:
            if self.calls[vertex] != NO_CALL or not self.arcs[vertex]:
                return None
            arc = self.arcs[vertex][self._position(vertex, rest)]
            if arc.ends or arc.target == self.exit:
                return None
            rest -= arc.key
            vertex = arc.target
            blocks.append(vertex)
        return None if rest else blocks

    def region_of_bits(self, start: int, bits: int, number: int) -> Region:
        """The region that starts at a block and has written the ``number`` lowest of ``bits``."""
        blocks, arcs, left = [start], list[Arc](), number
        vertex, idle = start, 0
        while self.calls[vertex] == NO_CALL:
            outs = self.arcs[vertex]
            if not outs:
                raise NoRegion
            width = (len(outs) - 1).bit_length()
            left -= width
            if left < 0:
                raise NoRegion
            taken = bits >> left & ((1 << width) - 1)
            if taken >= len(outs):
                raise NoRegion
            arc = outs[taken]
            arcs.append(arc)
            vertex = arc.target
            if vertex == self.exit or arc.ends or (arc.many and number - left >= MANY_BITS):
                break
            idle = 0 if width else idle + 1
            if idle > len(self.arcs):
                raise NoRegion
            blocks.append(vertex)
        if left:
            raise NoRegion
        return Region(tuple(blocks), tuple(arcs))

    def trips_in(self, region: Region) -> int:
        """How many trip counts are written in a region."""
        return sum(block in self.counted for block in region.blocks)

    def _by_number(self, start: int, symbol: int) -> Region:
        rest = symbol

        def choose(vertex: int) -> int:
            nonlocal rest
            position = self._position(vertex, rest)
            rest -= self.arcs[vertex][position].key
            return position

        region = self._walk(start, choose)
        if rest:
            raise NoRegion
        return region

    def _position(self, vertex: int, rest: int) -> int:
        """Which arc a region takes of whose number so much is left (BL96 §3.5)."""
        return bisect_right(self.arcs[vertex], rest, key=lambda arc: arc.key) - 1

    def _by_witness(self, start: int, symbol: int) -> Region:
        def choose(vertex: int) -> int:
            if vertex not in self.picks:
                return 0
            position = self.picks[vertex].get(symbol)
            if position is None:
                raise NoRegion
            return position

        region = self._walk(start, choose)
        if not region.arcs or region.calls or region.arcs[-1].key != symbol:
            raise NoRegion
        return region

    def _walk(self, start: int, choose: Callable[[int], int]) -> Region:
        if start > self.exit:
            return Region((), (self.arcs[start][0],))
        blocks, arcs = [start], list[Arc]()
        vertex = start
        while self.calls[vertex] == NO_CALL:
            if not self.arcs[vertex] or len(blocks) > len(self.arcs):
                raise NoRegion
            arc = self.arcs[vertex][choose(vertex)]
            arcs.append(arc)
            if arc.ends or arc.target == self.exit:
                break
            vertex = arc.target
            blocks.append(vertex)
        return Region(tuple(blocks), tuple(arcs))
