"""What a user can choose about instrumenting."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trodden.graph.cfg import Graph

COUNTER_SCHEMES = ("edges", "blocks-by-edges", "blocks-by-blocks", "every-block", "every-edge", "checked")
Weights = Callable[[Graph, str], list[float] | None]


@dataclass(frozen=True)
class Options:
    """What a user can choose about instrumenting; the defaults are what most want."""

    counters: str = "edges"
    stage: str = "late"
    only: tuple[str, ...] = ()
    leave: tuple[str, ...] = ()
    trips: bool = True
    sites: bool = True
    measured: Weights | None = field(default=None, compare=False)

    def wants(self, symbol: str, shown: str, file: str) -> bool:
        """Whether the globs take a function, by symbol, name or source file."""

        def any_match(patterns: Sequence[str]) -> bool:
            return any(fnmatch.fnmatch(text, p) for p in patterns for text in (symbol, shown, file))

        return (not self.only or any_match(self.only)) and not any_match(self.leave)
