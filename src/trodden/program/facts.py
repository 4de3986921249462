"""The static facts of a build: what a front end writes down of each compiled file, plain data.

``UnitFacts`` and ``FunctionFacts`` travel inside object files, so that everything that is read later (raw
files, profiles) can be understood without the compiler, the sources or LLVM.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from trodden.graph.cfg import Graph
from trodden.plan.probes import Plan
from trodden.weigh.features.clues import FunctionClues

SCHEMA = 1


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
