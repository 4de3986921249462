"""How far a pass over traces has got, for whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable


class Progress:
    """Tells the share of ``total`` parts that are done, whenever it has grown by a percent."""

    def __init__(self, total: int, tell: Callable[[str], None]) -> None:
        self._total = total
        self._tell = tell
        self._done = self._told = 0

    def step(self) -> None:
        """Another part is done."""
        self._done += 1
        percent = 100 * self._done // max(self._total, 1)
        if percent > self._told:
            self._told = percent
            self._tell(f"{percent}%")
