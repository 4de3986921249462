"""What a user can choose about instrumenting."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trodden.graph.cfg import Graph
from trodden.plan.paths.plan import DEFAULT_LIMIT

COUNTER_SCHEMES = ("edges", "blocks-by-edges", "blocks-by-blocks", "every-block", "every-edge", "checked")
CUTTING_RULES = ("cheapest", "loops", "node")
MOST_LAST = 1 << 16
Weights = Callable[[Graph, str], list[float] | None]


@dataclass(frozen=True)
class PathOptions:
    """What a user can choose about path profiles.

    ``most`` is how many paths a function may have before some are cut; ``None`` keeps them whole.
    ``cutting`` is the rule that chooses the cuts.  ``last`` is how many of the paths that a thread has walked
    last are kept, one by one.
    """

    most: int | None = DEFAULT_LIMIT
    context: bool = False
    timed: bool = False
    cutting: str = CUTTING_RULES[0]
    last: int = 0


def most_paths(text: str) -> int | None:
    """What a user says of the most paths a function may have; :class:`ValueError` if it makes no sense."""
    if text == "none":
        return None
    if text and not (text.isdecimal() and text.isascii() and int(text) > 0):
        raise ValueError("a number of paths a function, or none to cut nothing")
    return int(text) if text else DEFAULT_LIMIT


def last_paths(text: str) -> int:
    """What a user says of how many last paths to keep; :class:`ValueError` if it makes no sense."""
    if text and not (text.isdecimal() and text.isascii() and int(text) <= MOST_LAST):
        raise ValueError(f"a number of paths a thread, {MOST_LAST} at most, or 0 to keep none")
    return int(text or "0")


@dataclass(frozen=True)
class Options:
    """What a user can choose about instrumenting; the defaults are what most want.

    ``durable`` keeps every count in memory at every moment: none waits in a register for a loop to end.
    With ``copies`` hot blocks may be in the code twice, so that the number of a path is known there.
    With ``odds`` the code generator is told what was ``measured``.
    Probes are placed by what was ``measured``, or else ``estimated``, or else by how deep loops are nested.
    """

    counters: str = "edges"
    stage: str = "late"
    only: tuple[str, ...] = ()
    leave: tuple[str, ...] = ()
    trips: bool = True
    sites: bool = True
    positions: bool = True
    calls: bool = False
    durable: bool = False
    copies: bool = True
    odds: bool = True
    paths: PathOptions | None = None
    measured: Weights | None = field(default=None, compare=False)
    estimated: bool = False

    def wants(self, symbol: str, shown: str, file: str) -> bool:
        """Whether the globs take a function, by symbol, name (with parameters or without) or source file."""
        names = (symbol, shown, shown.partition("(")[0], file, os.path.basename(file))

        def any_match(patterns: Sequence[str]) -> bool:
            return any(text == p or fnmatch.fnmatchcase(text, p) for p in patterns for text in names)

        return (not self.only or any_match(self.only)) and not any_match(self.leave)
