"""The profile of a program: its functions with all their counts, and how they came about.

A ``Profile`` joins what is known of a program since it was built (:mod:`trodden.program.facts`) with what its
runs have counted.  Everything here is plain data; reading and writing is done by
:mod:`trodden.profile.store`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias, cast

from trodden.collect.call_paths import CallPath
from trodden.collect.endings import Process, StoppedThread
from trodden.collect.programs import ProgramFile
from trodden.errors import UsageError
from trodden.plan.routes import PathCount
from trodden.profile.count_text import amount
from trodden.profile.instructions import Instructions, instructions_of
from trodden.profile.notebook import html_table
from trodden.profile.trace.model import Traces
from trodden.profile.trace.reading import ProgramTrace
from trodden.profile.traced_pairs import TracedPairs
from trodden.program.facts import FunctionFacts, LineRef, Skipped, SourceFile, UnitFacts
from trodden.program.machine_instructions import ways_out
from trodden.recover.unit_counts import UnitCounts

Count: TypeAlias = float
"""How often something happened: an ``int`` where it was counted, a ``float`` where it was estimated."""


@dataclass(frozen=True, slots=True)
class BlockCount:
    """A block of a function and how often it ran."""

    id: str
    lines: tuple[LineRef, ...]
    count: Count


def _lines(block: BlockCount) -> Iterator[int]:
    """The lines of a block in the function itself."""
    return (ref.line for ref in block.lines if ref.line > 0 and not ref.instance)


@dataclass(frozen=True, slots=True)
class EdgeCount:
    """An edge of a function and how often it was taken; ``None`` if a block profile does not determine it."""

    src: str
    dst: str
    count: Count | None


@dataclass(frozen=True)
class FunctionProfile:
    """One function with its counts.

    ``block_counts[v]`` and ``edge_counts[e]`` follow the indices of ``facts.graph``.  ``cut_short[v]`` is how
    often the function ended in block ``v`` without leaving it along an edge (exit in a callee, an exception),
    less how often it was resumed there without having entered the block (after a setjmp).  ``violations``
    are contradictions between the counters and the flow law.  ``paths`` are the paths that were executed,
    most frequent first; ``None`` if the profile has no paths.

    ``stops`` says where in its block a function ended: the number of frames by block and position, as far as
    it is known.  A position is the index of a call (:attr:`BlockFacts.call_lines`), or ``-1 - n`` if control
    had reached the first ``n`` lines of the block.  ``path_stops`` is the same by the ``id`` of the path.
    ``unlocated`` is the number of frames that may have ended anywhere in the function: if there are any, none
    of its counts is certain.

    ``per_call[e]`` is, in an estimate, how often edge ``e`` is expected to be taken each time the function is
    called: that is known even of a function that nothing is expected to call.

    ``copies`` are, where several units hold the function (a static function of a header, a source that
    several programs were built from), those of each unit, of which this is the sum; see
    :mod:`trodden.profile.copies`.
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
    copies: tuple[FunctionProfile, ...] = ()
    stops: Mapping[tuple[int, int], int] = field(default_factory=dict)
    path_stops: Mapping[tuple[int, int], int] = field(default_factory=dict)
    unlocated: int = 0

    def __repr__(self) -> str:
        paths = "" if self.paths is None else f", paths={len(self.paths)}"
        blocks, edges = self.facts.graph.exit, len(self.edge_counts)
        return (
            f"<FunctionProfile {self.name!r} at {self.file}:{self.line}, entries={self.entries},"
            f" blocks={blocks}, edges={edges}{paths}>"
        )

    def _repr_html_(self) -> str:
        """The blocks with their counts, for a notebook."""
        rows = [
            (amount(block.count), block.id, ", ".join(dict.fromkeys(str(line) for line in _lines(block))))
            for block in self.blocks
        ]
        paths = "" if self.paths is None else f", {len(self.paths):,} paths"
        title = f"{self.name} ({os.path.basename(self.file)}:{self.line}{paths})"
        return html_table(title, ("count", "block", "lines"), 1, rows)

    @property
    def name(self) -> str:
        """The demangled name."""
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
        """Whether its counts are an estimate."""
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
    def instructions(self) -> Instructions:
        """How many instructions it executes in each block and along each edge."""
        return instructions_of(self.facts, self.paths or ())

    def instructions_along(self, path: PathCount) -> float:
        """How many instructions one execution of a path takes, without those of its loop context."""
        return self.instructions.along(path.blocks[path.context :], path.edges[path.context :])

    @cached_property
    def executed_instructions(self) -> Count:
        """How many instructions it has executed in all, without those of its callees."""
        if self.copies:
            return sum(copy.executed_instructions for copy in self.copies)
        sizes, graph = self.instructions, self.facts.graph
        total: Count = 0
        for block in range(graph.exit):
            ways = [(edge, self.edge_counts[edge]) for edge in ways_out(graph, block)]
            taken = [(edge, count) for edge, count in ways if count is not None]
            stayed = self.block_counts[block]
            if len(taken) == len(ways):
                total += sum(count * sizes.edges[edge] for edge, count in taken)
                stayed -= sum(count for _, count in taken)
            total += stayed * sizes.blocks[block]
        return total if self.estimated else round(total)

    @cached_property
    def stops_by_block(self) -> Mapping[int, Mapping[int, int]]:
        """``stops`` by block, and there by position."""
        found: dict[int, dict[int, int]] = {}
        for (block, position), times in self.stops.items():
            found.setdefault(block, {})[position] = times
        return found

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
    """A call path by the names of functions in a profile."""

    functions: tuple[str, ...]
    count: int
    recursive: bool = False

    @property
    def rank(self) -> tuple[int, tuple[str, ...]]:
        """A sort key: most frequent first."""
        return -self.count, self.functions


@dataclass(frozen=True, slots=True)
class Estimate:
    """Says that nothing was executed: the counts were estimated, with these ``rates`` of the heuristics."""

    rates: str


@dataclass(frozen=True, slots=True)
class Filter:
    """Which functions and files are shown: those that match one of ``include`` (all if there are none).

    Those that match one of ``exclude`` are not, nor are those of system headers and standard libraries unless
    ``system`` is set; see :mod:`trodden.profile.filters`.  ``markers``: exclusion comments in the sources are
    obeyed where coverage is counted.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    system: bool = True
    markers: bool = False


@dataclass(frozen=True)
class Profile:
    """What one or several runs have executed, of one program or of several; or an estimate of one run.

    ``program`` is the program or the command that was run, ``programs`` are all executables and libraries
    whose code was counted; profiles of earlier versions have none.  ``functions`` follow from ``units`` and
    ``unit_counts`` (one for each unit, in the same order); only these are stored.  ``messages`` are about the
    runs.  ``call_paths`` are all that occurred, most frequent first; none if they were not counted.
    ``processes`` are those that have counted, in the order of their starts, and ``threads`` where their
    threads were if they did not end by returning; a profile that was merged has neither, but ``merged`` is
    the number of profiles and raw files that it was merged from.

    ``traces`` are those of its processes, if they were recorded; ``traced_units`` the units that recorded
    them, where these are others than ``units``, whose counts follow from the traces.  ``traced_pairs`` are
    the pairs of paths in the traces, if these were counted; they are not stored.

    An ``estimate`` has no ``unit_counts``, and its counts are expected frequencies.  ``filter`` says what of
    it is shown; it is not stored.
    """

    kind: str
    program: str
    units: tuple[UnitFacts, ...]
    functions: Mapping[str, FunctionProfile]
    skipped: tuple[Skipped, ...] = ()
    messages: tuple[str, ...] = ()
    unit_counts: tuple[UnitCounts, ...] = ()
    call_paths: tuple[CallPath, ...] = ()
    processes: tuple[Process, ...] = ()
    threads: tuple[StoppedThread, ...] = ()
    programs: tuple[ProgramFile, ...] = ()
    merged: int = 0
    estimate: Estimate | None = None
    filter: Filter = Filter()
    traces: Traces | None = None
    traced_units: tuple[UnitFacts, ...] = ()
    traced_pairs: TracedPairs | None = None

    @property
    def trace(self) -> ProgramTrace:
        """What every thread has executed, in the order in which it did."""
        if self.traces is None:
            raise UsageError(f"{self.program or 'the profile'}: has no trace; run it with --profile trace")
        return ProgramTrace(self.traced_units or self.units, self.traces)

    def __repr__(self) -> str:
        estimate = "" if self.estimate is None else f", estimate={self.estimate.rates!r}"
        return (
            f"<Profile {self.program!r}, kind={self.kind!r}, functions={len(self.functions)},"
            f" processes={len(self.processes)}, messages={len(self.messages)}{estimate}>"
        )

    def _repr_html_(self) -> str:
        """The functions that executed most blocks, for a notebook."""
        ranked = sorted(
            (
                (sum(each.block_counts[: each.facts.graph.exit]), name)
                for name, each in self.functions.items()
            ),
            key=lambda row: (-row[0], row[1]),
        )
        rows = [(amount(executed), *self._row(name)) for executed, name in ranked]
        kind = self.kind if self.estimate is None else f"{self.kind}, estimated"
        title = f"{self.program or 'profile'} ({kind}, {len(self.functions):,} functions)"
        return html_table(title, ("blocks executed", "entries", "paths", "function", "location"), 3, rows)

    def _row(self, name: str) -> tuple[str, ...]:
        each = self.functions[name]
        paths = "" if each.paths is None else f"{len(each.paths):,}"
        return amount(each.entries), paths, name, f"{os.path.basename(each.file)}:{each.line}"
