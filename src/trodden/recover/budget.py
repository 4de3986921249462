"""A bound on what a reader does for a file: a small one must not fill the memory or take for ever."""

from __future__ import annotations

from trodden.errors import BadFile

_FIRST = 1 << 22


class Budget:
    """So many steps may be taken, and no more.

    Paths are stored as numbers, so a few bytes may stand for a path through thousands of blocks, and for
    thousands of such paths.  Four million steps are free; more have to be paid for by the size of a file.
    """

    def __init__(self, size: int, steps: int) -> None:
        """``steps`` more for each of the ``size`` bytes, or whatever ``size`` counts."""
        self._left = _FIRST + size * steps

    def spend(self, steps: int, where: str, what: str = "its paths") -> None:
        """Take some steps; ``where`` and ``what`` say whose they are if they are too many."""
        self._left -= steps
        if self._left < 0:
            raise BadFile(f"{where}: {what} are too many and too long to be spelled out")
