"""What was counted over calls and returns, by a key of four parts (TZG04 §3.3)."""

from __future__ import annotations

from typing import NamedTuple

Numbered = tuple[str, int]
"""The id of a unit, and the index of a function in it, or the number of a call site."""


NOT_COUNTED = (1 << 64) - 1
"""In place of both numbers: some part of what was executed there had no room, and was not counted."""


def inherited(callee: Numbered) -> CrossingKey:
    """The key by which activations of a function are counted that a forked child has inherited."""
    return CrossingKey(False, callee, (callee[0], 0), NOT_COUNTED, 0)


class CrossingKey(NamedTuple):
    """Two parts of paths, of which the second followed the first over a call, or over a return.

    Over a call ``in_caller`` is the number of the prefix with which the caller reached the call ``site``, and
    ``in_callee`` that of an overlap or, in a pair, of a path.  Over a return (``returned``) ``in_callee`` is
    the number of the path with which the callee returned, and ``in_caller`` that of what its caller did then.
    """

    returned: bool
    callee: Numbered
    site: Numbered
    in_callee: int
    in_caller: int

    @property
    def counted_in(self) -> str:
        """The unit whose code has counted it: that of the second part."""
        return self.site[0] if self.returned else self.callee[0]
