"""Which test of a macro a branch decides.

All code of a macro has the location of its use, and its arguments have their own.  In code that was not
optimised the branches there are the tests of what the macro expands to, in their order, if there are as many
of them: nothing is said otherwise, nor of a macro that uses other macros which may branch, or that several
definitions may be meant by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from trodden.program.facts import BranchKind, LineRef
from trodden.report.narrate.conditions import Test
from trodden.report.narrate.macros import Macro
from trodden.report.narrate.source_locations import FunctionLocations
from trodden.report.narrate.statements import read_structure
from trodden.report.narrate.steps import Part
from trodden.report.narrate.tokens import SourceText, Tokens, tokens_of
from trodden.source.branches import branches
from trodden.weigh.features.block_features import OperandType, Origin

_NAME = re.compile(r"[A-Za-z_]\w*")
_LONGEST = 40
"""The lines that a use of a macro may have."""
_ASSERT = Macro(("condition",), " if (condition) ; else fail();")
"""What every C library has for ``assert``, in other words."""


@dataclass(frozen=True)
class _Use:
    """A use of a macro on a line: its columns from the first to the one after the last, and its tests."""

    begin: int
    end: int
    tests: Sequence[Test]


class MacroTests:
    """The macros that one function uses."""

    def __init__(self, locations: FunctionLocations) -> None:
        self._locations = locations
        self._facts = locations.function.facts
        self._uses: dict[LineRef, list[_Use]] = {}

    def part(self, edge: int) -> Part | None:
        """The test that an edge decides and its value; None unless both are certain."""
        source = self._facts.graph.edges[edge].src
        block = self._facts.blocks[source]
        edges = self._locations.flow_out(source)
        if not self._locations.unoptimised or block.kind is not BranchKind.IF or len(edges) != 2:
            return None
        if block.branch is None or not block.column:
            return None
        found = [use for use in self._uses_on(block.branch) if use.begin <= block.column < use.end]
        if len(found) != 1:
            return None
        use, at = found[0], self._vertices.get(block.branch, [])
        vertices = [vertex for vertex, column in at if use.begin <= column < use.end]
        if len(vertices) != len(use.tests) or source not in vertices:
            return None
        test = use.tests[vertices.index(source)]
        if self._is_overloaded(source, test):
            return None
        merged = source in self._facts.truths and self._facts.truths[source].logical
        holds = (edge == edges[0]) != (test.negated and not merged)
        return Part(test.text, "true" if holds else "false")

    @cached_property
    def _vertices(self) -> dict[LineRef, list[tuple[int, int]]]:
        """The blocks that branch on each line, in their order, with their columns."""
        found: dict[LineRef, list[tuple[int, int]]] = {}
        for each in branches(self._locations.function):
            block = self._facts.blocks[each.vertex]
            if block.branch is not None and block.column:
                found.setdefault(block.branch, []).append((each.vertex, block.column))
        return found

    def _is_overloaded(self, block: int, test: Test) -> bool:
        """Whether a function may decide a comparison or a negation."""
        features = self._facts.features.blocks
        compiled = features[block].test if features else None
        flag = compiled is not None and compiled.operand_type is OperandType.FLAG
        called = compiled is not None and compiled.origin is Origin.CALL
        decides = test.comparison.relation is not None or (test.negated and not test.called)
        return called and flag and decides

    def _uses_on(self, ref: LineRef) -> list[_Use]:
        """The macros that are used on a line, without those in the arguments of others."""
        if ref not in self._uses:
            lines = self._locations.index.sources.lines(self._locations.path_of(ref))
            known = lines is not None and 0 < ref.line <= len(lines)
            some = lines[ref.line - 1 : ref.line - 1 + _LONGEST] if lines is not None and known else []
            self._uses[ref] = list(self._read(some, ref)) if some else []
        return self._uses[ref]

    def _read(self, lines: Sequence[str], ref: LineRef) -> Iterator[_Use]:
        tokens = tokens_of(SourceText(lines), 1, None)
        token = 0
        while token < len(tokens.texts) and tokens.lines[token] == 1:
            opening = token + 1
            macro = None
            if tokens.text(opening) == "(" and opening in tokens.partner:
                macro = self._macro(tokens.texts[token], ref)
            if macro is not None:
                end = tokens.partner[opening]
                columns = (_column(lines[0], tokens.starts[token]), _column(lines[0], tokens.ends[end]))
                yield _Use(*columns, _tests(macro, _arguments(tokens, opening)))
                token = end
            token += 1

    def _macro(self, name: str, ref: LineRef) -> Macro | None:
        """The definition of a macro, in the same file or in one other that the function has code of."""
        index, own = self._locations.index, self._locations.path_of(ref)
        others = (file.path for file in self._locations.function.files if file.path != own)
        for paths in ((own,), others):
            found = [each for path in paths for each in index.macros(path, name)]
            if found:
                return found[0] if len(found) == 1 else None
        return _ASSERT if name == "assert" else None


def _column(line: str, position: int) -> int:
    """The column of a position in a line, which counts bytes from one; it goes on beyond the end."""
    return len(line[:position].encode(errors="surrogateescape")) + 1 + max(position - len(line), 0)


def _tests(macro: Macro, arguments: Sequence[str]) -> Sequence[Test]:
    """The tests of what a macro expands to; none if they are not certain."""
    if "##" in macro.body or len(arguments) != len(macro.parameters):
        return ()
    given = dict(zip(macro.parameters, arguments, strict=True))
    body = _NAME.sub(lambda match: given.get(match.group(), match.group()), macro.body)
    tests = read_structure(SourceText([f"void f() {{ {' '.join(body.split())}; }}"])).tests
    return () if any(test.hides or test.expands for test in tests) else tests


def _arguments(tokens: Tokens, opening: int) -> list[str]:
    """The arguments between a bracket and the one that closes it."""
    end = tokens.partner[opening]
    found: list[str] = []
    begin = token = opening + 1
    while token <= end:
        if token == end or tokens.texts[token] == ",":
            found.append(tokens.code(begin, token))
            begin = token + 1
        token = tokens.partner[token] + 1 if tokens.texts[token] in ("(", "[", "{") else token + 1
    return found
