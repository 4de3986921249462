"""Source positions out of a module's debug metadata.

Instructions refer to ``!DILocation`` nodes; a location's scope leads over lexical blocks to a
subprogram and a file.  With inlining, the location names the line of the inlined callee, which is the
line that a reader of the source expects to see counted.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field

from trodden.profile.model import LineRef, SourceFile

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!DI(\w+)\((.*)\)$", re.MULTILINE)
_ANY_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)
_LOCATION = re.compile(r"line: (\d+),(?: column: \d+,)? scope: !(\d+)")
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
    nodes: dict[str, str] = field(default_factory=dict)
    files: list[SourceFile] = field(default_factory=list)
    _file_of_node: dict[str, int] = field(default_factory=dict)
    _file_of_scope: dict[str, int] = field(default_factory=dict)
    _refs: dict[str, LineRef | None] = field(default_factory=dict)
    _by_path: dict[str, int] = field(default_factory=dict)
    _highest: int = 0

    def line_of(self, node: str) -> LineRef | None:
        """The source line of a location node; None for line 0, which stands for no line at all."""
        if node in self._refs:
            return self._refs[node]
        location = self.locations.get(node)
        reference = None
        if location is not None and location[0] > 0:
            file = self._scope_file(location[1])
            reference = LineRef(file, location[0]) if file >= 0 else None
        self._refs[node] = reference
        return reference

    def lines_of(self, text: str) -> list[LineRef]:
        """The lines that the instructions in ``text`` come from, in order, neighbours not repeated."""
        lines: list[LineRef] = []
        previous = ""
        for node in _DBG.findall(text):
            if node == previous:
                continue
            previous = node
            reference = self.line_of(node)
            if reference is not None and (not lines or lines[-1] != reference):
                lines.append(reference)
        return lines

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

    def _scope_file(self, scope: str) -> int:
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
            self._file_of_node[node] = self.file_index(os.path.join(_unescape(directory), _unescape(name)))
        return self._file_of_node[node]

    def file_index(self, path: str) -> int:
        """The index of a source file, entered when it is new."""
        path = os.path.normpath(path) if path else ""
        if path not in self._by_path:
            self._by_path[path] = len(self.files)
            self.files.append(SourceFile(path, digest_of(path)))
        return self._by_path[path]


def read_debug_info(metadata: str) -> DebugInfo:
    """Collect the location, scope and file nodes of a module's metadata text."""
    info = DebugInfo()
    info._highest = max((int(number) for number in _ANY_NODE.findall(metadata)), default=0)
    for number, kind, body in _NODE.findall(metadata):
        if kind == "Location":
            match = _LOCATION.match(body)
            if match is not None:
                info.locations[number] = (int(match.group(1)), match.group(2))
        elif kind in ("File", "Subprogram", "LexicalBlock", "LexicalBlockFile"):
            info.nodes[number] = body
    return info


def digest_of(path: str) -> str:
    """The SHA-256 of a source file, empty if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return ""


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-9A-Fa-f]{2})", lambda m: chr(int(m.group(1), 16)), text)
