"""A vector of counters of which most may be zero.

A path table has a counter for every possible path, and few paths are ever executed (BL96 §6).  Therefore only
nonzero counters are kept, in memory as in files, and a file that claims more counters than any machine could
hold does no harm.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import eq
from typing import overload


class SparseCounters(Sequence[int]):
    """A sequence of ``length`` numbers; ``values`` maps an index to its value, zero where it is missing."""

    __slots__ = ("_indices", "_length", "_values")

    def __init__(self, length: int, values: Mapping[int, int]) -> None:
        self._length = length
        self._indices = sorted(index for index, value in values.items() if value)
        self._values = [values[index] for index in self._indices]
        if self._indices and not 0 <= self._indices[0] <= self._indices[-1] < length:
            raise ValueError("a counter is out of range")

    @classmethod
    def of(cls, values: Iterable[int]) -> SparseCounters:
        """The same numbers as a sparse vector."""
        listed = list(values)
        return cls(len(listed), dict(enumerate(listed)))

    def nonzero(self) -> Iterable[tuple[int, int]]:
        """The indices and values of all nonzero counters, in the order of their indices."""
        return zip(self._indices, self._values, strict=True)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, key: int) -> int: ...

    @overload
    def __getitem__(self, key: slice) -> SparseCounters: ...

    def __getitem__(self, key: int | slice) -> int | SparseCounters:
        if isinstance(key, slice):
            return self._slice(key)
        index = key + self._length if key < 0 else key
        if not 0 <= index < self._length:
            raise IndexError("there is no such counter")
        position = bisect_left(self._indices, index)
        found = position < len(self._indices) and self._indices[position] == index
        return self._values[position] if found else 0

    def _slice(self, key: slice) -> SparseCounters:
        start, stop, step = key.indices(self._length)
        if step != 1:
            raise ValueError("a slice of counters has no step")
        low, high = bisect_left(self._indices, start), bisect_left(self._indices, stop)
        part = SparseCounters(max(stop - start, 0), {})
        part._indices = [index - start for index in self._indices[low:high]]
        part._values = self._values[low:high]
        return part

    def __iter__(self) -> Iterator[int]:
        position = 0
        for index, value in self.nonzero():
            yield from repeat(0, index - position)
            yield value
            position = index + 1
        yield from repeat(0, self._length - position)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SparseCounters):
            mine, theirs = (self._indices, self._values), (other._indices, other._values)
            return self._length == other._length and mine == theirs
        if isinstance(other, list | tuple):
            return len(other) == self._length and all(map(eq, self, other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self._length, tuple(self._indices), tuple(self._values)))

    def __repr__(self) -> str:
        return f"SparseCounters({self._length}, {dict(self.nonzero())})"


def nonzero(counters: Sequence[int]) -> Iterable[tuple[int, int]]:
    """The indices and values of all nonzero counters of any sequence."""
    if isinstance(counters, SparseCounters):
        return counters.nonzero()
    return ((index, value) for index, value in enumerate(counters) if value)


def total(one: Sequence[int], other: Sequence[int]) -> SparseCounters:
    """The sum of two vectors of the same length."""
    if len(one) != len(other):
        raise ValueError("vectors of counters differ in length")
    values = dict(nonzero(one))
    for index, value in nonzero(other):
        values[index] = values.get(index, 0) + value
    return SparseCounters(len(one), values)
