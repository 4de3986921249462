"""What was counted in one function: the input of every recovery.

The same record serves whoever deals with counts before anything is recovered from them: collecting fills it
(:mod:`trodden.recover.unit_counts_builder`), merging adds it up, and the completion of a killed process
(:mod:`trodden.recover.killed`) answers with a record of what is missing, to be added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from trodden.recover.sparse_counters import SparseCounters, nonzero, total

Prefix = tuple[int, int | None]
"""A path that was cut short: its last block and the path register there (``None``: unknown, not needed)."""

Stop = tuple[int, int | None, int]
"""Where frames ended in a block: the block, the path register, and the position in the block.

The position is that of a call, by its index among those of the block that have call sites; or ``-1 - n``
where a frame was interrupted, if control had reached the first ``n`` lines of the block.
"""

PathTotals = tuple[int, int]
"""How often a path was executed, and the cycles that were spent on it."""

_K = TypeVar("_K", bound=Hashable)


@dataclass(frozen=True)
class FunctionCounts:
    """The counters of one function, and the frames that did not leave it along an edge.

    ``counters`` belong to the slots of the function's plan.  ``active[block]`` is the number of frames that
    ended in a block without leaving it along an edge (BL94 §3.2), less the number of times that control was
    resumed there, as by the second return of ``setjmp``.

    In a function with a path plan, ``active`` counts the resumptions only, and is never positive;
    ``prefixes`` counts the paths that were cut short, negative where a forked child continued the path of its
    parent.  ``sparse`` are the paths that have no counter of their own.

    ``stops`` has the frames of both kinds whose position in the block is known, and not only the block.
    ``unlocated`` is the number of frames that may have ended in the function, in a block that is not known:
    so many counts may be missing from any of its blocks, or be there without having happened.
    """

    counters: Sequence[int]
    active: Mapping[int, int] = field(default_factory=dict)
    prefixes: Mapping[Prefix, int] = field(default_factory=dict)
    sparse: Mapping[int, PathTotals] = field(default_factory=dict)
    stops: Mapping[Stop, int] = field(default_factory=dict)
    unlocated: int = 0

    @classmethod
    def zero(cls, slots: int) -> FunctionCounts:
        """A function with so many counters that did not run."""
        return cls(SparseCounters(slots, {}))

    def __bool__(self) -> bool:
        """Whether anything was counted at all."""
        if any(self.active.values()) or any(self.prefixes.values()) or any(map(any, self.sparse.values())):
            return True
        return self.unlocated > 0 or any(True for _ in nonzero(self.counters))

    def __add__(self, other: FunctionCounts) -> FunctionCounts:
        """What both have counted; amounts keep their sign."""
        return FunctionCounts(
            counters=total(self.counters, other.counters),
            active=_sum(self.active, other.active),
            prefixes=_sum(self.prefixes, other.prefixes),
            sparse=_sum_paths(self.sparse, other.sparse),
            stops=_sum(self.stops, other.stops),
            unlocated=self.unlocated + other.unlocated,
        )

    @property
    def early_ends(self) -> dict[int, int]:
        """``active`` without zeros, in the order of the blocks."""
        return {block: count for block, count in sorted(self.active.items()) if count}

    @property
    def resumed(self) -> dict[int, int]:
        """Of a function with a path plan: how often control was resumed after the call that ends a block."""
        return {block: -frames for block, frames in self.active.items()}


def _sum(one: Mapping[_K, int], other: Mapping[_K, int]) -> dict[_K, int]:
    found = Counter(dict(one))
    found.update(other)  # keeps negative amounts, which the addition of two Counters drops
    return {key: amount for key, amount in found.items() if amount}


def _sum_paths(one: Mapping[int, PathTotals], other: Mapping[int, PathTotals]) -> dict[int, PathTotals]:
    found = dict(one)
    for path, (count, cycles) in other.items():
        counted, spent = found.get(path, (0, 0))
        found[path] = counted + count, spent + cycles
    return found
