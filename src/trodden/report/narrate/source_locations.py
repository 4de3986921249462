"""Where the blocks of a function lie in the sources, as a reader would point at them."""

from __future__ import annotations

import os
from functools import cached_property

from trodden.graph.cfg import EdgeKind
from trodden.graph.loops import LoopForest, find_loops
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import LineRef
from trodden.report.narrate.sources import Sources
from trodden.report.narrate.statements import Statement, Structure, knows_language, read_structure


class Landscape:
    """The sources of a profile with what is known of their shape, read once and when needed."""

    def __init__(self, profile: Profile, force: bool = False) -> None:
        self.sources = Sources(profile, force)
        self._profile = profile
        self._structures: dict[tuple[str, int], Structure] = {}

    @cached_property
    def _holders(self) -> dict[tuple[str, int], list[FunctionProfile]]:
        """For each line the functions whose own code it is; lines that were inlined are not."""
        holders: dict[tuple[str, int], dict[int, FunctionProfile]] = {}
        for function in self._profile.functions.values():
            for block in function.facts.blocks:
                for ref in block.lines:
                    if ref.line > 0 and ref.copy == 0:
                        place = function.files[ref.file].path, ref.line
                        holders.setdefault(place, {})[id(function)] = function
        return {place: list(found.values()) for place, found in holders.items()}

    def holder(self, path: str, line: int) -> FunctionProfile | None:
        """The function that a line belongs to, if the profile knows one and only one."""
        found = self._holders.get((path, line), [])
        return found[0] if len(found) == 1 else None

    def text(self, path: str, line: int) -> str | None:
        """A source line without the blanks around; None if the source is not to be had."""
        lines = self.sources.lines(path)
        return lines[line - 1].strip() if lines is not None and 0 < line <= len(lines) else None

    def structure(self, path: str, owner: FunctionProfile | None) -> Structure:
        """The statements of a file; only those of the function ``owner`` if that is known."""
        lines = self.sources.lines(path)
        if lines is None or not knows_language(path):
            return Structure()
        first, least = 1, None
        if owner is not None and owner.file == path and owner.line > 0:
            first, least = owner.line, own_span(owner)[-1]
        key = path, first
        if key not in self._structures:
            self._structures[key] = read_structure(lines, first, least)
        return self._structures[key]


def own_span(function: FunctionProfile) -> range:
    """The lines from where a function begins to the last that holds code of it; empty if nobody knows."""
    own = [
        ref.line
        for block in function.facts.blocks
        for ref in block.lines
        if ref.line > 0 and ref.copy == 0 and function.files[ref.file].path == function.file
    ]
    lines = [*own, *([function.line] if function.line > 0 else [])]
    return range(min(lines), max(lines) + 1) if lines else range(0)


class Places:
    """One function's blocks and loops in the source."""

    def __init__(self, function: FunctionProfile, landscape: Landscape) -> None:
        self.function, self.landscape = function, landscape
        self._graph, self._blocks = function.facts.graph, function.facts.blocks

    @cached_property
    def loops(self) -> LoopForest:
        """The loops of the function's graph."""
        return find_loops(self._graph)

    @cached_property
    def left_by(self) -> dict[int, list[int]]:
        """For each edge that leaves loops these loops, innermost first."""
        found: dict[int, list[int]] = {}
        for number, loop in enumerate(self.loops.loops):
            for edge in loop.exits:
                found.setdefault(edge, []).append(number)
        for numbers in found.values():
            numbers.sort(key=lambda number: -self.loops.loops[number].depth)
        return found

    def flow_out(self, vertex: int) -> list[int]:
        """The edges that control can leave a block by, in the order of the program."""
        return [e for e in self._graph.out_edges[vertex] if self._graph.edges[e].kind is EdgeKind.FLOW]

    def landing(self, vertex: int) -> tuple[int, LineRef | None]:
        """The first line that is certain to come when control comes to a block, and the block with it."""
        seen: set[int] = set()
        while vertex != self._graph.exit and vertex not in seen:
            seen.add(vertex)
            ref = next((ref for ref in self._blocks[vertex].lines if ref.line > 0), None)
            ways = self.flow_out(vertex)
            if ref is not None or len(ways) != 1:
                return vertex, ref
            vertex = self._graph.edges[ways[0]].dst
        return vertex, None

    def begin(self, vertex: int) -> LineRef | None:
        """The first line that control comes to behind the begin of a block."""
        return self.landing(vertex)[1]

    def end(self, vertex: int) -> LineRef | None:
        """The line of the instruction that ends a block, or the last that is known before it."""
        if vertex == self._graph.exit:
            return None
        facts = self._blocks[vertex]
        known = [*facts.lines, *([facts.branch] if facts.branch else [])]
        return next((ref for ref in reversed(known) if ref.line > 0), None)

    def seen_from(self, ref: LineRef, copy: int) -> LineRef | None:
        """A line as the code of a copy knows it: what is inlined there is the line of its call.

        None if the line lies outside of that copy; a call whose line nobody knows has line 0.
        """
        while ref.copy > copy:
            ref = self.function.facts.inlined[ref.copy - 1]
        return ref if ref.copy == copy else None

    def path_of(self, ref: LineRef) -> str:
        """The file of a line."""
        return self.function.files[ref.file].path

    def inlined_function(self, ref: LineRef) -> FunctionProfile | None:
        """The function that an inlined line comes from, if it is known."""
        return self.landscape.holder(self.path_of(ref), ref.line) if ref.copy else None

    def structure(self, ref: LineRef) -> Structure:
        """The statements around a line."""
        owner = self.inlined_function(ref) if ref.copy else self.function
        return self.landscape.structure(self.path_of(ref), owner)

    def deciding(self, ref: LineRef) -> Statement | None:
        """The statement whose condition holds a line."""
        return self.structure(ref).deciding(ref.line)

    def name(self, ref: LineRef) -> str:
        """``line 12``, or ``list.h:7`` for a line that is not the function's own."""
        if ref.copy == 0 and self.path_of(ref) == self.function.file:
            return f"line {ref.line}"
        return f"{os.path.basename(self.path_of(ref))}:{ref.line}"

    def name_of_block(self, vertex: int, ref: LineRef | None) -> str:
        """The place of a block: its line, or else its label."""
        if ref is not None:
            return self.name(ref)
        return "the exit" if vertex == self._graph.exit else f"block {self._graph.labels[vertex]}"

    def name_of_loop(self, header: int) -> str:
        """The place of the loop that begins with the block ``header``.

        In a compiled program a loop may begin with its body; to a reader it begins with the statement.
        """
        ref = self.begin(header)
        if ref is None:
            return self.name_of_block(header, None)
        number = self.loops.of_header.get(header)
        back_edges = () if number is None else self.loops.loops[number].back_edges
        ends = [self.end(self._graph.edges[edge].src) for edge in back_edges]
        known = [self.seen_from(end, ref.copy) for end in ends if end is not None]
        same = [each.line for each in known if each is not None and each.file == ref.file and each.line > 0]
        lines = [ref.line, *same]
        statement = self.structure(ref).loop_around(lines)
        first = min(lines) if statement is None else statement.begin
        return self.name(LineRef(ref.file, first, ref.copy))
