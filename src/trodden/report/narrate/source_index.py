"""The sources of a profile, and the statements in them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import cached_property

from trodden.profile.model import FunctionProfile, Profile
from trodden.report.narrate.macros import Macro
from trodden.report.narrate.statements import Structure, knows_language, read_structure
from trodden.report.narrate.tokens import SourceText
from trodden.source.own_lines import own_span
from trodden.source.texts import Sources

_CALL = re.compile(r"[A-Za-z_]\w*\s*\(")


class SourceIndex:
    """The sources of a profile and the statements in them, each read once and when needed."""

    def __init__(self, profile: Profile, force: bool = False) -> None:
        self.sources = Sources(profile, force)
        self._profile = profile
        self._structures: dict[tuple[str, int, int | None], Structure] = {}
        self._texts: dict[str, SourceText] = {}
        self._spans: dict[int, range] = {}

    @cached_property
    def _owners(self) -> dict[tuple[str, int], list[FunctionProfile]]:
        """For each line the functions whose own code it is; lines that were inlined are not."""
        owners: dict[tuple[str, int], dict[int, FunctionProfile]] = {}
        for function in self._profile.functions.values():
            for block in function.facts.blocks:
                for ref in block.lines:
                    if ref.line > 0 and ref.instance == 0:
                        line = function.files[ref.file].path, ref.line
                        owners.setdefault(line, {})[id(function)] = function
        return {line: list(found.values()) for line, found in owners.items()}

    def owner(self, path: str, line: int) -> FunctionProfile | None:
        """The function that a line belongs to, if the profile holds one and only one."""
        found = self._owners.get((path, line), [])
        return found[0] if len(found) == 1 else None

    def text(self, path: str, line: int) -> str | None:
        """A source line without the blanks around; None if the source is not available."""
        lines = self.sources.lines(path)
        return lines[line - 1].strip() if lines is not None and 0 < line <= len(lines) else None

    def structure(self, path: str, owner: FunctionProfile | None) -> Structure:
        """The statements of a file; only those of the function ``owner`` if that is known."""
        if owner is not None and owner.file == path and owner.line > 0:
            return self._structure(path, owner.line, self.span(owner)[-1])
        return self._structure(path, 1, None)

    def inlined_structure(self, path: str, line: int) -> Structure:
        """The statements of a function that begins on a line and is not in the profile, but is inlined."""
        least = self._inlined_ends.get((path, line))
        return self._structure(path, 1 if least is None else line, least)

    def position(self, path: str, line: int, column: int) -> int | None:
        """Where a column, which counts bytes from one, is in the text of a source."""
        lines = self.sources.lines(path)
        if lines is None or not knows_language(path) or not 0 < line <= len(lines):
            return None
        before = lines[line - 1].encode(errors="surrogateescape")[: column - 1]
        return self._text(path, lines).line_starts[line - 1] + len(before.decode(errors="replace"))

    def calls_at(self, path: str, position: int) -> bool:
        """Whether the name of a function, or of a macro with arguments, begins at a position."""
        lines = self.sources.lines(path)
        return lines is not None and _CALL.match(self._text(path, lines).text, position) is not None

    def macros(self, path: str, name: str) -> Sequence[Macro]:
        """The definitions of a macro with arguments in a source."""
        lines = self.sources.lines(path) if knows_language(path) else None
        return () if lines is None else self._text(path, lines).macros.definitions(name)

    def _text(self, path: str, lines: Sequence[str]) -> SourceText:
        if path not in self._texts:
            self._texts[path] = SourceText(lines)
        return self._texts[path]

    def _structure(self, path: str, first: int, least: int | None) -> Structure:
        lines = self.sources.lines(path)
        if lines is None or not knows_language(path):
            return Structure()
        key = path, first, least
        if key not in self._structures:
            self._structures[key] = read_structure(self._text(path, lines), first, least)
        return self._structures[key]

    @cached_property
    def _inlined_ends(self) -> dict[tuple[str, int], int]:
        """For each function that was inlined, by where it begins, the last line of the code of it."""
        found: dict[tuple[str, int], int] = {}
        for function in self._profile.functions.values():
            facts = function.facts
            refs = itertools.chain(*(block.lines for block in facts.blocks), facts.inlined)
            for ref in refs if facts.callees else ():
                callee = facts.callees[ref.instance - 1] if ref.instance else None
                if callee is not None and callee.file == ref.file and ref.line >= callee.line > 0:
                    begin = function.files[callee.file].path, callee.line
                    found[begin] = max(found.get(begin, 0), ref.line)
        return found

    def span(self, function: FunctionProfile) -> range:
        """The lines of a function (see :func:`own_span`), found once: all its blocks are looked at."""
        if id(function) not in self._spans:
            self._spans[id(function)] = own_span(function)
        return self._spans[id(function)]
