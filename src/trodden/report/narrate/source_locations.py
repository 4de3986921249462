"""Where the blocks of a function lie in the sources, and how these locations are named."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property

from trodden.graph.cfg import EdgeKind
from trodden.graph.loops import LoopForest, find_loops
from trodden.profile.model import FunctionProfile
from trodden.program.facts import BranchKind, LineRef
from trodden.report.narrate.source_index import SourceIndex
from trodden.report.narrate.statements import Deciding, Statement, Structure
from trodden.source.continues import continues_at, numbered_own_code, own_code
from trodden.weigh.features.block_features import OperandType, Origin


class FunctionLocations:
    """One function's blocks and loops in the source."""

    def __init__(self, function: FunctionProfile, index: SourceIndex) -> None:
        self.function, self.index = function, index
        self._graph, self._blocks = function.facts.graph, function.facts.blocks
        self._loop_statements: dict[int, Statement | None] = {}
        self._flow_out: dict[int, list[int]] = {}
        self._landings: dict[int, tuple[int, LineRef | None]] = {}

    @cached_property
    def loops(self) -> LoopForest:
        """The loops of the function's graph."""
        return find_loops(self._graph)

    @cached_property
    def exited_by(self) -> dict[int, list[int]]:
        """For each edge that exits loops these loops, innermost first."""
        found: dict[int, list[int]] = {}
        for number, loop in enumerate(self.loops.loops):
            for edge in loop.exits:
                found.setdefault(edge, []).append(number)
        for numbers in found.values():
            numbers.sort(key=lambda number: -self.loops.loops[number].depth)
        return found

    @cached_property
    def back_edges(self) -> frozenset[int]:
        """The back edges of all loops."""
        return frozenset(edge for loop in self.loops.loops for edge in loop.back_edges)

    @cached_property
    def looping(self) -> frozenset[int]:
        """The blocks that are their own successors."""
        return frozenset(src for src, dst, kind in self._graph.edges if src == dst and kind is EdgeKind.FLOW)

    def loops_around(self, vertex: int) -> Iterator[int]:
        """The loops that a block belongs to, innermost first."""
        loop = self.loops.innermost[vertex]
        while loop >= 0:
            yield loop
            loop = self.loops.loops[loop].parent

    @cached_property
    def ending_at(self) -> dict[LineRef, list[int]]:
        """The blocks that end at a line."""
        found: dict[LineRef, list[int]] = {}
        for vertex in range(self._graph.exit):
            ref = self.end(vertex)
            if ref is not None:
                found.setdefault(ref, []).append(vertex)
        return found

    def flow_out(self, vertex: int) -> list[int]:
        """The edges of the program that leave a block, in the order of its successors."""
        if vertex not in self._flow_out:
            out = self._graph.out_edges[vertex]
            self._flow_out[vertex] = [e for e in out if self._graph.edges[e].kind is EdgeKind.FLOW]
        return self._flow_out[vertex]

    def lines(self, vertex: int) -> Sequence[LineRef]:
        """The lines of a block's own code."""
        return own_code(self.function.facts, vertex)

    def numbered_lines(self, vertex: int) -> Sequence[tuple[int, LineRef]]:
        """The same, each with its index among the lines of the block."""
        return numbered_own_code(self.function.facts, vertex)

    def handler(self, edge: int) -> tuple[int, LineRef] | None:
        """The block and line where an exception continues that takes an edge; None if it leaves the function.

        Calls on one line have clean-up code of their own there, which is passed.
        """
        thrown_at = self.end(self._graph.edges[edge].src)
        seen: set[int] = set()
        while True:
            vertex, ref = self.landing(continues_at(self.function.facts, edge))
            if vertex == self._graph.exit or vertex in seen:
                return None
            seen.add(vertex)
            leaving = self.flow_out(vertex)
            leaves = self._blocks[vertex].kind is BranchKind.UNWIND or not leaving
            if ref is not None and any(each != thrown_at for each in self.lines(vertex)):
                return vertex, ref
            if leaves or self._blocks[vertex].kind not in (BranchKind.JUMP, BranchKind.CALL):
                return None if ref is None or leaves else (vertex, ref)
            edge = leaving[0]

    def after(self, edge: int) -> tuple[int, LineRef | None]:
        """The first line that is reached along an edge, and its block; if there is none, the next block."""
        vertex, ref = self.landing(continues_at(self.function.facts, edge))
        return (self._graph.edges[edge].dst, None) if ref is None else (vertex, ref)

    def landing(self, vertex: int) -> tuple[int, LineRef | None]:
        """The first line that is always reached from a block, and the block that holds it."""
        passed: dict[int, None] = {}
        found: tuple[int, LineRef | None] | None = None
        while vertex != self._graph.exit and vertex not in passed and found is None:
            found = self._landings.get(vertex)
            if found is None:
                passed[vertex] = None
                ref = next((ref for ref in self.lines(vertex) if ref.line > 0), None)
                out = self.flow_out(vertex)
                if ref is not None or len(out) != 1:
                    found = vertex, ref or self._decides_at(vertex)
                else:
                    vertex = self._graph.edges[out[0]].dst
        if found is None and vertex in passed:
            return vertex, None
        found = found or (vertex, None)
        self._landings.update(dict.fromkeys(passed, found))
        return found

    def _decides_at(self, vertex: int) -> LineRef | None:
        """The line of the branch of a block that has no code of its own but a branch."""
        block = self._blocks[vertex]
        decides = block.kind in (BranchKind.IF, BranchKind.SWITCH) and block.branch is not None
        return block.branch if decides and block.branch is not None and block.branch.line > 0 else None

    def begin(self, vertex: int) -> LineRef | None:
        """The first line that is reached from the beginning of a block."""
        return self.landing(vertex)[1]

    def end(self, vertex: int) -> LineRef | None:
        """The line of the instruction that ends a block, or the last known line before it."""
        if vertex == self._graph.exit:
            return None
        branch = self._blocks[vertex].branch
        known = [*self._blocks[vertex].lines, *([branch] if branch else [])]
        return next((ref for ref in reversed(known) if ref.line > 0), None)

    def seen_from(self, ref: LineRef, instance: int) -> LineRef | None:
        """A line as an inlined instance sees it: code that is inlined there has the line of its call site.

        None if the line lies outside of that instance; a call site whose line is not known has line 0.
        """
        while ref.instance > instance:
            ref = self.function.facts.inlined[ref.instance - 1]
        return ref if ref.instance == instance else None

    def path_of(self, ref: LineRef) -> str:
        """The file of a line."""
        return self.function.files[ref.file].path

    def inlined_function(self, ref: LineRef) -> FunctionProfile | None:
        """The function that an inlined line belongs to, if it is known."""
        return self.index.owner(self.path_of(ref), ref.line) if ref.instance else None

    def inlined_from(self, ref: LineRef) -> str | None:
        """The name of the function that an inlined line belongs to, if it is known."""
        callees = self.function.facts.callees
        if ref.instance and callees:
            return callees[ref.instance - 1].name
        owner = self.inlined_function(ref)
        return None if owner is None else owner.name

    def structure(self, ref: LineRef) -> Structure:
        """The statements around a line."""
        path, callees = self.path_of(ref), self.function.facts.callees
        owner = self.inlined_function(ref) if ref.instance else self.function
        callee = callees[ref.instance - 1] if owner is None and callees else None
        if callee is not None and callee.file == ref.file:
            return self.index.inlined_structure(path, callee.line)
        return self.index.structure(path, owner)

    def deciding(self, ref: LineRef) -> Deciding | None:
        """The statement or operator whose condition lies on a line."""
        return self.structure(ref).deciding(ref.line)

    def nesting(self, ref: LineRef) -> int | None:
        """The number of loops of the source around a line and its call sites; None if it is not known."""
        found = 0
        while True:
            around = self.structure(ref).loops_around(ref.line)
            if around is None:
                return None
            found += around
            if not ref.instance:
                return found
            ref = self.function.facts.inlined[ref.instance - 1]

    def depth(self, vertex: int) -> int:
        """The number of compiled loops around a block."""
        return sum(1 for _ in self.loops_around(vertex))

    @cached_property
    def as_written(self) -> bool:
        """Whether the code shows no sign of an optimiser, so that blocks follow the order of the source.

        Front ends keep variables in memory: a function begins with storing its parameters, and what a branch
        tests is loaded.
        """
        features = self.function.facts.features.blocks
        tests = [block.test for block in features if block.test is not None]
        origins = {(test.origin, test.operand_type is OperandType.FLAG) for test in tests}
        promoted = origins & {(Origin.PARAMETER, True), (Origin.PARAMETER, False), (Origin.PHI, False)}
        return bool(features) and features[self._graph.root].stores > 0 and not promoted

    @cached_property
    def unoptimised(self) -> bool:
        """Whether the blocks are certain to be those of the front end; earlier versions did not record it."""
        recorded = all(block.call_lines is not None for block in self._blocks)
        return recorded and not self.function.facts.optimised

    @cached_property
    def branch_free_instances(self) -> frozenset[int]:
        """The inlined instances whose source is known and holds no branch."""
        lines: dict[int, set[LineRef]] = {}
        for block in self._blocks:
            for ref in block.lines:
                if ref.line > 0 and ref.instance:
                    lines.setdefault(ref.instance, set()).add(ref)
        return frozenset(instance for instance, refs in lines.items() if self._branch_free(refs))

    def _branch_free(self, refs: set[LineRef]) -> bool:
        """Whether the lines of one inlined instance, and those between them, hold no branch."""
        some = next(iter(refs))
        origin = self.inlined_function(some)
        numbers = [ref.line for ref in refs]
        if origin is not None and origin.file == self.path_of(some):
            span = self.index.span(origin)
            numbers += [span[0], span[-1]]
        if any(ref.file != some.file for ref in refs):
            return False
        structure = self.structure(some)
        known = [structure.branch_free(line) for line in {ref.line for ref in refs}]
        between = range(min(numbers), max(numbers) + 1)
        return all(known) and not any(structure.branches(line) for line in between)

    def name(self, ref: LineRef) -> str:
        """``line 12``, or ``list.h:7`` for a line that is not the function's own."""
        if ref.instance == 0 and self.path_of(ref) == self.function.file:
            return f"line {ref.line}"
        return f"{os.path.basename(self.path_of(ref))}:{ref.line}"

    def name_of_block(self, vertex: int, ref: LineRef | None) -> str:
        """The location of a block: its line, or else its label."""
        if ref is not None:
            return self.name(ref)
        return "the function exit" if vertex == self._graph.exit else f"block {self._graph.labels[vertex]}"

    def name_of_loop(self, header: int) -> str:
        """The location of the loop whose header is the block ``header``.

        A compiled loop may begin with its body; to a reader it begins with the statement.
        """
        ref = self.begin(header)
        if ref is None:
            return self.name_of_block(header, None)
        lines = self._lines_of_loop(header, ref)
        statement = self.structure(ref).loop_around(lines)
        first = min(lines) if statement is None else statement.begin
        return self.name(LineRef(ref.file, first, ref.instance))

    def loop_statement(self, header: int) -> Statement | None:
        """The statement that became the loop of a header, as far as lines show it."""
        if header not in self._loop_statements:
            ref = self.begin(header)
            lines = [] if ref is None else self._lines_of_loop(header, ref)
            found = None if ref is None else self.structure(ref).loop_around(lines)
            self._loop_statements[header] = found
        return self._loop_statements[header]

    def _lines_of_loop(self, header: int, ref: LineRef) -> list[int]:
        """The first line of a loop's header, and the lines of its back edges."""
        number = self.loops.of_header.get(header)
        back_edges = () if number is None else self.loops.loops[number].back_edges
        ends = [self.end(self._graph.edges[edge].src) for edge in back_edges]
        known = [self.seen_from(end, ref.instance) for end in ends if end is not None]
        same = [each.line for each in known if each is not None and each.file == ref.file and each.line > 0]
        return [ref.line, *same]
