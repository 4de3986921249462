"""The tokens of a C or C++ source, as far as they show where statements begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import accumulate

from trodden.report.narrate.macros import Macros

_TOKEN = re.compile(
    r"""
      (?P<skip> //(?:\\.|[^\\\n])* | /\*.*?(?:\*/|\Z) )
    | (?P<directive> ^[ \t]*\#(?:\\.|/\*.*?\*/|[^\\\n])* )
    | (?P<raw> (?:u8|[uUL])?R"(?P<fence>[^()\s\\]*)\(.*?\)(?P=fence)" )
    | (?P<other> (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'? | \.?\d(?:'?[\w.])* )
    | (?P<word> [A-Za-z_$][\w$]* )
    | (?P<sign> && | \|\| | :: | \S )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|else|elif|elifdef|elifndef|endif)\b(.*)", re.DOTALL)
_LINE_OF_DIRECTIVE = re.compile(r"^[ \t]*#", re.MULTILINE)
_PAIRS = {")": "(", "}": "{", "]": "["}
_OPENING = frozenset(_PAIRS.values())
TESTS = frozenset({"&&", "||", "?", "and", "or"})
"""The operators that make several tests of a condition."""


@dataclass
class Tokens:
    """Tokens by number: their text (empty for strings and numbers), line and position in ``source``.

    ``partner[t]`` is the bracket that belongs to bracket ``t``.  ``balanced`` is false if one has none: then
    nothing can be said of the text.
    """

    source: str
    macros: Macros
    texts: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    partner: dict[int, int] = field(default_factory=dict)
    balanced: bool = True

    def text(self, token: int) -> str:
        """The text of a token, empty after the last."""
        return self.texts[token] if 0 <= token < len(self.texts) else ""

    def word(self, token: int, length: int) -> str:
        """The text of some tokens, empty unless they are adjacent."""
        last = token + length - 1
        if token < 0 or last >= len(self.texts):
            return ""
        together = all(self.ends[at] == self.starts[at + 1] for at in range(token, last))
        return self.source[self.starts[token] : self.ends[last]] if together else ""

    def code(self, begin: int, end: int) -> str:
        """The tokens ``begin .. end - 1`` on one line, with a blank where there was space or a comment."""
        parts: list[str] = []
        for token in range(begin, end):
            if token > begin and self.ends[token - 1] != self.starts[token]:
                parts.append(" ")
            parts.append(self.source[self.starts[token] : self.ends[token]])
        return " ".join("".join(parts).split())

    def has_directive(self, begin: int, end: int) -> bool:
        """Whether there is a preprocessor directive between these tokens."""
        return _LINE_OF_DIRECTIVE.search(self.source, self.starts[begin], self.ends[end - 1]) is not None

    def assigns(self, token: int) -> bool:
        """Whether a token is the sign of an assignment, or its end: ``=``, ``+=``, ``<<=``."""
        if self.texts[token] != "=" or self.word(token, 2) == "==":
            return False
        before = self.word(token - 1, 2)[:1]
        return before not in ("=", "!", "<", ">") or self.word(token - 2, 3) in ("<<=", ">>=")

    def may_branch(self, begin: int, end: int) -> bool:
        """Whether the code of some tokens may branch: they hold operators that do, blocks or macros."""
        return any(
            self.texts[token] in TESTS or self.texts[token] == "{" or self.may_hide_branch(token)
            for token in range(begin, end)
        )

    def may_hide_branch(self, token: int) -> bool:
        """Whether a token looks like a macro whose code branches."""
        return self.macros.may_branch(self.texts[token], called=self.text(token + 1) == "(")


class SourceText:
    """A source as one string, and its macros; all its functions are read from the same."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.text = "\n".join(lines)
        self.macros = Macros(lines)
        self.line_starts = [0, *accumulate(len(line) + 1 for line in lines)]
        """The positions of the lines, and that behind the last."""


def tokens_of(source: SourceText, first: int, least: int | None) -> Tokens:
    """The tokens from line ``first`` on.

    With a line ``least`` they end with the bracket that closes what was opened first, when that lies at
    this line or below: with the end of a function.  A lambda begins in the middle of a statement: there they
    end where what is around that statement does.
    """
    tokens = Tokens(source.text, source.macros)
    starts, last = source.line_starts, len(source.line_starts) - 1
    opened: list[int] = []
    line = min(first, last)
    for match in _compiled(source.text, starts[line - 1]):
        token, text = len(tokens.texts), match.group() if match.lastgroup in ("word", "sign") else ""
        while line < last and starts[line] <= match.start():
            line += 1
        if text in _PAIRS and not opened and least is not None and line >= least:
            break
        tokens.texts.append(text)
        tokens.lines.append(line)
        tokens.starts.append(match.start())
        tokens.ends.append(match.end())
        if text in _OPENING:
            opened.append(token)
        elif text in _PAIRS:
            if not opened or tokens.texts[opened[-1]] != _PAIRS[text]:
                tokens.balanced = False
                break
            other = opened.pop()
            tokens.partner[token], tokens.partner[other] = other, token
            if text == "}" and not opened and least is not None and line >= least:
                break
    tokens.balanced = tokens.balanced and not opened
    return tokens


class _Group(Enum):
    """What is to be done with a group of lines between directives."""

    WAITS = "none of the alternatives so far was kept"
    KEPT = "this one is kept"
    DONE = "an earlier one was kept"


def _compiled(source: str, begin: int) -> Iterator[re.Match[str]]:
    """The tokens from a position on: no comments and directives, of alternative groups only the first.

    That keeps brackets in pairs where each alternative opens one.  What is in ``#if 0`` is no alternative.
    """
    groups: list[_Group] = []
    kept = True
    for match in _TOKEN.finditer(source, begin):
        kind = match.lastgroup
        if kind == "directive":
            _enter(groups, match.group())
            kept = all(group is _Group.KEPT for group in groups)
        elif kept and kind != "skip":
            yield match


def _enter(groups: list[_Group], directive: str) -> None:
    match = _DIRECTIVE.match(directive)
    if match is None:
        return
    word, condition = match.groups()
    if word.startswith("if"):
        groups.append(_Group.WAITS if condition.split("/")[0].strip() == "0" else _Group.KEPT)
    elif groups and word == "endif":
        groups.pop()
    elif groups:
        groups[-1] = _Group.KEPT if groups[-1] is _Group.WAITS else _Group.DONE
