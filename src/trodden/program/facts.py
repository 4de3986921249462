"""The static facts of a build: plain data that a front end writes for each compiled file.

``UnitFacts`` and ``FunctionFacts`` are stored in object files, so that everything that is read later (raw
files, profiles) can be interpreted without the compiler, the sources or LLVM.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from trodden.graph.cfg import Graph
from trodden.plan.overlap_probes import CallSite
from trodden.plan.probes import Plan
from trodden.program.machine_instructions import MachineInstructions
from trodden.weigh.features.block_features import FunctionFeatures

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
    """A source location: ``file`` is an index into the unit's list of files.

    ``instance`` is the inlined instance that the code belongs to: 0 is the function's own code, any other
    number the code of one inlined call.
    """

    file: int
    line: int
    instance: int = 0


@dataclass(frozen=True)
class BlockFacts:
    """What the front end knows of one basic block.

    ``lines`` are the source lines that its instructions come from, in order, without repetition of
    neighbours; line 0 stands for inlined code of which only the inlined instance is known.  ``branch`` is the
    line of its terminator, if that has one.  ``calls`` is the number of its calls that may not return.

    ``size`` is the number of lines of its instructions in IR, ``silent`` how many of these stand for no
    instruction of a machine: phis, the cases of a switch, intrinsics that only inform the compiler.

    ``call_lines`` has an entry for each call that has a call site and does not end the block, in order: the
    index in ``lines`` of the line that the call is on, -1 if no line precedes it.  It is ``None`` in what was
    built by an earlier version.  ``added_lines`` are the indices of those of ``lines`` that no statement is
    the reason for, but a jump at the end of the branch before ``} else if (...)``, or what takes an exception
    over from the unwinder.  ``column`` is that of what its branch tests; 0 if it does not branch or the
    column is not known.  ``copied_lines`` are the indices of those of ``lines`` that are executed once more,
    though control has always passed code of theirs before: an optimiser has copied it.
    """

    lines: tuple[LineRef, ...] = ()
    branch: LineRef | None = None
    kind: BranchKind = BranchKind.JUMP
    calls: int = 0
    size: int = 0
    silent: int = 0
    call_lines: tuple[int, ...] | None = None
    added_lines: tuple[int, ...] = ()
    column: int = 0
    copied_lines: tuple[int, ...] = ()

    @property
    def instructions(self) -> int:
        """The number of its instructions in IR that a machine would execute."""
        return self.size - self.silent

    def line_at(self, position: int) -> int | None:
        """The index in ``lines`` of the line at a position, -1 before the first; None if that is not known.

        A position is the index of a call among those that have call sites, or ``-1 - n`` after ``n`` lines
        were reached.
        """
        if position < 0:
            return min(-2 - position, len(self.lines) - 1)
        if self.call_lines is None:
            return None
        return self.call_lines[position] if position < len(self.call_lines) else len(self.lines) - 1

    @property
    def statement_lines(self) -> list[tuple[int, LineRef]]:
        """``lines`` without ``added_lines``, each with its index."""
        return [(index, ref) for index, ref in enumerate(self.lines) if index not in self.added_lines]


@dataclass(frozen=True, slots=True)
class Subprogram:
    """A function as debug information describes it: ``file`` is an index into the unit's list of files.

    ``symbol`` is its linkage name where that differs from its name.
    """

    name: str
    file: int
    line: int
    symbol: str = ""

    @property
    def linkage_name(self) -> str:
        """The name of its symbol."""
        return self.symbol or self.name


@dataclass(frozen=True, slots=True)
class TruthPhi:
    """A truth value that a block has by the edge along which it was entered.

    ``known[e]`` is the value on arrival by edge ``e``; with ``passed[e]`` it is the value that another block,
    the source of that edge, has at that time, or its negation: ``(block, negated)``.  Edges in neither have a
    value that the program computes.  If it is ``tested``, the block branches on it: to its first successor if
    it is true, or else to its second.  It is ``logical`` if the phi itself is of truth values, as that of a
    logical operator is; otherwise it is a comparison of a number that the phi gives.
    """

    known: Mapping[int, bool]
    passed: Mapping[int, tuple[int, bool]]
    tested: bool
    logical: bool = True


@dataclass(frozen=True)
class FunctionFacts:
    """One function of a unit: its graph, its plan, and the slots of its counters.

    The vertices of ``graph`` other than EXIT are the blocks; ``blocks[v]`` belongs to vertex ``v``.
    Its counters are ``first_slot .. first_slot + plan.slots - 1`` of the unit.  ``fingerprint`` is a hash
    of the graph.  A function that is ``shared`` may have COMDAT copies in other units.  ``inlined[i - 1]`` is
    the call that was replaced by the inlined instance ``i``; that call may be in another inlined instance,
    with a smaller number.  ``callees[i - 1]`` is the function that was called there; what was built by an
    earlier version has none.  ``inlined_symbols`` is how often each function, by its symbol, was inlined as
    the optimiser says, with or without code that is left.

    ``clones`` are the blocks that the code has once more, each with the value of the path register there (see
    :mod:`trodden.plan.paths.block_cloning`).  In the code clones are blocks too, numbered after those of the
    graph.  ``registers[v]`` gives the path register while a call in block ``v`` of the code is active:
    ``(0, c)`` is the constant ``c``, ``(1, a)`` is ``a`` plus the stack slot of the frame.  Where paths are
    extended it is two registers in one word (:mod:`trodden.program.frame_word`): of those bits of the first
    number that are set, the lower one says it of the path register and the other of that of the overlap.

    ``truths`` are the blocks that have a truth value by a phi.

    ``features`` say where control is likely to go; what was built by an earlier version has none.
    ``machine`` has the instructions of its code, as far as they were counted in the finished program: only
    functions that were executed have them.  ``optimised``: its blocks are those that the optimiser has left,
    not those of the source.  ``keeps_calls``, at the early stage: no function is inlined into it, since it is
    not to be optimised.
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
    callees: tuple[Subprogram, ...] = ()
    inlined_symbols: Mapping[str, int] = field(default_factory=dict)
    registers: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    clones: tuple[tuple[int, int], ...] = ()
    truths: Mapping[int, TruthPhi] = field(default_factory=dict)
    features: FunctionFeatures = field(default=FunctionFeatures(), repr=False)
    machine: MachineInstructions | None = field(default=None, repr=False)
    optimised: bool = False
    keeps_calls: bool = False

    def __repr__(self) -> str:
        return f"<FunctionFacts {self.name!r}, blocks={len(self.blocks)}, slots={self.plan.slots}>"

    @cached_property
    def cloned_blocks(self) -> frozenset[int]:
        """The blocks that have clones."""
        return frozenset(block for block, _ in self.clones)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A function without probes, and the reason."""

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

    ``sites[s]`` is the function, by its index, and the block of its code of call site ``s``, which the return
    address of a frame identifies; ``NO_BLOCK`` means that the function is counted as left before the call.
    ``taken`` are the symbols of functions whose address it uses for more than calling them, ``aliases`` other
    names that units may use for its functions, as ``(alias, symbol)``, ``started`` its constructors and
    destructors, which are called once in a run.
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

    def __repr__(self) -> str:
        return f"<UnitFacts {self.id[:8]} of {self.source!r}, functions={len(self.functions)}>"

    def with_machine(self, counted: Mapping[int, MachineInstructions]) -> UnitFacts:
        """The unit with the machine instructions of some of its functions, given by their indices."""
        if not counted:
            return self
        functions = list(self.functions)
        for number, machine in counted.items():
            functions[number] = replace(functions[number], machine=machine)
        return replace(self, functions=tuple(functions))

    @cached_property
    def crossed(self) -> Mapping[int, tuple[int, CallSite]]:
        """The call sites over which paths are counted, by number, each with the index of its function."""
        return {
            site.site: (number, site)
            for number, function in enumerate(self.functions)
            if function.plan.calls is not None
            for site in function.plan.calls.sites
        }

    @property
    def room_for_rows(self) -> int:
        """How many of its counters, the first ones, count over calls: a process says which of them what."""
        return self.functions[0].first_slot if self.functions else 0

    @cached_property
    def calls_of_sites(self) -> tuple[int, ...]:
        """The index of each call site among those of its block: sites are in the order of the code."""
        seen: Counter[tuple[int, int]] = Counter()
        found: list[int] = []
        for site in self.sites:
            found.append(seen[site])
            seen[site] += 1
        return tuple(found)


def with_machine_of(unit: UnitFacts, same: UnitFacts) -> UnitFacts:
    """A unit with the machine instructions that it has itself, or another record of it has."""
    if unit is same:
        return unit
    pairs = enumerate(zip(unit.functions, same.functions, strict=True))
    return unit.with_machine(
        {
            number: other.machine
            for number, (own, other) in pairs
            if own.machine is None and other.machine is not None
        }
    )
