"""The nodes of a subtree at which further walks may have stopped, the most preferred first.

Two ends of one queue are needed: stops are placed at the most preferred nodes, and where an edge admits no
more than so many below it, the least preferred nodes lose their room.  Both ends are heaps that share their
entries; an entry without any room left is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

Preference = tuple[int, int]
"""How likely a stop is at a node, compared with others; the greatest wins."""


@dataclass(slots=True)
class _Entry:
    node: int
    left: int


@dataclass(slots=True)
class Room:
    """``total`` is for how many stops there is room; ``_best`` and ``_worst`` are keyed by preference."""

    total: int = 0
    _best: list[tuple[int, int, int, _Entry]] = field(default_factory=list)
    _worst: list[tuple[int, int, int, _Entry]] = field(default_factory=list)

    def add(self, preference: Preference, node: int, times: int) -> None:
        """Room for so many stops at a node that is not in the queue yet."""
        self._push(*preference, _Entry(node, times))

    def _push(self, kind: int, position: int, entry: _Entry) -> None:
        heappush(self._best, (-kind, -position, -entry.node, entry))
        heappush(self._worst, (kind, position, entry.node, entry))
        self.total += entry.left

    def take(self, times: int) -> Iterator[tuple[int, int]]:
        """Use up room for so many stops, or all that there is: the nodes, and how many at each."""
        while times > 0 and self._best:
            entry = self._best[0][-1]
            part = min(times, entry.left)
            entry.left -= part
            self.total -= part
            times -= part
            if not entry.left:
                heappop(self._best)
            if part:
                yield entry.node, part

    def restrict(self, times: int) -> None:
        """Leave room for no more than so many stops."""
        while self.total > times:
            entry = self._worst[0][-1]
            part = min(self.total - times, entry.left)
            entry.left -= part
            self.total -= part
            if not entry.left:
                heappop(self._worst)

    def merged(self, other: Room) -> Room:
        """The room of two subtrees together.  The larger queue absorbs the smaller one."""
        small, large = sorted((self, other), key=lambda room: len(room._worst))
        for kind, position, _, entry in small._worst:
            if entry.left:
                large._push(kind, position, entry)
        return large
