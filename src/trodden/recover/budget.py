"""A bound on the work of a reader: a small file must not use up memory or time."""

from __future__ import annotations

from trodden.errors import BadFile

_FIRST = 1 << 22


class Budget:
    """A number of steps that may be taken.

    Paths are stored as numbers, so that a few bytes may stand for a path through thousands of blocks, and for
    thousands of such paths.  Four million steps are always allowed; beyond that the number is proportional to
    the size of the file.
    """

    def __init__(self, size: int, steps: int) -> None:
        """``steps`` more for each of the ``size`` bytes, or whatever ``size`` counts."""
        self._left = _FIRST + size * steps

    def spend(self, steps: int, where: str, what: str = "its paths") -> None:
        """Take some steps; ``where`` and ``what`` are for the error message if they are too many."""
        self._left -= steps
        if self._left < 0:
            raise BadFile(f"{where}: {what} are too many and too long to be spelled out")
