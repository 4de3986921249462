"""Where the statements of a source end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trodden.report.narrate.tokens import Tokens

HEADS = frozenset({"if", "while", "for", "switch"})
_OPENING, _CLOSING = frozenset("({["), frozenset(")}]")


def opening_of(tokens: Tokens, head: int) -> int:
    """The bracket after the keyword that begins a statement."""
    return head + 2 if tokens.text(head + 1) == "constexpr" else head + 1


def guarded(tokens: Tokens, head: int) -> int:
    """The first token after a condition and its attributes."""
    token = tokens.partner[opening_of(tokens, head)] + 1
    while tokens.text(token) == "[":
        token = tokens.partner[token] + 1
    return token


def statement_ends(tokens: Tokens) -> tuple[dict[int, int], dict[int, int]]:
    """For each token that may begin a statement the last one of that statement, found from the end backwards.

    Also, for each while that ends a do, that do.
    """
    size = len(tokens.texts)
    ends: dict[int, int] = {}
    rest: list[int] = [size - 1] * (size + 2)
    do_of: dict[int, int] = {}
    for token in range(size - 1, -1, -1):
        text = tokens.texts[token]
        if text == ";":
            rest[token] = token
        elif text in _CLOSING:
            rest[token] = token - 1
        elif text == "{" and _after_macro(tokens, token):
            rest[token] = tokens.partner[token]
        elif text in _OPENING:
            rest[token] = rest[tokens.partner[token] + 1]
        else:
            rest[token] = rest[token + 1]
        end = _end(tokens, token, ends, rest)
        if end is None:
            continue
        ends[token] = min(end, size - 1)
        if text == "do" and tokens.text(end_of_body := ends[token + 1] + 1) == "while":
            do_of[end_of_body] = token
            ends[token] = rest[end_of_body]
    return ends, do_of


def _end(tokens: Tokens, token: int, ends: dict[int, int], rest: Sequence[int]) -> int | None:
    """The end of the statement that begins with ``token``; None where none can begin."""
    text = tokens.texts[token]
    if text in _CLOSING:
        return None
    if text == "{":
        return tokens.partner[token]
    if text in HEADS:
        if tokens.text(opening_of(tokens, token)) != "(":
            return None
        end = ends.get(guarded(tokens, token))
        if end is None:
            return None
        return ends.get(end + 2, end) if text == "if" and tokens.text(end + 1) == "else" else end
    if text == "do":
        return ends.get(token + 1)
    if text == "try" and tokens.text(token + 1) == "{":
        end = tokens.partner[token + 1]
        while tokens.text(end + 1) == "catch" and tokens.text(end + 2) == "(":
            end = ends.get(tokens.partner[end + 2] + 1, end + 1)
        return end
    if text in ("case", "default"):
        return next(_after_colon(tokens, token, ends), rest[token])
    return rest[token]


def _after_colon(tokens: Tokens, token: int, ends: dict[int, int]) -> Iterator[int]:
    """The end of the statement that follows a label."""
    for at in range(token + 1, min(token + 64, len(tokens.texts))):
        text = tokens.texts[at]
        if text == ":" and at + 1 in ends:
            yield ends[at + 1]
        if text in (":", ";", "{", "}"):
            return


def _after_macro(tokens: Tokens, token: int) -> bool:
    """Whether a compound statement follows what looks like a call: a macro that makes a loop or the like."""
    if tokens.text(token - 1) != ")":
        return False
    word = tokens.text(tokens.partner[token - 1] - 1)
    return word.isidentifier()
