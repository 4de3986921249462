"""Counters of which most may be zero.

A table of paths has a counter for every path that there can be, and few of them are ever walked (BL96
§6).  So only what is not zero is kept, in memory as in files, and a file that promises more counters than
any machine could hold does no harm.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import eq
from typing import overload


class Counts(Sequence[int]):
    """A sequence of ``length`` numbers; ``held`` are those that are not zero, by index."""

    __slots__ = ("_indices", "_length", "_values")

    def __init__(self, length: int, held: Mapping[int, int]) -> None:
        self._length = length
        self._indices = sorted(index for index, value in held.items() if value)
        self._values = [held[index] for index in self._indices]
        if self._indices and not 0 <= self._indices[0] <= self._indices[-1] < length:
            raise ValueError("a counter is out of range")

    @classmethod
    def of(cls, values: Iterable[int]) -> Counts:
        """The same numbers."""
        listed = list(values)
        return cls(len(listed), dict(enumerate(listed)))

    def nonzero(self) -> Iterable[tuple[int, int]]:
        """The indices and values of all that is not zero, by index."""
        return zip(self._indices, self._values, strict=True)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, key: int) -> int: ...

    @overload
    def __getitem__(self, key: slice) -> Counts: ...

    def __getitem__(self, key: int | slice) -> int | Counts:
        if isinstance(key, slice):
            start, stop, step = key.indices(self._length)
            if step != 1:
                raise ValueError("counters are taken in a row")
            low, high = bisect_left(self._indices, start), bisect_left(self._indices, stop)
            shifted = [index - start for index in self._indices[low:high]]
            return Counts(max(stop - start, 0), dict(zip(shifted, self._values[low:high], strict=True)))
        index = key + self._length if key < 0 else key
        if not 0 <= index < self._length:
            raise IndexError("there is no such counter")
        place = bisect_left(self._indices, index)
        found = place < len(self._indices) and self._indices[place] == index
        return self._values[place] if found else 0

    def __iter__(self) -> Iterator[int]:
        position = 0
        for index, value in self.nonzero():
            yield from repeat(0, index - position)
            yield value
            position = index + 1
        yield from repeat(0, self._length - position)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Counts):
            mine, theirs = (self._indices, self._values), (other._indices, other._values)
            return self._length == other._length and mine == theirs
        if isinstance(other, list | tuple):
            return len(other) == self._length and all(map(eq, self, other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self._length, tuple(self._indices), tuple(self._values)))

    def __repr__(self) -> str:
        return f"Counts({self._length}, {dict(self.nonzero())})"


def nonzero(counters: Sequence[int]) -> Iterable[tuple[int, int]]:
    """The indices and values of all counters that are not zero."""
    if isinstance(counters, Counts):
        return counters.nonzero()
    return ((index, value) for index, value in enumerate(counters) if value)
