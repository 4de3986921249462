"""The data model: what is known of a program, and what a run of it has counted.

Static facts (``UnitFacts``, ``FunctionFacts``) are made when a program is built and travel inside its
object files; a ``Profile`` joins them with counts.  Everything here is plain data; reading and
writing live beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias, cast

from trodden.collect.call_paths import CallPath
from trodden.collect.endings import Process, StoppedThread
from trodden.plan.routes import PathCount
from trodden.program.facts import FunctionFacts, LineRef, Skipped, SourceFile, UnitFacts
from trodden.recover.unit_counts import UnitCounts

Count: TypeAlias = float
"""How often something happened: an ``int`` where it was counted, a ``float`` where it was estimated."""


@dataclass(frozen=True, slots=True)
class BlockCount:
    """A block of a function and how often it ran."""

    id: str
    lines: tuple[LineRef, ...]
    count: Count


@dataclass(frozen=True, slots=True)
class EdgeCount:
    """An edge of a function and how often it was taken; ``None`` when a block profile leaves it open."""

    src: str
    dst: str
    count: Count | None


@dataclass(frozen=True)
class FunctionProfile:
    """One function with its counts.

    ``block_counts[v]`` and ``edge_counts[e]`` follow the indices of ``facts.graph``.  ``cut_short[v]`` is
    how often the function ended in block ``v`` without leaving by an edge (exit in a callee, an exception),
    less how often it went on there without having entered it (behind a setjmp).
    ``violations`` are places where the counters contradict the flow law.  ``paths`` are the paths that were
    walked, most frequent first; ``None`` if the profile does not tell paths.

    ``per_call[e]`` is, in an estimate, how often edge ``e`` is expected to be taken each time the function is
    called: that is known even of a function that nothing is expected to call.
    """

    facts: FunctionFacts
    files: Sequence[SourceFile]
    unit: str
    block_counts: Sequence[Count]
    edge_counts: Sequence[Count | None]
    cut_short: Mapping[int, int] = field(default_factory=dict)
    violations: tuple[str, ...] = ()
    paths: tuple[PathCount, ...] | None = None
    per_call: Sequence[float] = ()

    @property
    def name(self) -> str:
        """The name people know it by."""
        return self.facts.name

    @property
    def file(self) -> str:
        """The path of the source file that defines it."""
        return self.files[self.facts.file].path

    @property
    def line(self) -> int:
        """The line where it starts."""
        return self.facts.line

    @property
    def estimated(self) -> bool:
        """Whether nothing of it has run."""
        return bool(self.per_call)

    @property
    def counted_blocks(self) -> Sequence[int]:
        """``block_counts`` where they were counted."""
        return cast("Sequence[int]", self.block_counts)

    @property
    def counted_edges(self) -> Sequence[int | None]:
        """``edge_counts`` where they were counted."""
        return cast("Sequence[int | None]", self.edge_counts)

    @property
    def entries(self) -> Count:
        """How often it was entered."""
        closing = self.edge_counts[self.facts.graph.closing]
        return self.block_counts[self.facts.graph.exit] if closing is None else closing

    @cached_property
    def blocks(self) -> tuple[BlockCount, ...]:
        """The blocks with their counts, EXIT left out."""
        graph = self.facts.graph
        return tuple(
            BlockCount(graph.labels[v], self.facts.blocks[v].lines, self.block_counts[v])
            for v in range(graph.exit)
        )

    @cached_property
    def edges(self) -> tuple[EdgeCount, ...]:
        """The edges that control can take, with their counts; leaving the function goes to ``exit``."""
        graph = self.facts.graph
        return tuple(
            EdgeCount(
                graph.labels[graph.edges[e].src],
                "exit" if graph.edges[e].dst == graph.exit else graph.labels[graph.edges[e].dst],
                self.edge_counts[e],
            )
            for e in graph.flow_edges()
        )


@dataclass(frozen=True, slots=True)
class NamedCallPath:
    """The same by the names of functions in a profile."""

    functions: tuple[str, ...]
    count: int
    recursive: bool = False

    @property
    def rank(self) -> tuple[int, tuple[str, ...]]:
        """Most frequent first."""
        return -self.count, self.functions


@dataclass(frozen=True, slots=True)
class Estimate:
    """Says that nothing has run: the counts were estimated, with ``rates`` as the odds of the heuristics."""

    rates: str


@dataclass(frozen=True)
class Profile:
    """What a run (or several) of one build has walked; or an estimate of what one run would.

    ``functions`` follow from ``units`` and ``unit_counts`` (one a unit, in the same order); only the latter
    are stored.  ``call_paths`` are all that were taken, most frequent first; none if they were not kept.
    ``processes`` are those that have counted, in the order of their starts, and ``threads`` where theirs were
    when they did not end by returning; none are known of a profile that was merged, but ``merged`` is how
    many profiles and raw files it was made of.

    ``estimate`` tells an estimate apart: it has no ``unit_counts``, and its counts are expected frequencies.
    """

    kind: str
    program: str
    units: tuple[UnitFacts, ...]
    functions: Mapping[str, FunctionProfile]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    unit_counts: tuple[UnitCounts, ...] = ()
    call_paths: tuple[CallPath, ...] = ()
    processes: tuple[Process, ...] = ()
    threads: tuple[StoppedThread, ...] = ()
    merged: int = 0
    estimate: Estimate | None = None
