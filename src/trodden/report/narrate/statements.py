"""Where a C or C++ source decides: its if, while, for and switch statements and what belongs to them.

Compilers tell lines, not statements.  To say that a condition held, one has to know that the line where
control went on belongs to the part that it guards.  What cannot be told from the text for sure (several
statements on one line, macros, brackets that do not match) is left out.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from trodden.report.narrate.switches import Label, labels_of
from trodden.report.narrate.tokens import Tokens, tokens_of

_ENDINGS = frozenset(
    {".c", ".h", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".ipp"}
)
_OPENING, _CLOSING = frozenset("({["), frozenset(")}]")
_HEADS = frozenset({"if", "while", "for", "switch"})
_TESTS = frozenset({"&&", "||", "?"})
_JUMPS = frozenset({"goto", "return", "break", "continue", "throw"})
_CONTROL = _TESTS | _HEADS | _JUMPS | {"else", "do", "case", "default", "try", "}"}


@dataclass(frozen=True)
class Statement:
    """A statement with a condition, from the word that begins it to the end of what it guards.

    It lies in the lines ``begin .. end``; ``first .. last`` are those of the condition, ``text`` is it and
    the word before.  ``body`` are the lines of what it guards (of an if: what is done when it holds), those
    left out that hold something else as well; ``shares`` if that begins on a line of the condition.
    ``body_at`` is its place in the source.  ``tests`` are the operators in the condition that make several
    tests of it.  If all that an if guards is to jump away, ``else_at`` is the place of what comes when the
    condition does not hold, which nothing else leads to then.
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

    @property
    def loop(self) -> bool:
        """Whether it repeats what it guards."""
        return self.word in ("while", "for")


@dataclass
class Structure:
    """The statements of a source, or of one function in it."""

    statements: list[Statement] = field(default_factory=list)
    _by_line: dict[int, list[Statement]] = field(default_factory=dict)
    _controls: list[int] = field(default_factory=list)
    _line_starts: dict[int, int] = field(default_factory=dict)
    _deciders: set[int] = field(default_factory=set)
    _closing: set[int] = field(default_factory=set)

    def deciding(self, line: int) -> Statement | None:
        """The statement whose condition holds a line, if nothing else on its lines could decide."""
        found = self._by_line.get(line, [])
        return found[0] if len(found) == 1 else None

    def loop_around(self, lines: Sequence[int]) -> Statement | None:
        """The innermost loop that all these lines belong to."""
        around = [
            each
            for each in self.statements
            if each.loop and all(each.begin <= line <= each.end for line in lines)
        ]
        return min(around, key=lambda each: (each.end - each.begin, -each.begin), default=None)

    def straight(self, place: int, line: int) -> bool:
        """Whether control that comes to a place of the source has to come to a line behind it."""
        begin = self._line_starts.get(line, -1)
        at = bisect_left(self._controls, place)
        return begin >= place and (at == len(self._controls) or self._controls[at] >= begin)

    def closes(self, line: int) -> bool:
        """Whether a block ends on a line."""
        return line in self._closing

    def plain(self, line: int) -> bool:
        """Whether a line holds nothing that decides, nor what may be a macro that does."""
        return line not in self._deciders


def knows_language(path: str) -> bool:
    """Whether a file is C or C++ by its name; headers without an ending are."""
    ending = os.path.splitext(path)[1]
    return ending.lower() in _ENDINGS or (not ending and "/include/" in path)


def read_structure(lines: Sequence[str], first: int = 1, least: int | None = None) -> Structure:
    """The statements from line ``first`` on; ``least`` is a line of the function that begins there."""
    tokens = tokens_of(lines, first, least)
    if not tokens.balanced:
        return Structure()
    ends, owner = _statement_ends(tokens)
    heads = [token for token, text in enumerate(tokens.texts) if text in _HEADS and token in ends]
    labels = labels_of(tokens, {head: ends[head] for head in heads if tokens.texts[head] == "switch"})
    controls = [tokens.starts[token] for token, text in enumerate(tokens.texts) if text in _CONTROL]
    structure = Structure(_controls=controls)
    for token, line in enumerate(tokens.lines):
        structure._line_starts.setdefault(line, tokens.starts[token])
        if tokens.texts[token] in _TESTS | _HEADS or _may_decide(tokens, token):
            structure._deciders.add(line)
        if tokens.texts[token] == "}":
            structure._closing.add(line)
    busy = _busy_lines(tokens)
    for head in heads:
        statement = _statement(tokens, head, ends, owner, tuple(labels.get(head, ())))
        structure.statements.append(statement)
        close = tokens.partner[_open(tokens, head)]
        own = range(statement.first, statement.last + 1)
        mixed = any(not head < test < close for line in own for test in busy.get(line, ()))
        for line in own:
            # Twice the same stands for another decision on these lines.
            structure._by_line.setdefault(line, []).extend([statement] * (2 if mixed else 1))
    return structure


def _may_decide(tokens: Tokens, token: int) -> bool:
    """Whether a word looks like a macro: those in capitals, and the one that everybody has."""
    text = tokens.texts[token]
    return tokens.text(token + 1) == "(" and (text == "assert" or (text.isupper() and text.isidentifier()))


def _busy_lines(tokens: Tokens) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for token, text in enumerate(tokens.texts):
        if text in _TESTS:
            found.setdefault(tokens.lines[token], []).append(token)
    return found


def _open(tokens: Tokens, head: int) -> int:
    """The bracket behind the word that begins a statement."""
    return head + 2 if tokens.text(head + 1) == "constexpr" else head + 1


def _statement(
    tokens: Tokens, head: int, ends: dict[int, int], owner: dict[int, int], labels: tuple[Label, ...]
) -> Statement:
    opening = _open(tokens, head)
    close = tokens.partner[opening]
    do = owner.get(head)
    body = _guarded(tokens, head) if do is None else do + 1
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
        text=" ".join(tokens.source[tokens.starts[head] : tokens.ends[close]].split()),
        tests=frozenset(tokens.texts[opening:close]) & _TESTS,
        body=range(begin, max(stop + 1, begin)),
        body_at=tokens.starts[inner],
        shares=first <= tokens.lines[inner] <= last,
        else_at=_else_at(tokens, inner, body_end) if tokens.texts[head] == "if" else None,
        labels=labels,
    )


def _else_at(tokens: Tokens, inner: int, body_end: int) -> int | None:
    """Where control goes on when it does not jump away, if the jump cannot lead there too."""
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


def _guarded(tokens: Tokens, head: int) -> int:
    """The first token behind a condition and its attributes."""
    token = tokens.partner[_open(tokens, head)] + 1
    while tokens.text(token) == "[":
        token = tokens.partner[token] + 1
    return token


def _statement_ends(tokens: Tokens) -> tuple[dict[int, int], dict[int, int]]:
    """For each token that may begin a statement the last one of that statement, found from behind.

    Also, for each while that ends a do, that do.
    """
    size = len(tokens.texts)
    ends: dict[int, int] = {}
    rest: list[int] = [size - 1] * (size + 2)
    owner: dict[int, int] = {}
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
            owner[end_of_body] = token
            ends[token] = rest[end_of_body]
    return ends, owner


def _end(tokens: Tokens, token: int, ends: dict[int, int], rest: Sequence[int]) -> int | None:
    """The end of the statement that begins with ``token``; None where none can begin."""
    text = tokens.texts[token]
    if text in _CLOSING:
        return None
    if text == "{":
        return tokens.partner[token]
    if text in _HEADS:
        opening = _open(tokens, token)
        if tokens.text(opening) != "(":
            return None
        end = ends.get(_guarded(tokens, token))
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
        return next(_behind_colon(tokens, token, ends), rest[token])
    return rest[token]


def _behind_colon(tokens: Tokens, token: int, ends: dict[int, int]) -> Iterator[int]:
    """The end of the statement that a label stands before."""
    for at in range(token + 1, min(token + 64, len(tokens.texts))):
        text = tokens.texts[at]
        if text == ":" and at + 1 in ends:
            yield ends[at + 1]
        if text in (":", ";", "{", "}"):
            return


def _after_macro(tokens: Tokens, token: int) -> bool:
    """Whether a block follows what looks like a call: a macro that stands for a loop or the like."""
    if tokens.text(token - 1) != ")":
        return False
    word = tokens.text(tokens.partner[token - 1] - 1)
    return word.isidentifier()
