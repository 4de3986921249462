"""The report on a profile as data, most frequent rows first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from heapq import nsmallest
from typing import Any, Protocol, TypeVar

from trodden.graph.cfg import EdgeKind
from trodden.profile.inlined import InlinedFunction, only_inlined
from trodden.profile.model import Count, Estimate, FunctionProfile, Profile
from trodden.profile.select import select
from trodden.program.facts import LineRef, Skipped
from trodden.report.narrate.paths import Describer
from trodden.report.views.call_path_rows import CallRow, call_rows
from trodden.report.views.call_rows import ArcRow, arc_rows
from trodden.report.views.hidden_functions import hidden_functions
from trodden.report.views.hot_paths import Executed, executed_in_all
from trodden.report.views.instruction_kind import InstructionKind, instruction_kind, mixed_instructions
from trodden.report.views.path_rows import CutRow, LoopRow, PathRow, cut_rows, loop_rows, path_rows
from trodden.report.views.process_rows import ProcessRow, ThreadRow, process_rows, thread_rows
from trodden.report.views.program_rows import ProgramRow, program_rows
from trodden.source.optimised import optimised_note
from trodden.source.texts import unread_sources


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """A function: ``executed`` is how many blocks it executed in all, ``share`` its part of the program's.

    ``instructions`` and ``share_of_instructions`` are the same in instructions.
    """

    name: str
    place: str
    entries: Count
    executed: Count
    share: float
    instructions: Count
    share_of_instructions: float

    @property
    def rank(self) -> tuple[Count, Count, str]:
        """Most executed instructions first."""
        return -self.instructions, -self.executed, self.name


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A block of a function."""

    function: str
    block: str
    place: str
    count: Count

    @property
    def rank(self) -> Count:
        """Most frequent first."""
        return -self.count


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """An edge of a function: its blocks and their source lines."""

    function: str
    src: str
    dst: str
    src_place: str
    dst_place: str
    count: Count

    @property
    def rank(self) -> Count:
        """Most frequent first."""
        return -self.count


@dataclass(frozen=True)
class Summary:
    """Rows for each table.  ``total`` counts the selected functions, ``walked`` those that were executed.

    ``merged`` is the number of merged profiles, 0 for a profile of one run; ``estimate`` is set if nothing
    was executed; ``instructions`` says which instructions are counted.  ``optimised`` is for readers of the
    lines of blocks and edges.  Names of fields are those of the JSON form.
    """

    program: str
    kind: str
    total: int
    walked: int
    merged: int
    programs: tuple[ProgramRow, ...]
    processes: tuple[ProcessRow, ...]
    threads: tuple[ThreadRow, ...]
    functions: tuple[FunctionRow, ...]
    paths: tuple[PathRow, ...]
    loops: tuple[LoopRow, ...]
    cuts: tuple[CutRow, ...]
    call_paths: tuple[CallRow, ...]
    calls: tuple[ArcRow, ...]
    blocks: tuple[BlockRow, ...]
    edges: tuple[EdgeRow, ...]
    inlined: tuple[InlinedFunction, ...]
    skipped: tuple[Skipped, ...]
    violations: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    instructions: InstructionKind = InstructionKind.IR
    estimate: Estimate | None = None
    optimised: str | None = None

    def to_document(self) -> dict[str, Any]:
        """The summary as dictionaries and lists."""
        document = asdict(replace(self, paths=(), threads=()))
        if self.estimate is None:
            del document["estimate"]
        del document["optimised"]
        document["instructions"] = self.instructions.value
        document["threads"] = [row.to_document() for row in self.threads]
        document["paths"] = [row.to_document() for row in self.paths]
        document["violations"] = [{"function": name, "what": what} for name, what in self.violations]
        return document


class _Ranked(Protocol):
    @property
    def rank(self) -> Any: ...


_Row = TypeVar("_Row", bound=_Ranked)


def summarise(profile: Profile, top: int | None = None, pattern: str | None = None) -> Summary:
    """Summarise the functions that ``pattern`` selects; ``top`` limits the rows of each table."""
    chosen = select(profile, pattern)
    everything = executed_in_all(profile.functions.values())
    describer = Describer(profile)
    return Summary(
        program=profile.program,
        kind=profile.kind,
        total=len(chosen),
        walked=sum(any(function.block_counts) for function in chosen.values()),
        merged=profile.merged,
        programs=tuple(program_rows(profile)),
        processes=tuple(process_rows(profile)),
        threads=tuple(thread_rows(profile, describer, top)),
        functions=_first(top, (_function(key, each, everything) for key, each in chosen.items())),
        paths=tuple(path_rows(chosen, top, describer, everything)),
        loops=_first(top, loop_rows(chosen, describer, everything)),
        cuts=_first(top, cut_rows(chosen, pattern is not None, describer)),
        call_paths=call_rows(profile, chosen, top),
        calls=_first(top, arc_rows(profile, chosen)),
        blocks=_first(top, (row for key, each in chosen.items() for row in _blocks(key, each))),
        edges=_first(top, (row for key, each in chosen.items() for row in _edges(key, each))),
        inlined=only_inlined(profile, chosen),
        skipped=profile.skipped,
        violations=tuple((key, what) for key, each in chosen.items() for what in each.violations),
        notes=(
            *profile.messages,
            *unread_sources(describer.index.sources),
            *mixed_instructions(profile.functions.values()),
            *hidden_functions(profile, chosen, pattern, everything),
        ),
        instructions=instruction_kind(profile.functions.values()),
        estimate=profile.estimate,
        optimised=optimised_note(chosen.values()),
    )


def _first(top: int | None, rows: Iterable[_Row]) -> tuple[_Row, ...]:
    if top is None:
        return tuple(sorted(rows, key=lambda row: row.rank))
    return tuple(nsmallest(top, rows, key=lambda row: row.rank))


def _function(key: str, function: FunctionProfile, everything: Executed) -> FunctionRow:
    executed = executed_in_all([function])
    return FunctionRow(
        name=key,
        place=f"{function.file}:{function.line}",
        entries=function.entries,
        executed=executed.blocks,
        share=executed.blocks / everything.blocks if everything.blocks else 0.0,
        instructions=executed.instructions,
        share_of_instructions=(
            executed.instructions / everything.instructions if everything.instructions else 0.0
        ),
    )


def _blocks(key: str, function: FunctionProfile) -> Iterator[BlockRow]:
    graph = function.facts.graph
    for vertex in range(graph.exit):
        yield BlockRow(
            key, graph.labels[vertex], location_of(function, vertex), function.block_counts[vertex]
        )


def _edges(key: str, function: FunctionProfile) -> Iterator[EdgeRow]:
    graph = function.facts.graph
    for edge, count in zip(graph.edges, function.edge_counts, strict=True):
        if edge.kind is EdgeKind.FLOW and count is not None:
            leaving = edge.dst == graph.exit
            src, dst = location_of(function, edge.src, last=True), location_of(function, edge.dst)
            target = "exit" if leaving else graph.labels[edge.dst]
            yield EdgeRow(key, graph.labels[edge.src], target, src, dst, count)


def location_of(function: FunctionProfile, vertex: int, last: bool = False) -> str:
    """``file:line`` where a block starts (or ends), empty if it is not known."""
    if vertex == function.facts.graph.exit:
        return ""
    facts = function.facts.blocks[vertex]
    refs: Iterable[LineRef] = facts.lines
    if last:
        refs = [*([facts.branch] if facts.branch else []), *reversed(facts.lines)]
    ref = next((ref for ref in refs if ref.line > 0), None)
    return f"{function.files[ref.file].path}:{ref.line}" if ref else ""
