"""Disjoint sets with path halving; the caller decides which element speaks for a set."""

from __future__ import annotations


class UnionFind:
    """The sets over ``0 .. size-1``, each element alone at first."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def find(self, element: int) -> int:
        """The element that speaks for the set of ``element``."""
        parent = self._parent
        while parent[element] != element:
            parent[element] = parent[parent[element]]
            element = parent[element]
        return element

    def union(self, into: int, element: int) -> bool:
        """Join two sets; the representative of ``into`` becomes that of both.  False if they were one set."""
        into, element = self.find(into), self.find(element)
        if into == element:
            return False
        self._parent[element] = into
        return True
