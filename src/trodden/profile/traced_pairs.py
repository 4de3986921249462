"""Pairs of paths that were counted in a trace, by the functions of the profile that follows from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trodden.collect.call_paths import CalledFunction
from trodden.profile.trace.program import TracedProgram
from trodden.program.facts import UnitFacts
from trodden.recover.trace.events import NONE
from trodden.recover.trace.longer import PairCounts, PairKind


class PairOfPaths(NamedTuple):
    """A :class:`trodden.recover.trace.longer.TracedPair` by units and the numbers of functions there."""

    kind: PairKind
    function: CalledFunction
    callee: CalledFunction | None
    site: int
    first: int
    second: int
    end: int | None


@dataclass(frozen=True)
class TracedPairs:
    """How often each pair was executed.

    ``unknown`` is how often pairs of a function were whose beginning the trace does not have, ``beyond`` how
    often others were of which there are too many.
    """

    counts: Counter[PairOfPaths] = field(default_factory=Counter)
    unknown: Counter[tuple[PairKind, CalledFunction]] = field(default_factory=Counter)
    beyond: Counter[tuple[PairKind, CalledFunction]] = field(default_factory=Counter)

    def add(self, found: PairCounts, program: TracedProgram, units: Sequence[UnitFacts]) -> None:
        """Add what the readers of one process have counted; ``units`` are those of the derived profile."""

        def named(number: int) -> CalledFunction | None:
            place = program.place(number)
            return None if place is None else (units[place[0]].id, place[1])

        for pair, times in found.pairs.items():
            function = named(pair.function)
            if function is None:
                continue
            owner = pair.callee if pair.kind == PairKind.CALL else pair.function
            callee = None if pair.callee == NONE else named(pair.callee)
            self.counts[
                PairOfPaths(
                    PairKind(pair.kind),
                    function,
                    callee,
                    pair.site,
                    pair.first,
                    pair.second,
                    None if pair.end == NONE else program.block(owner, pair.end),
                )
            ] += times
        for untold, times in found.untold.items():
            function = named(untold.function)
            if function is not None:
                others = self.beyond if untold.beyond else self.unknown
                others[PairKind(untold.kind), function] += times
