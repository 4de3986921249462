"""Which names in a source may be macros whose code branches, so that a line decides more than it shows.

Macros that the source itself defines are looked up.  Of others only the name is known: by custom, a macro
with arguments is written in capitals, and ``assert`` is one everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

_DEFINE = re.compile(r"\s*#\s*define\s+([A-Za-z_]\w*)(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*(?:\s*\()?")
_PARAMETERS = re.compile(r"\(([^()]*)\)")
_TEXT = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|//.*|/\*.*?\*/", re.DOTALL)
_BRANCHES = re.compile(
    r"&&|\|\||[?{]|\b(?:and|or|if|while|for|do|switch|case|default|goto|return|break|continue|throw|try)\b"
)


class Macro(NamedTuple):
    """A macro with arguments: its parameters, and its body on one line."""

    parameters: tuple[str, ...]
    body: str


class Macros:
    """The macros that a source defines; one that is defined several times may be any of these."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def may_branch(self, name: str, called: bool) -> bool:
        """Whether a name may expand to code that branches."""
        if not name.isidentifier():
            return False
        if name in self._bodies:
            return name in self._branching
        return called and (name == "assert" or name.isupper())

    def may_define(self, name: str) -> bool:
        """Whether a name may be a macro; others than those of the source are written in capitals."""
        return name in self._bodies or name.isupper()

    def definitions(self, name: str) -> list[Macro]:
        """What a macro with arguments may be; those without arguments are left out."""
        found = []
        for body in self._texts.get(name, ()):
            match = _PARAMETERS.match(body)
            if match is not None:
                names = tuple(part.strip() for part in match.group(1).split(",") if part.strip())
                found.append(Macro(names, body[match.end() :]))
        return found

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        """The texts of macros as the source has them."""
        found: dict[str, list[str]] = {}
        for name, body in _definitions(self._lines):
            found.setdefault(name, []).append(body)
        return found

    @cached_property
    def _bodies(self) -> dict[str, list[str]]:
        return {name: [_TEXT.sub(" ", body) for body in bodies] for name, bodies in self._texts.items()}

    @cached_property
    def _branching(self) -> set[str]:
        """The macros that branch, or use one that does."""
        found = {name for name, bodies in self._bodies.items() if any(map(_BRANCHES.search, bodies))}
        uses = {name: set(_used(bodies)) for name, bodies in self._bodies.items()}
        for name, used in uses.items():
            if any(self._foreign(each, called) for each, called in used):
                found.add(name)
        users: dict[str, list[str]] = {}
        for name, used in uses.items():
            for each, _ in used:
                users.setdefault(each, []).append(name)
        waiting = list(found)
        while waiting:
            for name in users.get(waiting.pop(), ()):
                if name not in found:
                    found.add(name)
                    waiting.append(name)
        return found

    def _foreign(self, name: str, called: bool) -> bool:
        return name not in self._bodies and called and (name == "assert" or name.isupper())


def _definitions(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The names and bodies of macros, with their parameters."""
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if "define" not in line:
            continue
        match = _DEFINE.match(line)
        if match is None:
            continue
        name, body = match.groups()
        while body.endswith("\\") and index < len(lines):
            body = body[:-1] + " " + lines[index]
            index += 1
        yield name, body


def _used(bodies: Iterable[str]) -> Iterator[tuple[str, bool]]:
    for body in bodies:
        for match in _NAME.finditer(body):
            name = match.group().rstrip("( \t")
            yield name, match.group().endswith("(")
