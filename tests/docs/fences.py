"""The fenced parts of a page, in their order, and what kind of example each of them is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = (README, ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")))

Kind = Literal["session", "script", "python", "file", "usage", "make", "json", "generated", "other"]
"""``session``: commands behind ``$`` with what they print; ``script``: commands alone; ``file``: a file that
the sentence before it names; ``usage``: the synopsis of a verb; ``make``: targets; ``generated``: what
``make docs`` rewrites."""

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`([\w.-]+\.\w+)`[^`]*:\n\n\Z")
_GENERATED = re.compile(r"<!-- \w+: generated -->\n\n\Z")
_LANGUAGES: dict[str, Kind] = {"sh": "script", "python": "python"}
_BEGINNINGS: dict[str, Kind] = {"$ ": "session", "trodden ": "usage", "make ": "make", "{\n": "json"}


@dataclass(frozen=True)
class Fence:
    """One of them; ``name`` is that of the file that the sentence before it names."""

    page: Path
    line: int
    kind: Kind
    text: str
    name: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def fences(page: Path) -> list[Fence]:
    """All of a page."""
    text = page.read_text("utf-8")
    found = []
    for match in _FENCE.finditer(text):
        before = text[: match.start()]
        named = _NAMED.search(before[before.rfind("\n\n", 0, -2) :])
        kind = "file" if named else _kind(match[1], match[2])
        if _GENERATED.search(before):
            kind = "generated"
        line = 1 + text.count("\n", 0, match.start())
        found.append(Fence(page, line, kind, match[2], named[1] if named else ""))
    return found


def of_kind(kind: Kind) -> list[Fence]:
    """Those of one kind, of all pages."""
    return [fence for page in PAGES for fence in fences(page) if fence.kind == kind]


def _kind(language: str, text: str) -> Kind:
    """By the language; by how the first line begins if none is given."""
    if language:
        return _LANGUAGES.get(language, "other")
    return next((kind for start, kind in _BEGINNINGS.items() if text.startswith(start)), "other")
