"""The cases of a switch statement: which label guards which lines."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trodden.report.narrate.tokens import Tokens

_BEFORE = frozenset("{};:")
_JUMPS = frozenset({"break", "return", "continue", "goto", "throw"})
_NUMBER = re.compile(r"(-?)(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_CHARACTER = re.compile(r"'([ -&(-\[\]-~])'")
DEFAULT = "default"


@dataclass(frozen=True)
class Label:
    """Labels that directly follow each other: their words and lines.

    ``sealed``: the statements after them are reached through these labels only, not by falling through from
    the case before.
    """

    words: tuple[str, ...]
    first: int
    last: int
    sealed: bool

    @property
    def text(self) -> str:
        """All of them."""
        return " or ".join(self.words)

    def of_value(self, value: int) -> tuple[str, ...]:
        """Those that a value may belong to: constants that have a name are not known."""
        return tuple(word for word in self.words if word != DEFAULT and _may_have(word, value))

    def has_value(self, value: int) -> bool:
        """Whether a value is certain to be that of one of them."""
        return any(value in values for word in self.words if (values := _values(word)) is not None)


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
            labels.append(Label((*before.words, words), before.first, last, before.sealed))
        else:
            labels.append(Label((words,), first, last, not labels or _jumps(tokens, token - 1)))
        joins = colon
    return found


def label_at(labels: Sequence[Label], line: int, falling: bool = True) -> Label | None:
    """The only label that can have led to a line; the labels are in the order of the source.

    Not ``falling``: control comes from the switch itself, not from the case before.
    """
    before = bisect_right(labels, line, key=lambda each: each.first)
    if not before or (falling and not labels[before - 1].sealed):
        return None
    on_line = before - bisect_left(labels, line, key=lambda each: each.last)
    return labels[before - 1] if on_line <= 1 else None


def _may_have(word: str, value: int) -> bool:
    values = _values(word)
    return values is None or value in values


def _values(word: str) -> range | None:
    """The values of a label that has numbers or characters; None if it has other constants."""
    begin, *end = (_constant(part) for part in word.removeprefix("case ").split("..."))
    last = end[0] if end else begin
    return None if begin is None or last is None else range(begin, last + 1)


def _constant(text: str) -> int | None:
    number = _NUMBER.fullmatch(text.strip())
    if number is not None:
        digits = number.group(2)
        octal = digits.startswith("0") and digits.isdigit()
        return int(f"{number.group(1)}{digits}", 8 if octal else 0)
    character = _CHARACTER.fullmatch(text.strip())
    return None if character is None else ord(character.group(1))


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
