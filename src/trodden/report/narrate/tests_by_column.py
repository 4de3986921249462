"""Which test a branch decides, by its column: for lines that hold the conditions of several statements.

In code that was not optimised each test has a branch of its own, and debug information has its column, which
lies inside of the text of the test.  Front ends for C and C++ branch to the first successor if a test holds,
and to the second if it is negated and holds.  Several branches at one column are those of a macro or of what
the text does not show, and nothing is said of them here.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from trodden.program.facts import BranchKind, LineRef
from trodden.report.narrate.conditions import Test
from trodden.report.narrate.source_locations import FunctionLocations
from trodden.report.narrate.steps import Part
from trodden.weigh.features.block_features import OperandType, Origin

_Place = tuple[LineRef, int]
"""A line and a column."""


class TestsByColumn:
    """The tests of one function in its sources."""

    def __init__(self, locations: FunctionLocations) -> None:
        self._locations = locations
        self._facts = locations.function.facts

    def part(self, edge: int) -> Part | None:
        """The test that an edge decides and its value; None unless both are certain."""
        source = self._facts.graph.edges[edge].src
        place = self._place(source)
        edges = self._locations.flow_out(source)
        if place is None or not self._locations.unoptimised or self._at[place] != 1 or len(edges) != 2:
            return None
        test = self._test(source, place)
        if test is None or test.hides or test.expands:
            return None
        return Part(test.text, "true" if (edge == edges[0]) != test.negated else "false")

    def _place(self, block: int) -> _Place | None:
        facts = self._facts.blocks[block]
        if facts.kind is not BranchKind.IF or facts.branch is None or facts.branch.line <= 0:
            return None
        return (facts.branch, facts.column) if facts.column else None

    @cached_property
    def _at(self) -> Counter[_Place | None]:
        """How many branches there are at each place."""
        return Counter(map(self._place, range(self._facts.graph.exit)))

    def _test(self, block: int, place: _Place) -> Test | None:
        """The test at a place, if what is compiled is the test itself.

        An overloaded operator or a macro may decide it instead.
        """
        ref, column = place
        path = self._locations.path_of(ref)
        position = self._locations.index.position(path, ref.line, column)
        features = self._facts.features.blocks
        compiled = features[block].test if features else None
        if position is None or compiled is None or block in self._facts.truths:
            return None
        test = self._locations.structure(ref).test_at(position)
        called = compiled.origin is Origin.CALL
        if test is None or (
            called and not (test.called and (not compiled.callee or test.calls(compiled.callee)))
        ):
            return None
        named = self._locations.index.calls_at(path, position)
        flag = compiled.operand_type is OperandType.FLAG
        overloaded = called and flag and test.comparison.relation is not None
        return None if overloaded or (named and not called) else test
