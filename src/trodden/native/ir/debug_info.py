"""Source positions out of a module's debug metadata.

Instructions refer to ``!DILocation`` nodes; a location's scope leads over lexical blocks to a
subprogram and a file.  With inlining, the location names the line of the inlined callee, which is the
line that a reader of the source expects to see counted; ``inlinedAt`` leads to the location of the call,
in a node of its own for each call that was inlined, so that it tells the copies of a line apart.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field

from trodden.native.ir.names import unescape
from trodden.program.facts import LineRef, SourceFile
from trodden.regular_files import open_regular

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!DI(\w+)\((.*)\)$", re.MULTILINE)
_ANY_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)
_LOCATION = re.compile(r"line: (\d+),(?: column: \d+,)? scope: !(\d+)(?:, inlinedAt: !(\d+))?")
_SCOPE_FILE = re.compile(r"\bfile: !(\d+)")
_SCOPE_SCOPE = re.compile(r"\bscope: !(\d+)")
_LINE = re.compile(r"\bline: (\d+)")
_FILENAME = re.compile(r'filename: "((?:[^"\\]|\\.)*)"(?:, directory: "((?:[^"\\]|\\.)*)")?')
_NAME = re.compile(r'\bname: "((?:[^"\\]|\\.)*)"')
_DBG = re.compile(r"!dbg !(\d+)")


@dataclass
class DebugInfo:
    """The metadata that leads from an instruction to a source line, read once a module."""

    locations: dict[str, tuple[int, str]] = field(default_factory=dict)
    inlined_at: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    files: list[SourceFile] = field(default_factory=list)
    _file_of_node: dict[str, int] = field(default_factory=dict)
    _file_of_scope: dict[str, int] = field(default_factory=dict)
    _by_path: dict[str, int] = field(default_factory=dict)
    _highest: int = 0

    def subprogram(self, header: str) -> tuple[str, int, int] | None:
        """Name, file and line of the function whose ``define`` line is ``header``."""
        match = _DBG.search(header)
        body = self.nodes.get(match.group(1), "") if match else ""
        if not body:
            return None
        name = _NAME.search(body)
        line = _LINE.search(body)
        file = _SCOPE_FILE.search(body)
        return (
            name.group(1) if name else "",
            self._file(file.group(1)) if file else -1,
            int(line.group(1)) if line else 0,
        )

    def fresh(self) -> int:
        """The number of a metadata node that does not exist yet."""
        self._highest += 1
        return self._highest

    def file_node(self, scope: str) -> str:
        """The file that a scope lies in, as metadata writes it."""
        seen = 0
        while seen <= len(self.nodes):
            body = self.nodes.get(scope, "")
            file = _SCOPE_FILE.search(body)
            if file is not None:
                return f"!{file.group(1)}"
            parent = _SCOPE_SCOPE.search(body)
            if parent is None:
                break
            scope = parent.group(1)
            seen += 1
        return "null"

    def scope_file(self, scope: str) -> int:
        """The index of the file that a scope lies in, -1 if nobody knows."""
        chain: list[str] = []
        answer = -1
        while scope not in self._file_of_scope:
            chain.append(scope)
            body = self.nodes.get(scope, "")
            file = _SCOPE_FILE.search(body)
            if file is not None:
                answer = self._file(file.group(1))
                break
            parent = _SCOPE_SCOPE.search(body)
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
            match = _FILENAME.search(self.nodes.get(node, ""))
            name, directory = (match.group(1), match.group(2) or "") if match else ("", "")
            self._file_of_node[node] = self.file_index(os.path.join(unescape(directory), unescape(name)))
        return self._file_of_node[node]

    def file_index(self, path: str) -> int:
        """The index of a source file, entered when it is new."""
        path = os.path.normpath(path) if path else ""
        if path not in self._by_path:
            self._by_path[path] = len(self.files)
            self.files.append(SourceFile(path, digest_of(path)))
        return self._by_path[path]


class FunctionLines:
    """The lines of one function's instructions, the copies of inlined ones numbered as they are met.

    ``calls[c - 1]`` is the call that copy ``c`` was inlined at.
    """

    def __init__(self, debug: DebugInfo) -> None:
        self.calls: list[LineRef] = []
        self._debug = debug
        self._copies: dict[str, int] = {}
        self._refs: dict[str, LineRef | None] = {}

    def line_of(self, node: str) -> LineRef | None:
        """The source line of a location; None for line 0 of the function itself, which says nothing."""
        if node in self._refs:
            return self._refs[node]
        line, scope = self._debug.locations.get(node, (0, ""))
        outer = self._debug.inlined_at.get(node)
        reference = None
        if line > 0 or outer is not None:
            file = self._debug.scope_file(scope)
            copy = self._copy(outer) if outer is not None else 0
            reference = LineRef(file, line, copy) if file >= 0 else None
        self._refs[node] = reference
        return reference

    def lines_of(self, text: str) -> list[LineRef]:
        """The lines that the instructions in ``text`` come from, in order, neighbours not repeated."""
        lines: list[LineRef] = []
        latest: LineRef | None = None
        previous = ""
        for node in _DBG.findall(text):
            if node == previous:
                continue
            previous = node
            reference = self.line_of(node)
            if reference is None or reference == latest:
                continue
            if reference.line or latest is None or reference.copy != latest.copy:
                lines.append(reference)
                latest = reference
        return lines

    def _copy(self, node: str) -> int:
        """The number of the copy that was inlined at the location ``node``, outer copies before inner."""
        chain: list[str] = []
        outer: str | None = node
        while outer is not None and outer not in self._copies:
            chain.append(outer)
            outer = self._debug.inlined_at.get(outer)
        copy = self._copies[outer] if outer is not None else 0
        for link in reversed(chain):
            line, scope = self._debug.locations.get(link, (0, ""))
            file = self._debug.scope_file(scope)
            self.calls.append(LineRef(file, line, copy) if file >= 0 else LineRef(0, 0, copy))
            copy = self._copies[link] = len(self.calls)
        return copy


def read_debug_info(metadata: str) -> DebugInfo:
    """Collect the location, scope and file nodes of a module's metadata text."""
    info = DebugInfo()
    info._highest = max((int(number) for number in _ANY_NODE.findall(metadata)), default=0)
    for number, kind, body in _NODE.findall(metadata):
        if kind == "Location":
            match = _LOCATION.match(body)
            if match is not None:
                line, scope, outer = match.groups()
                info.locations[number] = (int(line), scope)
                if outer is not None:
                    info.inlined_at[number] = outer
        elif kind in ("File", "Subprogram", "LexicalBlock", "LexicalBlockFile"):
            info.nodes[number] = body
    return info


def digest_of(path: str) -> str:
    """The SHA-256 of a source file, empty if it cannot be read."""
    try:
        with open_regular(path) as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return ""
