"""The longer paths of a profile: two successive paths, and how often one followed the other (TZG04 §2, §3).

A longer path crosses one back edge, one call or one return.  Depending on what was counted its count is known
exactly or within bounds; ``source`` says where a number comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from trodden.graph.cfg import Graph
from trodden.plan.routes import PathStart
from trodden.profile.model import FunctionProfile


class LongerKind(Enum):
    """What a longer path crosses."""

    LOOP = "loop"
    CALL = "call"
    RETURN = "return"


class Source(Enum):
    """Where the counts of longer paths come from, the one that tells most first."""

    TRACE = "trace"
    PAIRS = "pairs"
    OVERLAPS = "overlaps"
    PATHS = "paths"


class Solver(Enum):
    """How bounds follow from what was counted."""

    FIXED = "fixed"
    TIGHT = "tight"


@dataclass(frozen=True, slots=True)
class PathPart:
    """A part of a longer path: its blocks, the edges between them, and how the path starts that it is of.

    It ``starts`` with ``None`` where that does not matter: at the header of a loop, and behind a call.
    """

    blocks: tuple[int, ...]
    edges: tuple[int, ...]
    starts: PathStart | None = None


def part_of(graph: Graph, start: int, edges: Sequence[int], starts: PathStart | None = None) -> PathPart:
    """The part that begins in a block and takes these edges."""
    return PathPart((start, *(graph.edges[edge].dst for edge in edges)), tuple(edges), starts)


@dataclass(frozen=True, slots=True)
class Crossing:
    """A place that longer paths cross: the back edges of a loop, or one call.

    ``function`` is the key of the function that has the loop or makes the call, ``callee`` that of the one
    that is called; ``site`` is the header of the loop, or the block of the call.
    """

    kind: LongerKind
    function: str
    callee: str | None
    site: int

    @property
    def owners(self) -> tuple[str, str]:
        """The keys of the functions that the two parts of a path are of."""
        callee = self.callee or self.function
        return (callee, self.function) if self.kind is LongerKind.RETURN else (self.function, callee)


@dataclass(frozen=True, slots=True)
class LongerPath:
    """Two successive parts of paths, and how often they were executed one after the other.

    ``first`` of a loop is what the iteration did, of a call what the caller did before, of a return what the
    callee did; ``second`` is what followed.
    """

    crossing: Crossing
    first: PathPart
    second: PathPart
    lower: int
    upper: int
    source: Source

    @property
    def kind(self) -> LongerKind:
        """What it crosses."""
        return self.crossing.kind

    @property
    def exact(self) -> bool:
        """Whether the count is known."""
        return self.lower == self.upper


@dataclass(frozen=True, slots=True)
class CrossingFlow:
    """All longer paths of one crossing: how many may have been executed, and how often all together.

    ``least`` and ``most`` are how often it was crossed, ``definite`` and ``potential`` the sums of the lower
    and of the upper bounds of all ``paths``, of which ``exact`` are known exactly and ``listed`` are listed.
    ``complete`` are those whose second part is not cut short, and ``certain`` those of these that were
    certainly executed.  Of paths that are not listed none was executed more than ``unlisted`` times, and
    none certainly.
    ``degree`` is that of its overlaps; ``None`` if they go as far as they can, -1 if nothing was extended.
    """

    crossing: Crossing
    source: Source
    least: int
    most: int
    definite: int
    potential: int
    paths: int
    exact: int
    listed: int
    complete: int = 0
    certain: int = 0
    unlisted: int = 0
    degree: int | None = None


@dataclass(frozen=True, slots=True)
class NotTold:
    """Longer paths of a function of which ``nothing`` is said, or not everything, and the reason.

    They are of one ``kind``, or of all.
    """

    kind: LongerKind | None
    function: str
    reason: str
    nothing: bool = False


@dataclass(frozen=True)
class LongerPaths:
    """The longer paths of a profile, hottest first, what they come to, and what is not told.

    ``functions`` are all whose paths were counted: blocks and edges are those of their graphs.
    """

    paths: tuple[LongerPath, ...]
    crossings: tuple[CrossingFlow, ...]
    not_told: tuple[NotTold, ...]
    functions: Mapping[str, FunctionProfile]

    def block_ids(
        self, crossing: Crossing, first: PathPart, second: PathPart
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The ids of the blocks of both parts of a path, as they are in the graphs of their functions."""
        own, other = (self.functions[key].facts.graph.labels for key in crossing.owners)
        return tuple(own[block] for block in first.blocks), tuple(other[block] for block in second.blocks)

    def instructions_along(self, crossing: Crossing, first: PathPart, second: PathPart) -> float:
        """How many instructions one execution takes; the block of a call belongs to what is before it."""
        own, other = (self.functions[key].instructions for key in crossing.owners)
        skip = crossing.kind is LongerKind.RETURN
        return own.along(first.blocks, first.edges) + other.along(second.blocks[skip:], second.edges[skip:])

    @property
    def definite_flow(self) -> int:
        """How often longer paths were executed for certain."""
        return sum(each.definite for each in self.crossings)

    @property
    def potential_flow(self) -> int:
        """The sum of all upper bounds."""
        return sum(each.potential for each in self.crossings)

    def of(self, kind: LongerKind) -> LongerPaths:
        """Those of one kind."""
        return LongerPaths(
            tuple(each for each in self.paths if each.crossing.kind is kind),
            tuple(each for each in self.crossings if each.crossing.kind is kind),
            tuple(each for each in self.not_told if each.kind in (None, kind)),
            self.functions,
        )


def sources(longer: Iterable[CrossingFlow]) -> tuple[Source, ...]:
    """The sources of some crossings, each once."""
    found = {each.source for each in longer}
    return tuple(source for source in Source if source in found)
