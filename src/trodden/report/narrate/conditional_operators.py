"""The conditional operators ``condition ? a : b`` of a source that are not part of other conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trodden.report.narrate.conditions import Condition, condition_of
from trodden.report.narrate.extents import opening_of
from trodden.report.narrate.tokens import Tokens

_BEFORE = frozenset({*"([{,;}:?", "return", "throw", "else", "do", "case", "co_return", "co_yield"})
_AFTER = frozenset(")]},;:")


@dataclass(frozen=True)
class ConditionalOperator:
    """A conditional operator whose condition lies in the lines ``first .. last``.

    ``arms`` are the lines of the second and the third operand if all three operands lie on lines of their
    own, else None: then ``first .. last`` are the lines of the whole.
    """

    first: int
    last: int
    condition: Condition
    arms: tuple[range, range] | None

    @property
    def hides(self) -> bool:
        """Whether there may be branches on its lines that are none of its tests."""
        return self.condition.hides


def conditional_operators(
    tokens: Tokens, heads: Sequence[int], tests: Mapping[int, Sequence[int]]
) -> Iterator[ConditionalOperator]:
    """Those on whose lines nothing else branches.

    ``heads`` are the keywords of statements with a condition, ``tests`` the operators that branch, by line.
    """
    taken: set[int] = set()
    for head in heads:
        taken.update(tokens.lines[head : tokens.partner[opening_of(tokens, head)] + 1])
    for question in [at for found in tests.values() for at in found if tokens.texts[at] == "?"]:
        span = _span(tokens, question)
        if span is None:
            continue
        begin, colon, end = span
        lines = range(tokens.lines[begin], tokens.lines[end - 1] + 1)
        others = [at for line in lines for at in tests.get(line, ()) if not begin <= at <= question]
        if others or not taken.isdisjoint(lines) or tokens.may_branch(question + 1, end):
            continue
        condition = condition_of(tokens, begin, question)
        if condition is None:
            continue
        own, arms = _apart(tokens, begin, question, colon, end)
        yield ConditionalOperator(lines[0], own if arms is not None else lines[-1], condition, arms)


def chosen_by(tokens: Tokens) -> Iterator[Condition]:
    """The conditions of all conditional operators, also of those that are part of others."""
    for token, text in enumerate(tokens.texts):
        span = _span(tokens, token) if text == "?" else None
        condition = None if span is None else condition_of(tokens, span[0], token)
        if condition is not None:
            yield condition


def _apart(
    tokens: Tokens, begin: int, question: int, colon: int, end: int
) -> tuple[int, tuple[range, range] | None]:
    """The last line of the condition, and the lines of the arms if they share none with each other or it."""
    last = tokens.lines[question - 1]
    first_arm = range(tokens.lines[question + 1], tokens.lines[colon - 1] + 1)
    second_arm = range(tokens.lines[colon + 1], tokens.lines[end - 1] + 1)
    apart = last < first_arm[0] and first_arm[-1] < second_arm[0]
    return last, (first_arm, second_arm) if apart else None


def _span(tokens: Tokens, question: int) -> tuple[int, int, int] | None:
    """The first token of the condition, the colon, and the token after the last operand."""
    begin = question
    while begin > 0 and not _stops(tokens, begin - 1):
        before = begin - 1
        begin = tokens.partner[before] if tokens.texts[before] in (")", "]") else before
    at, colon = question + 1, None
    while at < len(tokens.texts) and (
        tokens.texts[at] not in _AFTER or (tokens.texts[at] == ":" and not colon)
    ):
        if tokens.texts[at] == ":":
            colon = at
        at = tokens.partner[at] + 1 if tokens.texts[at] in ("(", "[", "{") else at + 1
    if colon is None or begin == question or colon == question + 1 or at == colon + 1:
        return None
    if _ends_initialiser(tokens, begin - 1):
        return None
    return begin, colon, at


def _ends_initialiser(tokens: Tokens, token: int) -> bool:
    """Whether a bracket may close ``Type{...}``, which an operand may begin with, rather than a statement."""
    before = tokens.text(tokens.partner[token] - 1) if tokens.text(token) == "}" else ""
    return before == ">" or (before.isidentifier() and before not in ("else", "do", "try"))


def _stops(tokens: Tokens, token: int) -> bool:
    return tokens.texts[token] in _BEFORE or tokens.assigns(token)
