"""The data model: what is known of a program, and what a run of it has counted.

Static facts (``UnitFacts``, ``FunctionFacts``) are made when a program is built and travel inside its
object files; a ``Profile`` joins them with counts.  Everything here is plain data; reading and
writing live beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TypeAlias, cast

from trodden.collect.endings import Process, StoppedThread
from trodden.graph.cfg import Graph
from trodden.plan.probes import Plan
from trodden.plan.routes import PathEnd, PathStart
from trodden.weigh.features.clues import FunctionClues

SCHEMA = 1

Count: TypeAlias = float
"""How often something happened: an ``int`` where it was counted, a ``float`` where it was estimated."""


class BranchKind(Enum):
    """How a block ends."""

    JUMP = "jump"
    IF = "if"
    SWITCH = "switch"
    INDIRECT = "indirect"
    CALL = "call"
    RETURN = "return"
    DEAD_END = "dead_end"
    UNWIND = "unwind"


@dataclass(frozen=True, slots=True)
class LineRef:
    """A source position: ``file`` is an index into the unit's list of files.

    ``copy`` tells apart what was inlined into a function: 0 is the function's own code, any other number
    one inlined call and the code that came with it.
    """

    file: int
    line: int
    copy: int = 0


@dataclass(frozen=True)
class BlockFacts:
    """What the ground knows of one block.

    ``lines`` are the source lines its instructions come from, in order, without repetition of
    neighbours; line 0 stands for inlined code of which only the copy is known.  ``branch`` is the line of
    the instruction that ends it, if it has one.  ``calls`` counts the calls in it that could fail to
    return; ``size`` its instructions.
    """

    lines: tuple[LineRef, ...] = ()
    branch: LineRef | None = None
    kind: BranchKind = BranchKind.JUMP
    calls: int = 0
    size: int = 0


@dataclass(frozen=True)
class FunctionFacts:
    """One function of a unit: its graph, its plan, and where its counters lie.

    The vertices of ``graph`` other than EXIT are the blocks; ``blocks[v]`` belongs to vertex ``v``.
    Its counters are ``first_slot .. first_slot + plan.slots - 1`` of the unit.  ``fingerprint`` is a hash
    of the graph.  ``inlined[c - 1]`` is the call that copy ``c`` of its lines was inlined at; that call may
    stand in another copy, of a smaller number.

    ``copies`` are the blocks of which the code has one more, each with what the path register holds there
    (see :mod:`trodden.plan.paths.block_cloning`).  In the code they are blocks too, numbered behind the
    graph's.  ``registers[v]`` says of a path plan what its register holds while a call in block ``v`` of the
    code is active: ``(False, c)`` that it is the constant ``c``, ``(True, a)`` that it is ``a`` plus what the
    frame's cell holds.

    ``clues`` say where control is likely to go; what was built by an earlier trodden has none.
    """

    name: str
    linkage_name: str
    file: int
    line: int
    graph: Graph
    blocks: tuple[BlockFacts, ...]
    plan: Plan
    first_slot: int
    shared: bool = False
    fingerprint: str = ""
    inlined: tuple[LineRef, ...] = ()
    registers: Mapping[int, tuple[bool, int]] = field(default_factory=dict)
    copies: tuple[tuple[int, int], ...] = ()
    clues: FunctionClues = field(default=FunctionClues(), repr=False)

    @cached_property
    def copied_blocks(self) -> frozenset[int]:
        """The blocks that have copies."""
        return frozenset(block for block, _ in self.copies)


@dataclass(frozen=True, slots=True)
class PathCount:
    """A path of a function and how often it was walked from its start to its end.

    ``blocks`` are the vertices it led through, EXIT left out; ``edges`` the edges it took, with the last one:
    that to EXIT, or the back edge or cut edge on which it ended.  One that was cut short took none from
    its last block, and has a number of its own: that of the possible paths times its last block plus
    one, plus the number it would have had (the latter alone where no way leads on from its last block).
    The first ``context`` blocks are not part of what was walked but tell how control had come to the
    loop (MR98 §7).  ``cycles`` is the time spent, with all that was called on the way.
    """

    id: int
    count: int
    blocks: tuple[int, ...]
    edges: tuple[int, ...]
    starts: PathStart
    ends: PathEnd
    cycles: int | None = None
    context: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """A function that carries no probes, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file as it was when the program was built (``digest`` is empty if it was not readable)."""

    path: str
    digest: str = ""


@dataclass(frozen=True)
class UnitFacts:
    """One compiled file.  ``id`` (32 hex digits) names it and its counters: a hash of everything else.

    ``sites[s]`` is the function (its index) and the block of its code of call site ``s``, so that an active
    frame's return address can be told apart; a block of -1 means that the frame has already counted its way
    out.
    ``taken`` are the symbols of functions whose address it uses for more than calling them, ``aliases``
    other names that units may use for its functions, as ``(alias, symbol)``, ``started`` its constructors and
    destructors, which are called once a run.
    """

    id: str
    source: str
    stage: str
    files: tuple[SourceFile, ...]
    functions: tuple[FunctionFacts, ...]
    skipped: tuple[Skipped, ...] = ()
    slots: int = 0
    sites: tuple[tuple[int, int], ...] = ()
    taken: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    started: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """What the counters of one unit held at the end, and which of its calls were still active then.

    ``unit`` is the unit's id; ``active[function, block]`` is how many frames of that function (its index)
    had not come back from a call in that block, less those that came back to it twice.

    Of functions with a path plan, ``active`` is only what came back twice (never positive), and
    ``prefixes[function, block, cell]`` is how often a path was cut short in a block, with what the frame's
    cell held then (``None`` where it has none).  ``sparse[function, path]`` is the count and the
    time of a path that has no counter of its own.
    """

    unit: str
    counts: Sequence[int]
    active: Mapping[tuple[int, int], int] = field(default_factory=dict)
    prefixes: Mapping[tuple[int, int, int | None], int] = field(default_factory=dict)
    sparse: Mapping[tuple[int, int], tuple[int, int]] = field(default_factory=dict)


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


CalledFunction = tuple[str, int]
"""The id of a unit, and the index of a function in it."""


@dataclass(frozen=True, slots=True)
class CallPath:
    """A path of calls from the start of a thread, the outermost function first, and how often it was taken.

    No function is on it twice: one that is called again by what it has called itself goes back to where it
    stands.  ``recursive`` says that some of the calls counted here were of this kind.
    """

    functions: tuple[CalledFunction, ...]
    count: int
    recursive: bool = False


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

    ``functions`` follow from ``units`` and ``readings`` (one a unit, in the same order); only the latter
    are stored.  ``call_paths`` are all that were taken, most frequent first; none if they were not kept.
    ``processes`` are those that have counted, in the order of their starts, and ``threads`` where theirs were
    when they did not end by returning; none are known of a profile that was merged, but ``merged`` is how
    many profiles and raw files it was made of.

    ``estimate`` tells an estimate apart: it has no readings, and its counts are expected frequencies.
    """

    kind: str
    program: str
    units: tuple[UnitFacts, ...]
    functions: Mapping[str, FunctionProfile]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()
    call_paths: tuple[CallPath, ...] = ()
    processes: tuple[Process, ...] = ()
    threads: tuple[StoppedThread, ...] = ()
    merged: int = 0
    estimate: Estimate | None = None
