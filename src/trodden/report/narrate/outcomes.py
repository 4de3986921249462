"""Did the condition hold?  What a branch of the compiled program decided, in terms of the source.

The order of a branch's targets does not tell: compilers turn conditions round, join several into one and
make several of one.  What tells is where control went on.  If that is a line that a condition guards, the
condition held.  If it is not, the condition did not hold, provided that the other way leads to the
begin of what is guarded; otherwise the branch may have decided something further inside as well.
"""

from __future__ import annotations

from enum import Enum

from trodden.program.facts import LineRef
from trodden.report.narrate.source_locations import Places
from trodden.report.narrate.statements import Statement
from trodden.report.narrate.switches import label_at

YES, NO = "yes", "no"


class _Side(Enum):
    CONDITION = "still in the condition"
    BODY = "in what it guards"
    OUTSIDE = "elsewhere"
    UNKNOWN = "nobody knows"


class Judge:
    """What the branches at one statement's condition decided.

    ``at`` is a line of the condition: what was inlined there is told apart by its copy.
    """

    def __init__(self, places: Places, statement: Statement, at: LineRef) -> None:
        self._places, self._statement, self._at = places, statement, at
        self._structure = places.structure(at)

    def undecided(self, edge: int) -> bool:
        """Whether control stays in the condition."""
        target = self._places.function.facts.graph.edges[edge].dst
        return not self._statement.shares and self._side(target) is _Side.CONDITION

    def verdict(self, edge: int) -> str | None:
        """``yes``, ``no`` or the label of a case; None unless it is certain."""
        graph = self._places.function.facts.graph
        source, target = graph.edges[edge].src, graph.edges[edge].dst
        others = [graph.edges[e].dst for e in self._places.flow_out(source) if e != edge]
        if self._statement.word == "switch":
            return self._case(target)
        if self._statement.shares:
            return self._verdict_on_one_line(target, others)
        side = self._side(target)
        if side is _Side.BODY and not all(self._side(other) is _Side.BODY for other in others):
            return YES
        if side is _Side.OUTSIDE and any(self._refutes(other) for other in others):
            return NO
        return self._verdict_by_else(target, others)

    def _verdict_on_one_line(self, target: int, others: list[int]) -> str | None:
        """Where condition and what it guards share a line, only a single test can be told."""
        by_else = self._verdict_by_else(target, others)
        if by_else is not None or self._statement.tests:
            return by_else
        if self._begins(target) and all(self._side(other) is _Side.OUTSIDE for other in others):
            return YES
        if self._side(target) is _Side.OUTSIDE and all(map(self._begins, others)):
            return NO
        return None

    def _begins(self, vertex: int) -> bool:
        """Whether a way comes to the begin of what is guarded, not to another test or to a jump alone."""
        if self._side(vertex) is _Side.CONDITION:
            landing, _ = self._places.landing(vertex)
            return not self._decides(vertex) and self._places.function.facts.blocks[landing].size > 1
        return self._side(vertex) is _Side.BODY and self._enters(vertex)

    def _verdict_by_else(self, target: int, others: list[int]) -> str | None:
        """Where only a jump is guarded, its code may lie anywhere, but what comes without it is known."""
        if self._comes_without(target):
            return NO
        return YES if self._side(target) is _Side.OUTSIDE and any(map(self._comes_without, others)) else None

    def _comes_without(self, vertex: int) -> bool:
        """Whether a way leads to what comes without the jump.

        The end of a block is no such place: the code of a return often bears the line of the last bracket.
        """
        _, ref = self._landing(vertex)
        place = self._statement.else_at
        if place is None or ref is None or self._structure.closes(ref.line):
            return False
        return self._arrives(vertex, place)

    def _case(self, target: int) -> str | None:
        line = self._line(target)
        if line is None or line not in self._statement.body:
            return None
        label = label_at(self._statement.labels, line)
        return None if label is None else label.text

    def _refutes(self, other: int) -> bool:
        """Whether not going to ``other`` means that the condition does not hold.

        It does if that way begins what is guarded.  Of tests that all have to hold it also does if that way
        leads to the next of them, while something that is guarded is there to be reached.
        """
        side = self._side(other)
        if side is _Side.BODY:
            return self._enters(other)
        further = side is _Side.CONDITION and self._statement.tests == {"&&"} and self._decides(other)
        return further and self._guards()

    def _guards(self) -> bool:
        """Whether some branch in the condition leads to the begin of what is guarded."""
        places, graph = self._places, self._places.function.facts.graph
        return any(
            self._side(graph.edges[edge].dst) is _Side.BODY and self._enters(graph.edges[edge].dst)
            for vertex in range(graph.exit)
            if self._holds(places.end(vertex))
            for edge in places.flow_out(vertex)
        )

    def _enters(self, vertex: int) -> bool:
        """Whether a way into what is guarded comes to its begin."""
        return self._arrives(vertex, self._statement.body_at)

    def _arrives(self, vertex: int, place: int) -> bool:
        """Whether a way comes to a place of the source, so that nothing behind the place is decided yet."""
        vertex, ref = self._landing(vertex)
        if ref is None or (ref.file, ref.copy) != (self._at.file, self._at.copy):
            return False
        if not self._structure.straight(place, ref.line):
            return False
        if self._structure.plain(ref.line):
            return True
        end = self._places.end(vertex)
        return (
            "||" not in self._statement.tests
            and "?" not in self._statement.tests
            and end is not None
            and (end.line, end.copy) == (ref.line, ref.copy)
            and len(self._places.flow_out(vertex)) > 1
        )

    def _decides(self, vertex: int) -> bool:
        """Whether the condition is tested further in a block."""
        vertex, _ = self._places.landing(vertex) if self._statement.shares else self._landing(vertex)
        return self._holds(self._places.end(vertex)) and len(self._places.flow_out(vertex)) > 1

    def _holds(self, ref: LineRef | None) -> bool:
        return (
            ref is not None
            and (ref.file, ref.copy) == (self._at.file, self._at.copy)
            and self._statement.first <= ref.line <= self._statement.last
        )

    def _landing(self, vertex: int) -> tuple[int, LineRef | None]:
        """Where control comes to, behind blocks that belong to the condition and decide nothing."""
        blocks, graph = self._places.function.facts.blocks, self._places.function.facts.graph
        seen: set[int] = set()
        while True:
            vertex, ref = self._places.landing(vertex)
            ways = self._places.flow_out(vertex)
            if ref is None or vertex in seen or not all(map(self._holds, blocks[vertex].lines)):
                return vertex, ref
            if len(ways) != 1 or graph.edges[ways[0]].dst == graph.exit:
                return vertex, ref
            seen.add(vertex)
            vertex = graph.edges[ways[0]].dst

    def _line(self, vertex: int) -> int | None:
        """The line where a block begins, as the statement's own code knows it."""
        _, ref = self._landing(vertex)
        seen = None if ref is None else self._places.seen_from(ref, self._at.copy)
        return seen.line if seen is not None and seen.file == self._at.file else None

    def _side(self, vertex: int) -> _Side:
        _, ref = self._places.landing(vertex) if self._statement.shares else self._landing(vertex)
        if ref is None:
            return _Side.UNKNOWN
        seen = self._places.seen_from(ref, self._at.copy)
        if seen is None:
            return _Side.OUTSIDE
        if seen.file != self._at.file or seen.line <= 0:
            return _Side.UNKNOWN
        if self._statement.first <= seen.line <= self._statement.last:
            return _Side.CONDITION
        return _Side.BODY if seen.line in self._statement.body else _Side.OUTSIDE
