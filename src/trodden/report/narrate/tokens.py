"""The words and signs of a C or C++ source, as far as they show where statements begin and end."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

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
_PAIRS = {")": "(", "}": "{", "]": "["}


@dataclass
class Tokens:
    """Tokens by number: their text (empty for strings and numbers), line and place in ``source``.

    ``partner[t]`` is the bracket that belongs to bracket ``t``.  ``balanced`` is false if one has none: then
    nothing can be said of the text.
    """

    source: str
    texts: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    partner: dict[int, int] = field(default_factory=dict)
    balanced: bool = True

    def text(self, token: int) -> str:
        """The text of a token, empty behind the last."""
        return self.texts[token] if 0 <= token < len(self.texts) else ""


def tokens_of(lines: Sequence[str], first: int, least: int | None) -> Tokens:
    """The tokens from line ``first`` on.

    With a line ``least`` they end with the bracket that closes what was opened first, when that lies at
    this line or below: with the end of a function.
    """
    source = "\n".join(lines[first - 1 :])
    line_starts = [0] + [match.end() for match in re.finditer("\n", source)]
    tokens = Tokens(source)
    opened: list[int] = []
    for match in _compiled(source):
        token, text = len(tokens.texts), match.group() if match.lastgroup in ("word", "sign") else ""
        line = first - 1 + bisect_right(line_starts, match.start())
        tokens.texts.append(text)
        tokens.lines.append(line)
        tokens.starts.append(match.start())
        tokens.ends.append(match.end())
        if text in _PAIRS.values():
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


class _Part(Enum):
    """What is to be done with a part between directives."""

    WAITS = "none of the alternatives so far was kept"
    KEPT = "this one is kept"
    DONE = "one before it was kept"


def _compiled(source: str) -> Iterator[re.Match[str]]:
    """The tokens without comments and directives, and of parts for alternative conditions only the first.

    That keeps brackets in pairs where each alternative opens one.  What is in ``#if 0`` is no alternative.
    """
    parts: list[_Part] = []
    for match in _TOKEN.finditer(source):
        kind = match.lastgroup
        if kind == "directive":
            _enter(parts, match.group())
        elif kind != "skip" and all(part is _Part.KEPT for part in parts):
            yield match


def _enter(parts: list[_Part], directive: str) -> None:
    match = _DIRECTIVE.match(directive)
    if match is None:
        return
    word, condition = match.groups()
    if word.startswith("if"):
        parts.append(_Part.WAITS if condition.split("/")[0].strip() == "0" else _Part.KEPT)
    elif parts and word == "endif":
        parts.pop()
    elif parts:
        parts[-1] = _Part.KEPT if parts[-1] is _Part.WAITS else _Part.DONE
