"""Counting what a trace says: how often each edge was taken, and each path (BL94 §4: a trace has more than a
profile).

A frame that ended in the middle of a block has been counted on the way there and not further; so what is
missing from the flow law in a block is the number of frames that ended there (BL94 §3.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trodden.recover.trace.compiled import CompiledProgram, CompiledReader, PathArcs, TableOfProcedure
from trodden.recover.trace.events import Event, Kind
from trodden.recover.trace.library import PAIR_BEYOND, PAIR_UNKNOWN, PATH_ENDS, PATH_JOINS, PATH_LEAVES
from trodden.recover.trace.longer import PairCounter, PairCounts, Untold
from trodden.recover.trace.reader import Reader
from trodden.recover.trace.stack import Frame, Program

_ENDS = frozenset({Kind.UNWOUND, Kind.AGAIN, Kind.SUSPENDED})
COUNTED_KINDS = sum(1 << kind for kind in (*_ENDS, Kind.ACTIVE, Kind.DAMAGED))


@dataclass(frozen=True)
class PathArc:
    """What an edge means for paths: it adds to the number, and one may end on it and another one start.

    ``joins``: the path that starts continues the one that ends, over a back edge; ``leaves``: there is none,
    because the function has come to its end.
    """

    add: int
    restart: int = 0
    ends: bool = False
    joins: bool = False
    leaves: bool = False


@dataclass(frozen=True)
class PathsOfProcedure:
    """How the paths of a procedure are counted.

    ``start`` is the number with which they begin at the root, ``to[v]`` that of some path that leads to a
    block.  ``sites`` are the blocks with call sites; without them it is all blocks with calls.
    """

    start: int
    arcs: Mapping[int, PathArc]
    to: Sequence[int]
    sites: frozenset[int] | None = None

    def is_site(self, block: int) -> bool:
        """Whether a block, which ends in a call, has a call site."""
        return self.sites is None or block in self.sites


@dataclass
class TraceCounts:
    """What was counted, by the number of the function.

    ``edges[f][e]`` is how often an edge was taken, ``entries[f]`` how often a function was entered.
    ``paths[f][n]`` is how often a path was executed, ``prefixes[f][block, n]`` how often one was cut short.
    ``longer`` are pairs of paths, if these are counted too.
    """

    edges: dict[int, Counter[int]] = field(default_factory=dict)
    entries: Counter[int] = field(default_factory=Counter)
    paths: dict[int, Counter[int]] = field(default_factory=dict)
    prefixes: dict[int, Counter[tuple[int, int]]] = field(default_factory=dict)
    longer: PairCounts | None = None

    def end_of(self, function: int, block: int, path: int, times: int = 1) -> None:
        """Frames have ended in a block; a negative number goes on there, without having been entered."""
        self.prefixes.setdefault(function, Counter())[block, path] += times

    def add_events(self, events: Sequence[Event]) -> None:
        """Frames that were left, and frames that went on."""
        for event in events:
            if event.kind in _ENDS:
                self.end_of(event.function, event.block, event.value)
            elif event.kind == Kind.ACTIVE:
                self.end_of(event.function, event.block, event.value, -1)


class CountingReader(Reader):
    """The reference: a reader that counts."""

    def __init__(self, program: Program, counts: TraceCounts, paths: Mapping[int, PathsOfProcedure]) -> None:
        super().__init__(program)
        self._counts = counts
        self._paths = paths
        self._pairs = None if counts.longer is None else PairCounter(counts.longer)

    @property
    def frames_with_paths(self) -> list[tuple[int, int, int, int]]:
        """The active frames, outermost first: function, block, whether it is in a call, and its path."""
        return [(frame.number, frame.at, frame.in_call, frame.path) for frame in self._stack]

    def _path_to(self, number: int, block: int) -> int:
        return self._paths[number].to[block] if number in self._paths else 0

    def end(self) -> None:
        """Nothing follows: the paths of all frames are cut short."""
        if self._pairs is not None:
            for frames in (self._stack, *(frames for _, frames in self._suspended)):
                for frame in frames:
                    self._pairs.cut_short(frame)

    def _entered(self, frame: Frame, caller: Frame | None) -> None:
        self._counts.entries[frame.number] += 1
        if frame.number in self._paths:
            frame.path = self._paths[frame.number].start
        if self._pairs is not None:
            by_site = caller is not None and self._is_site(caller)
            self._pairs.entered(frame, caller if by_site else None)

    def _took(self, frame: Frame, edges: Sequence[int]) -> None:
        self._counts.edges.setdefault(frame.number, Counter()).update(edges)
        paths = self._paths.get(frame.number)
        if paths is None:
            return
        for edge in edges:
            arc = paths.arcs.get(edge, _NOTHING)
            frame.path += arc.add
            if arc.ends:
                self._counts.paths.setdefault(frame.number, Counter())[frame.path] += 1
                if self._pairs is not None:
                    self._pairs.ended(frame, frame.path, arc.joins, arc.leaves)
                frame.path = arc.restart

    def _took_again(self, frame: Frame, edge: int) -> None:
        self._counts.edges.setdefault(frame.number, Counter())[edge] += 1
        if self._pairs is not None:
            self._pairs.cut_short(frame)
        paths = self._paths.get(frame.number)
        if paths is not None:
            frame.path = paths.arcs.get(edge, _NOTHING).restart

    def _calls(self, frame: Frame) -> None:
        if self._pairs is not None:
            self._pairs.calls(frame, self._is_site(frame))

    def _is_site(self, frame: Frame) -> bool:
        return frame.number not in self._paths or self._paths[frame.number].is_site(frame.at)

    def _returns(self, frame: Frame) -> None:
        if self._pairs is not None:
            self._pairs.returns(frame)

    def _lands(self, frame: Frame) -> None:
        if self._pairs is not None:
            self._pairs.lands(frame)

    def _leaves(self, frame: Frame, caller: Frame | None) -> None:
        if self._pairs is not None:
            self._pairs.leaves(frame, caller)

    def _unwinds(self, frame: Frame) -> None:
        if self._pairs is not None:
            self._pairs.cut_short(frame)

    def _turned(self, frame: Frame, block: int, times: int) -> None:
        self._counts.edges.setdefault(frame.number, Counter())[frame.code.counted[block]] += times


_NOTHING = PathArc(0)


class CountingProgram(CompiledProgram):
    """The same in C: its readers count together, pairs of paths too if they are ``longer``."""

    def __init__(
        self,
        library: Path,
        program: Program,
        paths: Mapping[int, PathsOfProcedure],
        longer: PairCounts | None = None,
    ) -> None:
        super().__init__(library, program)
        self._paths = paths
        if longer is not None:
            self.count_pairs(longer.most)

    def prepare(self, table: TableOfProcedure, number: int) -> None:
        """Count everything in a function."""
        table.count()
        if number in self._paths:
            paths = self._paths[number]
            arcs: PathArcs = [
                (
                    arc.add,
                    arc.restart,
                    PATH_ENDS * arc.ends + PATH_JOINS * arc.joins + PATH_LEAVES * arc.leaves,
                )
                for arc in (paths.arcs.get(edge, _NOTHING) for edge in table.edges)
            ]
            sites = bytes(map(paths.is_site, range(table.code.exit)))
            table.follow_paths(paths.start, arcs, paths.to, sites)

    def reader(self) -> CompiledReader:
        """A reader that counts."""
        return CompiledReader(self, COUNTED_KINDS)

    def add_to(self, counts: TraceCounts) -> None:
        """Add everything that was counted; once, at the end."""
        self.c.trodden_trace_counts(self.handle)
        for number, table in self.tables.items():
            if table is None or table.taken is None or table.trips is None:
                continue
            if table.table.entered:
                counts.entries[number] += table.table.entered
            edges = counts.edges.setdefault(number, Counter())
            for edge, times in zip(table.edges, table.taken, strict=True):
                if times and edge >= 0:
                    edges[edge] += times
            for block, times in enumerate(table.trips):
                if times:
                    edges[table.code.counted[block]] += times
        for function, path, times in self.path_rows():
            counts.paths.setdefault(function, Counter())[path] += times
        if counts.longer is not None:
            for pair, times in self.pair_rows():
                if pair.kind < PAIR_UNKNOWN:
                    counts.longer.pairs[pair] += times
                else:
                    kind, beyond = pair.kind % PAIR_UNKNOWN, pair.kind >= PAIR_BEYOND
                    counts.longer.untold[Untold(kind, pair.function, beyond)] += times
