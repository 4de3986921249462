"""Source locations from a module's debug metadata.

Instructions refer to ``!DILocation`` nodes; the scopes of a location are lexical blocks, up to a subprogram
and a file.  With inlining, the location has the line of the inlined callee, which is the line that a reader
of the source expects to see counted; ``inlinedAt`` is the location of the call, in a distinct node for each
call that was inlined, so that it distinguishes the inlined instances of a line.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from trodden.native.ir.syntax.grammar import (
    DBG_ATTACHMENT,
    DEBUG_LOCATION,
    DEBUG_NODE,
    DISCRIMINATOR_FIELD,
    FILE_FIELD,
    FILENAME_FIELDS,
    LINE_FIELD,
    LINKAGE_NAME_FIELD,
    METADATA_NODE,
    NAME_FIELD,
    SCOPE_FIELD,
    SOURCE_WORD,
)
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.ir.syntax.names import unquote
from trodden.program.facts import LineRef, SourceFile
from trodden.regular_files import open_regular


@dataclass
class DebugInfo:
    """The metadata that maps instructions to source lines, read once a module."""

    locations: dict[str, tuple[int, str]] = field(default_factory=dict)
    columns: dict[str, int] = field(default_factory=dict)
    inlined_at: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    subprograms: set[str] = field(default_factory=set)
    files: list[SourceFile] = field(default_factory=list)
    _file_of_node: dict[str, int] = field(default_factory=dict)
    _file_of_scope: dict[str, int] = field(default_factory=dict)
    _by_path: dict[str, int] = field(default_factory=dict)
    _highest: int = 0
    _texts: dict[int, list[bytes]] = field(default_factory=dict)

    def subprogram(self, header: str) -> tuple[str, int, int] | None:
        """Name, file and line of the function whose ``define`` line is ``header``."""
        node = FunctionHeader(header).subprogram or ""
        return self.described(node) if self.nodes.get(node) else None

    def described(self, node: str) -> tuple[str, int, int]:
        """Name, file and line of the function that a subprogram node is about; file -1 if it is not known."""
        body = self.nodes.get(node, "")
        name = NAME_FIELD.search(body)
        line = LINE_FIELD.search(body)
        file = FILE_FIELD.search(body)
        return (
            unquote(name.group(1)) if name else "",
            self._file(file.group(1)) if file else -1,
            int(line.group(1)) if line else 0,
        )

    def symbol(self, node: str) -> str:
        """The symbol of the function that a subprogram node is about; empty if it is its name."""
        found = LINKAGE_NAME_FIELD.search(self.nodes.get(node, ""))
        return unquote(found.group(1)) if found else ""

    def subprogram_of(self, scope: str) -> str:
        """The subprogram node that a scope lies in, empty if there is none."""
        for _ in range(len(self.nodes)):
            if scope in self.subprograms:
                return scope
            parent = SCOPE_FIELD.search(self.nodes.get(scope, ""))
            if parent is None:
                break
            scope = parent.group(1)
        return ""

    def fresh(self) -> int:
        """The number of a metadata node that does not exist yet."""
        self._highest += 1
        return self._highest

    def file_node(self, scope: str) -> str:
        """The node of the file that a scope lies in, as printed."""
        seen = 0
        while seen <= len(self.nodes):
            body = self.nodes.get(scope, "")
            file = FILE_FIELD.search(body)
            if file is not None:
                return f"!{file.group(1)}"
            parent = SCOPE_FIELD.search(body)
            if parent is None:
                break
            scope = parent.group(1)
            seen += 1
        return "null"

    def discriminators(self) -> dict[str, int]:
        """The discriminators of scopes, by the number of the node."""
        found = ((node, DISCRIMINATOR_FIELD.search(body)) for node, body in self.nodes.items())
        return {node: int(match.group(1)) for node, match in found if match is not None}

    def scope_file(self, scope: str) -> int:
        """The index of the file that a scope lies in, -1 if it is unknown."""
        chain: list[str] = []
        answer = -1
        while scope not in self._file_of_scope:
            chain.append(scope)
            body = self.nodes.get(scope, "")
            file = FILE_FIELD.search(body)
            if file is not None:
                answer = self._file(file.group(1))
                break
            parent = SCOPE_FIELD.search(body)
            if parent is None:
                break
            scope = parent.group(1)
        else:
            answer = self._file_of_scope[scope]
        for link in chain:
            self._file_of_scope[link] = answer
        return answer

    def _file(self, node: str) -> int:
        if node not in self._file_of_node:
            match = FILENAME_FIELDS.search(self.nodes.get(node, ""))
            name, directory = (match.group(1), match.group(2) or "") if match else ("", "")
            self._file_of_node[node] = self.file_index(os.path.join(unquote(directory), unquote(name)))
        return self._file_of_node[node]

    def words_at(self, file: int, line: int, column: int) -> tuple[str, ...]:
        """The first two words or characters of a source file from a position to the end of the line."""
        if file not in self._texts:
            try:
                with open_regular(self.files[file].path) as stream:
                    self._texts[file] = stream.read().splitlines()
            except OSError:
                self._texts[file] = []
        lines = self._texts[file]
        words = SOURCE_WORD.finditer(lines[line - 1], column - 1) if line <= len(lines) else iter(())
        return tuple(match.group().decode("ascii", "replace") for match in islice(words, 2))

    def file_index(self, path: str) -> int:
        """The index of a source file, added when it is new."""
        path = os.path.normpath(path) if path else ""
        if path not in self._by_path:
            self._by_path[path] = len(self.files)
            self.files.append(SourceFile(path, digest_of(path)))
        return self._by_path[path]


class Mention(NamedTuple):
    """A line, and where the text of the attachment is that names it first."""

    ref: LineRef
    position: int


class FunctionLines:
    """The lines of one function's instructions; inlined instances are numbered as they occur.

    ``calls[i - 1]`` is the call that instance ``i`` was inlined at, ``callees[i - 1]`` the node of the
    subprogram that was called.
    """

    def __init__(self, debug: DebugInfo) -> None:
        self.calls: list[LineRef] = []
        self.callees: list[str] = []
        self._debug = debug
        self._instances: dict[str, int] = {}
        self._refs: dict[str, LineRef | None] = {}

    def line_of(self, node: str) -> LineRef | None:
        """The source line of a location; None for line 0 of the function itself, which is no line."""
        if node in self._refs:
            return self._refs[node]
        line, scope = self._debug.locations.get(node, (0, ""))
        outer = self._debug.inlined_at.get(node)
        reference = None
        if line > 0 or outer is not None:
            file = self._debug.scope_file(scope)
            instance = self._instance(outer, scope) if outer is not None else 0
            reference = LineRef(file, line, instance) if file >= 0 else None
        self._refs[node] = reference
        return reference

    def mentions_in(self, text: str) -> list[Mention]:
        """The lines of the instructions in ``text``, in order, without immediate repetitions.

        That the lifetime of a variable begins or ends is no instruction.
        """
        mentions: list[Mention] = []
        latest: LineRef | None = None
        previous = ""
        for match in DBG_ATTACHMENT.finditer(text):
            node = match.group(1)
            if node == previous:
                continue
            previous = node
            reference = self.line_of(node)
            if reference is None or reference == latest:
                continue
            if _marks_lifetime(text, match.start()):
                previous = ""
            elif reference.line or latest is None or reference.instance != latest.instance:
                mentions.append(Mention(reference, match.start()))
                latest = reference
        return mentions

    def word_at(self, node: str) -> str | None:
        """The word or character of the source at a location; None if it is not known."""
        return next(iter(self.words_at(node)), None)

    def words_at(self, node: str) -> tuple[str, ...]:
        """The first two words or characters of the source at a location; none if they are not known."""
        line, scope = self._debug.locations.get(node, (0, ""))
        column = self._debug.columns.get(node, 0)
        file = self._debug.scope_file(scope)
        return self._debug.words_at(file, line, column) if file >= 0 and line and column else ()

    def column_of(self, node: str) -> int:
        """The column of a location, 0 if it is not known."""
        return self._debug.columns.get(node, 0)

    def _instance(self, node: str, scope: str) -> int:
        """The number of the instance that was inlined at the location ``node``, outer ones before inner.

        ``scope`` is one of the inlined code.
        """
        chain: list[tuple[str, str]] = []
        outer: str | None = node
        while outer is not None and outer not in self._instances:
            chain.append((outer, scope))
            scope = self._debug.locations.get(outer, (0, ""))[1]
            outer = self._debug.inlined_at.get(outer)
        instance = self._instances[outer] if outer is not None else 0
        for link, inner in reversed(chain):
            self.callees.append(self._debug.subprogram_of(inner))
            line, scope = self._debug.locations.get(link, (0, ""))
            file = self._debug.scope_file(scope)
            self.calls.append(LineRef(file, line, instance) if file >= 0 else LineRef(0, 0, instance))
            instance = self._instances[link] = len(self.calls)
        return instance


def _marks_lifetime(text: str, position: int) -> bool:
    """Whether the instruction with an attachment at a position begins or ends the lifetime of a variable."""
    return text.find("@llvm.lifetime.", text.rfind("\n", 0, position) + 1, position) >= 0


def read_debug_info(metadata: str) -> DebugInfo:
    """Collect the location, scope and file nodes of a module's metadata text."""
    info = DebugInfo()
    info._highest = max((int(number) for number in METADATA_NODE.findall(metadata)), default=0)
    for number, kind, body in DEBUG_NODE.findall(metadata):
        if kind == "Location":
            match = DEBUG_LOCATION.match(body)
            if match is not None:
                line, column, scope, outer = match.groups()
                info.locations[number] = (int(line), scope)
                if column is not None:
                    info.columns[number] = int(column)
                if outer is not None:
                    info.inlined_at[number] = outer
        elif kind in ("File", "Subprogram", "LexicalBlock", "LexicalBlockFile"):
            info.nodes[number] = body
            if kind == "Subprogram":
                info.subprograms.add(number)
    return info


def digest_of(path: str) -> str:
    """The SHA-256 of a source file, empty if it cannot be read."""
    try:
        with open_regular(path) as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return ""
