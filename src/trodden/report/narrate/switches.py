"""The cases of a switch statement: which label guards which lines."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trodden.report.narrate.tokens import Tokens

_BEFORE = frozenset("{};:")
_JUMPS = frozenset({"break", "return", "continue", "goto", "throw"})


@dataclass(frozen=True)
class Label:
    """Labels that directly follow each other: their text and lines.

    ``sealed``: the statements after them are reached through these labels only, not by falling through from
    the case before.
    """

    text: str
    first: int
    last: int
    sealed: bool


def labels_of(tokens: Tokens, switches: Mapping[int, int]) -> dict[int, list[Label]]:
    """For each switch (its first token and its last) its labels in order."""
    found: dict[int, list[Label]] = {}
    around: list[int] = []
    joins = -1
    for token, text in enumerate(tokens.texts):
        while around and token > switches[around[-1]]:
            around.pop()
        if token in switches:
            around.append(token)
        if text not in ("case", "default") or not around or tokens.text(token - 1) not in _BEFORE:
            continue
        colon = _colon(tokens, token)
        if colon is None:
            continue
        labels = found.setdefault(around[-1], [])
        words = " ".join(tokens.source[tokens.starts[token] : tokens.starts[colon]].split())
        first, last = tokens.lines[token], tokens.lines[colon]
        if labels and joins == token - 1:
            before = labels.pop()
            labels.append(Label(f"{before.text} or {words}", before.first, last, before.sealed))
        else:
            labels.append(Label(words, first, last, not labels or _jumps(tokens, token - 1)))
        joins = colon
    return found


def label_at(labels: Sequence[Label], line: int) -> Label | None:
    """The only label that can have led to a line; the labels are in the order of the source."""
    before = bisect_right(labels, line, key=lambda each: each.first)
    if not before or not labels[before - 1].sealed:
        return None
    on_line = before - bisect_left(labels, line, key=lambda each: each.last)
    return labels[before - 1] if on_line <= 1 else None


def _colon(tokens: Tokens, token: int) -> int | None:
    """The colon that ends a label, not one of a conditional expression in it."""
    pending = 0
    at = token + 1
    while at < len(tokens.texts):
        text = tokens.texts[at]
        if text == "?":
            pending += 1
        elif text == ":":
            if not pending:
                return at
            pending -= 1
        elif text == "(":
            at = tokens.partner[at]
        elif text in (";", "{", "}"):
            return None
        at += 1
    return None


def _jumps(tokens: Tokens, token: int) -> bool:
    """Whether control cannot pass the end of the statement whose last token is ``token``."""
    while tokens.text(token) == "}":
        if tokens.text(tokens.partner[token] - 1) not in _BEFORE:
            return False
        token -= 1
    if tokens.text(token) != ";":
        return False
    begin = None
    at = token - 1
    while at >= 0 and tokens.texts[at] not in ("{", "}", ";"):
        if tokens.texts[at] == ":" and begin is None:
            begin = at + 1
        elif tokens.texts[at] == "?":
            begin = None
        at = tokens.partner[at] - 1 if tokens.texts[at] in (")", "]") else at - 1
    return tokens.text(at + 1 if begin is None else begin) in _JUMPS
