"""Lines and words of the text form of graphs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from trodden.errors import BadFile

_TOKEN = re.compile(
    r'\s*(?:(?P<comment>#.*)|(?P<quoted>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<bare>,|[^\s,#"]+)|(?P<stray>"))'
)
_SAFE = re.compile(r'[^\s,#"\[\]]+')
_RESERVED = frozenset({"EXIT", "graph", "root", "->"})


@dataclass(frozen=True)
class Word:
    """A word of a line; one in quotes is always a name, whatever it says."""

    text: str
    quoted: bool = False

    def means(self, keyword: str) -> bool:
        """Whether this is a keyword or a sign."""
        return not self.quoted and self.text == keyword


@dataclass(frozen=True)
class Line:
    """The words of one line, comment left out, with its position for error messages."""

    source: str
    number: int
    words: tuple[Word, ...]

    def error(self, problem: str) -> BadFile:
        """An error that names the file and the line."""
        return BadFile(f"{self.source}:{self.number}: {problem}")

    def parts(self, words: Sequence[Word]) -> list[list[Word]]:
        """The words of this line, grouped by commas."""
        parts: list[list[Word]] = [[]]
        for word in words:
            if word.means(","):
                parts.append([])
            else:
                parts[-1].append(word)
        if not all(parts):
            raise self.error("a name is missing beside a comma")
        return parts

    def __str__(self) -> str:
        return " ".join(word.text for word in self.words)


def read_line(source: str, number: int, text: str) -> Line:
    """Take a line apart."""
    words = []
    for token in _TOKEN.finditer(text.rstrip()):  # blanks that nothing follows would be tried one by one
        if token["stray"]:
            raise Line(source, number, ()).error("a quote is not closed")
        if token["bare"]:
            words.append(Word(token["bare"]))
        elif token["quoted"]:
            try:
                words.append(Word(str(json.loads(token["quoted"])), quoted=True))
            except json.JSONDecodeError:
                raise Line(source, number, ()).error(f"{token['quoted']} has an unknown escape") from None
    return Line(source, number, tuple(words))


def write_word(text: str) -> str:
    """A name as it has to be written to be read back."""
    if _SAFE.fullmatch(text) and text not in _RESERVED:
        return text
    return json.dumps(text)
