"""Reports as Markdown, for a pull request or the summary of a CI job."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from trodden.visible_text import visible_text

_CODE = re.compile(r"(`[^`\n]*`)")
_SPECIAL = re.compile(r"([\\`*_\[\]~])")


class MarkdownPage:
    """Collects what a report prints: tables, paragraphs, and paths as quotations below sentences."""

    def __init__(self) -> None:
        self._blocks: list[str] = []

    def print(self, *what: Any) -> None:
        """Add tables and texts."""
        for each in what:
            self._blocks += filter(None, map(visible_text, _block(each)))

    def text(self) -> str:
        """Everything so far."""
        return "\n\n".join(self._blocks) + "\n"


def _block(what: Any) -> Iterator[str]:
    if isinstance(what, Padding):
        for block in _block(what.renderable):
            yield "\n".join(f"> {line}" for line in block.splitlines())
    elif isinstance(what, Table):
        if what.title:
            yield f"**{_escaped(str(what.title))}**"
        yield _table(what)
    else:
        text = what if isinstance(what, Text) else Text(str(what))
        yield "  \n".join(_inline(line) for line in text.split("\n", allow_blank=False))


def _table(table: Table) -> str:
    heads = [_cell(column.header) for column in table.columns]
    sides = ["---:" if column.justify == "right" else "---" for column in table.columns]
    rows = zip(*(column.cells for column in table.columns), strict=True)
    lines = [heads, sides, *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(what: Any) -> str:
    text = what if isinstance(what, Text) else Text(str(what))
    return "<br>".join(_inline(line) for line in text.split("\n")).replace("|", "\\|")


def _inline(text: Text) -> str:
    """A line with its bold parts marked."""
    if "bold" in str(text.style):
        return _bold(text.plain)
    parts, at = [], 0
    for span in sorted(text.spans):
        if "bold" in str(span.style) and span.start >= at:
            parts += [_escaped(text.plain[at : span.start]), _bold(text.plain[span.start : span.end])]
            at = span.end
    return "".join((*parts, _escaped(text.plain[at:])))


def _bold(text: str) -> str:
    """Emphasis has to touch the words that it is for."""
    word = text.strip()
    if not word:
        return text
    start = text.index(word)
    return f"{text[:start]}**{_escaped(word)}**{text[start + len(word) :]}"


def _escaped(text: str) -> str:
    """Text whose characters mean themselves; what is in backquotes already is left as it is."""
    return "".join(
        part if number % 2 else _SPECIAL.sub(r"\\\1", part).replace("<", "&lt;")
        for number, part in enumerate(_CODE.split(text))
    )
