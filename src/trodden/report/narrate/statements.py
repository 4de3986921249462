"""The control flow of a C or C++ source: its if, while, for and switch statements and what they guard.

Debug information holds lines, not statements.  To say that a condition was true, one has to know that the
line where control continued belongs to the part that it guards.  What the text does not say for certain
(several statements on one line, macros, brackets that do not match) is left out.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from trodden.report.narrate.conditional_operators import (
    ConditionalOperator,
    chosen_by,
    conditional_operators,
)
from trodden.report.narrate.conditions import TRUTH, Condition, Test, condition_of, elements_of
from trodden.report.narrate.extents import HEADS, guarded, opening_of, statement_ends
from trodden.report.narrate.switches import Label, labels_of
from trodden.report.narrate.tokens import TESTS, SourceText, Tokens, tokens_of

_ENDINGS = frozenset(
    {".c", ".h", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".ipp"}
)
_JUMPS = frozenset({"goto", "return", "break", "continue", "throw"})
_BRANCHING = TESTS | HEADS
_CONTROL = TESTS | HEADS | _JUMPS | {"else", "do", "case", "default", "try", "}"}


@dataclass(frozen=True)
class Statement:
    """A statement with a condition, from its keyword to the end of what it guards.

    It lies in the lines ``begin .. end``; ``first .. last`` are those of the condition, ``text`` is it and
    the keyword, ``condition`` the same taken apart, None if there is none or it is constant.  ``body`` are
    the lines of what it guards (of an if: what is executed when it is true), those left out that hold
    something else as well; ``shares`` if that begins on a line of the condition.  ``body_at`` is its position
    in the source.  ``tests`` are the operators in the brackets that make several tests of the condition.  If
    all that an if guards is to jump away, ``else_at`` is the position of what is executed when the condition
    is false, which nothing else leads to then.  ``hides``: on the lines of the condition there may be
    branches that are none of its tests.  ``tests_last``: a do loop, whose condition follows what it repeats.
    """

    word: str
    begin: int
    first: int
    last: int
    end: int
    text: str
    tests: frozenset[str]
    body: range
    body_at: int
    shares: bool
    else_at: int | None = None
    labels: tuple[Label, ...] = ()
    condition: Condition | None = None
    hides: bool = False
    tests_last: bool = False

    @property
    def loop(self) -> bool:
        """Whether it repeats what it guards."""
        return self.word in ("while", "for")


Deciding = Statement | ConditionalOperator
"""What has a condition."""


@dataclass
class Structure:
    """The statements of a source, or of one function in it."""

    statements: list[Statement] = field(default_factory=list)
    _by_line: dict[int, list[Deciding]] = field(default_factory=dict)
    _controls: list[int] = field(default_factory=list)
    _line_starts: dict[int, int] = field(default_factory=dict)
    _branching: set[int] = field(default_factory=set)
    _closing: set[int] = field(default_factory=set)
    _tokens: Tokens | None = None

    def test_at(self, position: int) -> Test | None:
        """The smallest test of a condition whose text includes a position of the source."""
        around = [each for each in self._tests if each[0] <= position < each[1]]
        return min(around, key=lambda each: each[1] - each[0])[2] if around else None

    @property
    def tests(self) -> list[Test]:
        """The tests of all conditions, each once, in the order of the source."""
        found = {(begin, end): test for begin, end, test in self._tests}
        return [found[span] for span in sorted(found)]

    @cached_property
    def _tests(self) -> list[tuple[int, int, Test]]:
        """All tests of conditions, with the positions where they begin and end."""
        tokens = self._tokens
        if tokens is None:
            return []
        own = (each.condition for each in self.statements)
        conditions = [*(each for each in own if each is not None), *chosen_by(tokens)]
        return [
            (tokens.starts[test.node.span[0]], tokens.ends[test.node.span[1] - 1], test)
            for condition in conditions
            if condition.values == TRUTH
            for test in condition.tests
        ]

    @cached_property
    def _loops_at(self) -> dict[int, list[Statement]]:
        """For each line the loops that it belongs to."""
        found: dict[int, list[Statement]] = {}
        for each in self.statements:
            if each.loop:
                for line in range(each.begin, each.end + 1):
                    found.setdefault(line, []).append(each)
        return found

    def deciding(self, line: int) -> Deciding | None:
        """What has its condition on a line, if nothing else on the lines of the condition could branch."""
        found = self._by_line.get(line, [])
        return found[0] if len(found) == 1 else None

    def loop_around(self, lines: Sequence[int]) -> Statement | None:
        """The innermost loop that all these lines belong to."""
        first, last = min(lines), max(lines)
        around = [each for each in self._loops_at.get(first, ()) if each.end >= last]
        return min(around, key=lambda each: (each.end - each.begin, -each.begin), default=None)

    def loops_around(self, line: int) -> int | None:
        """The number of loops that a line belongs to; None if the source does not hold the line."""
        if line not in self._line_starts:
            return None
        return len(self._loops_at.get(line, ()))

    def straight(self, position: int, line: int) -> bool:
        """Whether control that reaches a position of the source always reaches a line after it."""
        begin = self._line_starts.get(line, -1)
        at = bisect_left(self._controls, position)
        return begin >= position and (at == len(self._controls) or self._controls[at] >= begin)

    def closes(self, line: int) -> bool:
        """Whether a compound statement ends on a line."""
        return line in self._closing

    def branch_free(self, line: int) -> bool:
        """Whether a line holds nothing that branches, nor what may be a macro that does."""
        return line in self._line_starts and line not in self._branching

    def branches(self, line: int) -> bool:
        """Whether a line holds what branches."""
        return line in self._branching

    def _add(
        self,
        tokens: Tokens,
        head: int,
        statement: Statement,
        tests: dict[int, list[int]],
        hiding: dict[int, list[int]],
    ) -> None:
        """Enter a statement; one whose lines hold other tests is entered twice, so that it is not unique."""
        close = tokens.partner[opening_of(tokens, head)]
        own = range(statement.first, statement.last + 1)
        outside = [
            any(not head < at < close for line in own for at in found.get(line, ()))
            for found in (tests, hiding)
        ]
        condition = statement.condition
        hides = outside[1] or (condition is not None and condition.hides)
        statement = replace(statement, hides=hides)
        self.statements.append(statement)
        for line in own:
            self._by_line.setdefault(line, []).extend([statement] * (2 if outside[0] else 1))


def knows_language(path: str) -> bool:
    """Whether a file is C or C++ by its name; headers without a suffix are."""
    ending = os.path.splitext(path)[1]
    return ending.lower() in _ENDINGS or (not ending and "/include/" in path)


def read_structure(source: SourceText, first: int = 1, least: int | None = None) -> Structure:
    """The statements from line ``first`` on; ``least`` is a line of the function that begins there."""
    tokens = tokens_of(source, first, least)
    if not tokens.balanced:
        return Structure()
    ends, do_of = statement_ends(tokens)
    heads = [token for token, text in enumerate(tokens.texts) if text in HEADS and token in ends]
    labels = labels_of(tokens, {head: ends[head] for head in heads if tokens.texts[head] == "switch"})
    controls = [tokens.starts[token] for token, text in enumerate(tokens.texts) if text in _CONTROL]
    structure = Structure(_controls=controls, _tokens=tokens)
    tests: dict[int, list[int]] = {}
    hiding: dict[int, list[int]] = {}
    for token, line in enumerate(tokens.lines):
        text = tokens.texts[token]
        structure._line_starts.setdefault(line, tokens.starts[token])
        if text in TESTS:
            tests.setdefault(line, []).append(token)
        if tokens.may_hide_branch(token):
            hiding.setdefault(line, []).append(token)
        if text in _BRANCHING or line in hiding:
            structure._branching.add(line)
        if text == "}":
            structure._closing.add(line)
    for head in heads:
        statement = _statement(tokens, head, ends, do_of, tuple(labels.get(head, ())))
        structure._add(tokens, head, statement, tests, hiding)
    for choice in conditional_operators(tokens, heads, tests):
        for line in range(choice.first, choice.last + 1):
            structure._by_line.setdefault(line, []).append(choice)
    return structure


def _statement(
    tokens: Tokens, head: int, ends: dict[int, int], do_of: dict[int, int], labels: tuple[Label, ...]
) -> Statement:
    opening = opening_of(tokens, head)
    close = tokens.partner[opening]
    do = do_of.get(head)
    body = guarded(tokens, head) if do is None else do + 1
    body_end = ends[body] if do is None else head - 1
    inner = body + 1 if tokens.text(body) == "{" and body < body_end else body
    inner = min(inner, len(tokens.texts) - 1)
    first, last = tokens.lines[head], tokens.lines[close]
    begin, stop = tokens.lines[inner], tokens.lines[body_end]
    if body_end + 1 < len(tokens.lines) and tokens.lines[body_end + 1] == stop:
        stop -= 1
    if do is None:
        begin = max(begin, last + 1)
    return Statement(
        word=tokens.texts[head],
        begin=first if do is None else tokens.lines[do],
        first=first,
        last=last,
        end=tokens.lines[ends[head]],
        text=tokens.code(head, close + 1),
        tests=frozenset(tokens.texts[opening:close]) & TESTS,
        body=range(begin, max(stop + 1, begin)),
        body_at=tokens.starts[inner],
        shares=first <= tokens.lines[inner] <= last,
        else_at=_else_at(tokens, inner, body_end) if tokens.texts[head] == "if" else None,
        labels=labels,
        condition=_condition(tokens, head),
        tests_last=do is not None,
    )


def _condition(tokens: Tokens, head: int) -> Condition | None:
    """The condition in the brackets, without initialisation and what a loop executes after each iteration."""
    word, opening = tokens.texts[head], opening_of(tokens, head)
    begin, end = opening + 1, tokens.partner[opening]
    starts, colon = [begin], None
    token = begin
    while token < end:
        if tokens.texts[token] in ("(", "[", "{"):
            token = tokens.partner[token]
        elif tokens.texts[token] == ";":
            starts.append(token + 1)
        elif tokens.texts[token] == ":" and colon is None:
            colon = token
        token += 1
    if word == "switch":
        return None
    if word != "for":
        return condition_of(tokens, starts[-1], end, beside=tokens.may_branch(begin, starts[-1]))
    if len(starts) == 3:
        beside = tokens.may_branch(begin, starts[1]) or tokens.may_branch(starts[2], end)
        return condition_of(tokens, starts[1], starts[2] - 1, beside)
    return None if colon is None else elements_of(tokens, head, end + 1)


def _else_at(tokens: Tokens, inner: int, body_end: int) -> int | None:
    """Where control continues if it does not jump away, unless the jump can lead there too."""
    if tokens.text(inner) not in _JUMPS:
        return None
    following = body_end + 1
    if tokens.text(following) == "else":
        following += 2 if tokens.text(following + 1) == "{" else 1
    at = following
    while tokens.text(inner) == "goto" and at < len(tokens.texts) and tokens.texts[at] not in _CONTROL:
        if tokens.texts[at] == tokens.text(inner + 1) and tokens.text(at + 1) == ":":
            return None
        at += 1
    return tokens.starts[following] if following < len(tokens.starts) else None
