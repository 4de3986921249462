"""The blocks of one condition: which belong to it, and to which part of its statement control continues.

All questions are answered by lines.  Code that was inlined into the condition has the line of its call site.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from trodden.graph.cfg import EdgeKind
from trodden.program.facts import BranchKind, LineRef
from trodden.report.narrate.conditions import Test
from trodden.report.narrate.source_locations import FunctionLocations
from trodden.report.narrate.statements import Deciding, Statement
from trodden.weigh.features.block_features import Comparison as Compiled
from trodden.weigh.features.block_features import Origin


class Side(Enum):
    """Where control continues, seen from a condition."""

    CONDITION = "still in the condition"
    BODY = "in what it guards"
    OUTSIDE = "elsewhere"
    UNKNOWN = "not known"


class Arrival(Enum):
    """Where an edge out of a branch of the condition leads."""

    BRANCH = "to another branch of the condition"
    EXIT = "out of the condition"
    UNKNOWN = "the lines do not show it"


@dataclass(frozen=True)
class Route:
    """Where an edge leads: ``vertex``, after the blocks ``passed``, which do not branch.

    ``back``: a back edge is taken, so that a branch of the condition belongs to another iteration.
    """

    arrival: Arrival
    vertex: int
    passed: tuple[int, ...] = ()
    back: bool = False


class ConditionRegion:
    """The condition of one statement or operator in one inlined instance of it.

    ``at`` is a line of the condition; its inlined instance is the one that is meant.
    """

    def __init__(self, locations: FunctionLocations, deciding: Deciding, at: LineRef) -> None:
        self.locations, self.deciding, self.at = locations, deciding, at
        self._structure = locations.structure(at)
        self._shares = not isinstance(deciding, Statement) or deciding.shares
        self._body = deciding.body if isinstance(deciding, Statement) else range(0)

    @property
    def of_loop(self) -> bool:
        """Whether it is the condition of a loop."""
        return isinstance(self.deciding, Statement) and self.deciding.loop

    @property
    def tests_last(self) -> bool:
        """Whether it is the condition of a do loop."""
        return isinstance(self.deciding, Statement) and self.deciding.tests_last

    def holds(self, ref: LineRef | None) -> bool:
        """Whether a line is one of the condition's own."""
        return (
            ref is not None
            and (ref.file, ref.instance) == (self.at.file, self.at.instance)
            and self.deciding.first <= ref.line <= self.deciding.last
        )

    @cached_property
    def ending(self) -> list[int]:
        """The blocks that end on a line of the condition, in the order of the blocks."""
        lines = range(self.deciding.first, self.deciding.last + 1)
        refs = (LineRef(self.at.file, line, self.at.instance) for line in lines)
        return sorted(vertex for ref in refs for vertex in self.locations.ending_at.get(ref, ()))

    def branches(self, vertex: int) -> bool:
        """Whether a block ends in a branch of the condition.

        A branch without a line is none: compilers take the line from one that they move to where the source
        has no test.
        """
        facts = self.locations.function.facts
        if vertex == facts.graph.exit or facts.blocks[vertex].kind is BranchKind.CALL:
            return False
        return self.holds(facts.blocks[vertex].branch) and len(self.locations.flow_out(vertex)) > 1

    def decides(self, vertex: int) -> bool:
        """Whether control that reaches a block goes on to a branch of the condition."""
        vertex, _ = self._first(vertex)
        return self.holds(self.locations.end(vertex)) and len(self.locations.flow_out(vertex)) > 1

    def follow(self, edge: int) -> Route:
        """Where an edge leads that leaves a branch of the condition."""
        locations = self.locations
        facts = locations.function.facts
        passed: dict[int, None] = {}
        back = False
        while True:
            back = back or edge in locations.back_edges
            vertex = facts.graph.edges[edge].dst
            if vertex == facts.graph.exit:
                return Route(Arrival.EXIT, vertex, tuple(passed), back)
            out = locations.flow_out(vertex)
            refs = [
                ref for ref in locations.lines(vertex) if ref.line > 0 or ref.instance != self.at.instance
            ]
            arrival = self._arrival(vertex, refs, len(out))
            if arrival is not None or vertex in passed:
                return Route(arrival or Arrival.UNKNOWN, vertex, tuple(passed), back)
            passed[vertex] = None
            edge = out[0]

    def _arrival(self, vertex: int, refs: list[LineRef], successors: int) -> Arrival | None:
        """Whether a route ends at a block; None if it leads on."""
        sides = [self.side_of(ref) for ref in refs]
        if sides and sides[0] is not Side.CONDITION:
            return Arrival.UNKNOWN if sides[0] is Side.UNKNOWN else Arrival.EXIT
        own = all(side is Side.CONDITION for side in sides)
        if self.branches(vertex):
            return Arrival.BRANCH if own else Arrival.UNKNOWN
        if not own:
            return Arrival.EXIT if self._shares else Arrival.UNKNOWN
        call = self.locations.function.facts.blocks[vertex].kind is BranchKind.CALL
        return None if successors == 1 or (call and successors) else Arrival.UNKNOWN

    def may_test_again(self, edge: int) -> bool:
        """Whether the evaluation may continue where an edge leads, though another line is executed first.

        Code of earlier statements may have been moved down, past the first tests.
        """
        vertex, _ = self._first(self.locations.function.facts.graph.edges[edge].dst)
        return self.branches(vertex) and edge not in self.locations.back_edges

    def executes_body(self, edge: int, last: bool) -> bool:
        """Whether an edge that leads to a line of the body leads to the body.

        It does if the statement is no loop.  Of loops, compilers move code of the body down, past the tests
        that follow it: a block that begins with the body may be the next test or lie outside of the loop.
        So an iteration has to begin with the block, or the block has to be one of the loop and to hold
        nothing of the condition, unless ``last`` says that no test is left.  The latter is not enough for a
        do loop, where the block may merge the value of the condition.  Where nothing is left of the loop, the
        block has to be of the body alone and to call something: calls are not moved past the tests.
        """
        if not self.of_loop:
            return True
        locations, facts = self.locations, self.locations.function.facts
        source, target, _ = facts.graph.edges[edge]
        if edge in locations.exited_by:
            return False
        vertex, _ = self._first(target)
        block = facts.blocks[vertex]
        around = set(locations.loops_around(source))
        for loop in locations.loops_around(vertex):
            header = locations.loops.loops[loop].header
            if locations.loop_statement(header) != self.deciding:
                continue
            if vertex == header or last:
                return True
            return loop in around and not self.tests_last and not any(map(self.holds, block.lines))
        return bool(block.calls) and all(self.side_of(ref) is Side.BODY for ref in block.lines)

    def evaluated_once(self, tests: int) -> bool:
        """Whether its branches are those of one evaluation: as many as it has tests, in all loops around.

        Otherwise iterations were peeled or unrolled, and a branch may belong to the next evaluation.  An
        optimised loop may also begin in the middle of its condition, if the first tests are known to hold
        when it is entered.
        """
        branches = [vertex for vertex in self.ending if self.branches(vertex)]
        nesting = self.locations.nesting(LineRef(self.at.file, self.deciding.first, self.at.instance))
        if nesting is None or len(branches) > tests or (self.of_loop and not self.locations.as_written):
            return False
        return all(self.locations.depth(vertex) >= nesting for vertex in branches)

    def may_hide_tests(self, vertex: int) -> bool:
        """Whether a block holds code that was inlined into the condition and may have had branches."""
        return any(
            ref.instance != self.at.instance
            and ref.instance not in self.locations.branch_free_instances
            and self.side_of(ref) is Side.CONDITION
            for ref in self.locations.function.facts.blocks[vertex].lines
        )

    def compiled(self, vertex: int) -> Compiled | None:
        """What a branch compares, if it is known."""
        features = self.locations.function.facts.features.blocks
        return features[vertex].test if features else None

    def compared(self, vertex: int, test: Test) -> Compiled | None:
        """What a branch compares, unless it may be a comparison inside of what the test names.

        A macro is expanded and a call may be inlined, so that their own comparison is what is compiled:
        ``!empty(p)`` and ``p->size == 0`` are the same branch.  An overloaded operator is inlined
        without any call in the source, but the lines of its code show it.
        """
        compiled = self.compiled(vertex)
        if compiled is None or self._holds_inlined_code(vertex):
            return None
        returned = compiled.origin is Origin.CALL and (not compiled.callee or test.calls(compiled.callee))
        own = returned if test.called else not test.expands
        return compiled if own else None

    def _holds_inlined_code(self, vertex: int) -> bool:
        """Whether code was inlined into a block, or into those of the condition that only lead there."""
        facts, seen = self.locations.function.facts, set[int]()
        while vertex not in seen:
            seen.add(vertex)
            if any(ref.instance != self.at.instance for ref in facts.blocks[vertex].lines):
                return True
            edges = [e for e in facts.graph.in_edges[vertex] if facts.graph.edges[e].kind is EdgeKind.FLOW]
            before = facts.graph.edges[edges[0]].src if len(edges) == 1 else vertex
            if len(self.locations.flow_out(before)) == 1:
                vertex = before
        return False

    def landing(self, vertex: int) -> tuple[int, LineRef | None]:
        """The first line that is reached after blocks that belong to the condition and do not branch."""
        graph = self.locations.function.facts.graph
        seen: set[int] = set()
        while True:
            vertex, ref = self.locations.landing(vertex)
            out = self.locations.flow_out(vertex)
            if ref is None or vertex in seen or not all(map(self.holds, self.locations.lines(vertex))):
                return vertex, ref
            if len(out) != 1 or graph.edges[out[0]].dst == graph.exit:
                return vertex, ref
            seen.add(vertex)
            vertex = graph.edges[out[0]].dst

    def _first(self, vertex: int) -> tuple[int, LineRef | None]:
        """Where control arrives; what is guarded on a line of the condition is not skipped."""
        return self.locations.landing(vertex) if self._shares else self.landing(vertex)

    def line(self, vertex: int) -> int | None:
        """The line where a block begins, as the statement's own code sees it."""
        _, ref = self.landing(vertex)
        seen = None if ref is None else self.locations.seen_from(ref, self.at.instance)
        return seen.line if seen is not None and seen.file == self.at.file else None

    def side(self, vertex: int) -> Side:
        """Where control is that reaches a block."""
        return self.side_of(self._first(vertex)[1])

    def in_body(self, vertex: int) -> bool:
        """Whether control that reaches a block is in what is guarded."""
        return self.side(vertex) is Side.BODY

    def is_outside(self, vertex: int) -> bool:
        """Whether control that reaches a block has left the statement."""
        return self.side(vertex) is Side.OUTSIDE

    def side_of(self, ref: LineRef | None) -> Side:
        """Where a line lies."""
        if ref is None:
            return Side.UNKNOWN
        seen = self.locations.seen_from(ref, self.at.instance)
        if seen is None:
            return Side.OUTSIDE
        if seen.file != self.at.file or seen.line <= 0:
            return Side.UNKNOWN
        if self.deciding.first <= seen.line <= self.deciding.last:
            return Side.CONDITION
        return Side.BODY if seen.line in self._body else Side.OUTSIDE

    def enters_body(self, vertex: int) -> bool:
        """Whether control that reaches a block is at the beginning of what is guarded."""
        return isinstance(self.deciding, Statement) and self._arrives(vertex, self.deciding.body_at)

    def begins_body(self, vertex: int) -> bool:
        """The same where body and condition may share a line: neither another test nor a jump alone."""
        if self.side(vertex) is Side.CONDITION:
            first, _ = self.locations.landing(vertex)
            return not self.decides(vertex) and self.locations.function.facts.blocks[first].size > 1
        return self.side(vertex) is Side.BODY and self.enters_body(vertex)

    def reaches_else(self, vertex: int) -> bool:
        """Whether control that reaches a block is where it continues without the jump that is guarded.

        The end of a compound statement is no such location: the code of a return often has the line of the
        last bracket.
        """
        _, ref = self.landing(vertex)
        position = self.deciding.else_at if isinstance(self.deciding, Statement) else None
        if position is None or ref is None or self._structure.closes(ref.line):
            return False
        return self._arrives(vertex, position)

    def _arrives(self, vertex: int, position: int) -> bool:
        """Whether control has reached a position of the source, and nothing after it is decided yet."""
        vertex, ref = self.landing(vertex)
        if ref is None or (ref.file, ref.instance) != (self.at.file, self.at.instance):
            return False
        if not self._structure.straight(position, ref.line):
            return False
        if self._structure.branch_free(ref.line):
            return True
        end = self.locations.end(vertex)
        tests = self.deciding.tests if isinstance(self.deciding, Statement) else frozenset()
        return (
            tests <= {"&&", "and"}
            and self._single_test(ref.line)
            and end is not None
            and (end.line, end.instance) == (ref.line, ref.instance)
            and len(self.locations.flow_out(vertex)) > 1
        )

    def _single_test(self, line: int) -> bool:
        """Whether a line has one test: where its branch is, it has not been joined with another one."""
        inner = self._structure.deciding(line)
        if inner is None or inner.condition is None:
            return False
        return len(inner.condition.tests) == 1 and not inner.hides
