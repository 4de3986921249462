"""LLVM IR as printed text: a module cut into functions, a function into blocks.

llvmlite can read, verify and print IR but not insert instructions, so instrumenting means editing the
printed form.  That form is regular: one instruction a line, a blank line between blocks, and only
switch, invoke, callbr and landingpad run over several lines.  Cutting is done with whole-text searches,
not line by line, because a file of SQLite's size has half a million lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LABEL = r'(?:"(?:[^"\\]|\\.)*"|[-\w$.]+)'
_LABEL_LINE = re.compile(rf"({LABEL}):")
_TARGETS = re.compile(rf"label %({LABEL})")
_SYMBOL = re.compile(rf"@({LABEL})\(")
_UNNAMED_ARGUMENT = re.compile(r" %\d+(?=[,)])")
_HEAD_LINE = re.compile(rf"  (?:%{LABEL} = )?(?:phi|landingpad|catchpad|cleanuppad)\b")
_ESCAPE = re.compile(rb"\\(?:([0-9A-Fa-f]{2})|\\)")
_OPCODE = re.compile(rf"  (?:%{LABEL} = )?(\w+)")

_TO_EXIT = frozenset({"ret", "resume", "unreachable"})


@dataclass(slots=True)
class IRBlock:
    """One basic block.  ``text`` is all of it, label line included, without the blank line around.

    ``terminator`` is where the last instruction starts in ``text``; ``opcode`` is its name; ``targets`` are
    the labels it can go to, in order, one per edge.
    """

    label: str
    text: str
    terminator: int
    opcode: str
    targets: tuple[str, ...]

    @property
    def leaves(self) -> bool:
        """Whether control can leave the function from here."""
        if self.opcode in _TO_EXIT:
            return True
        return "unwind to caller" in self.text[self.terminator :]

    @property
    def instructions(self) -> int:
        """How many instructions it has, the lines that continue one counted too.

        Debug records are none: a function has the same size with and without debug information.
        """
        lines = f"\n{self.text}"
        return lines.count("\n  ") - lines.count("\n    #dbg_")

    def head_end(self) -> int:
        """Where the first instruction starts that is neither a phi nor an exception pad."""
        text = self.text
        position = 0
        if _LABEL_LINE.match(text):
            position = text.index("\n") + 1
        while _HEAD_LINE.match(text, position) or text.startswith("    ", position):
            if text.startswith("    #dbg", position) and not _more_head(text, position):
                break
            end = text.find("\n", position)
            if end < 0:
                break
            position = end + 1
        return position


def _more_head(text: str, position: int) -> bool:
    """Whether phis or pads still follow the debug records at ``position``."""
    while text.startswith("    #dbg", position):
        position = text.find("\n", position) + 1
        if position == 0:
            return False
    return bool(_HEAD_LINE.match(text, position))


@dataclass(slots=True)
class IRFunction:
    """One function definition: ``header`` is its ``define`` line."""

    symbol: str
    header: str
    blocks: list[IRBlock] = field(default_factory=list)


@dataclass(slots=True)
class IRModule:
    """A module in order: globals, definitions each with what follows it, attributes and metadata."""

    prologue: str
    definitions: list[str]
    between: list[str]
    epilogue: str

    def signatures(self) -> str:
        """All declarations and the first lines of all definitions, one a line."""
        heads = [definition[: definition.index("\n")] for definition in self.definitions]
        return "\n".join([self.prologue, *self.between, *heads])

    def render(self) -> str:
        """The module's text."""
        pieces = [self.prologue]
        for definition, following in zip(self.definitions, self.between, strict=True):
            pieces += [definition, following]
        return "".join([*pieces, self.epilogue])


_EPILOGUE = re.compile(r"^(?:attributes #|!)", re.MULTILINE)


def cut_module(text: str) -> IRModule:
    """Cut a module into its parts."""
    definitions: list[str] = []
    between: list[str] = []
    start = 0 if text.startswith("define ") else text.find("\ndefine ") + 1
    prologue = text[:start] if start or text.startswith("define ") else text
    while start or (not definitions and text.startswith("define ")):
        end = text.index("\n}\n", start) + 2
        following = text.find("\ndefine ", end - 1) + 1
        definitions.append(text[start:end])
        between.append(text[end : following or len(text)])
        start = following
    last = between[-1] if between else prologue
    match = _EPILOGUE.search(last)
    at = match.start() if match else len(last)
    if between:
        between[-1] = last[:at]
    else:
        prologue = last[:at]
    return IRModule(prologue, definitions, between, last[at:])


def cut_function(definition: str) -> IRFunction:
    """Cut one definition into blocks."""
    newline = definition.index("\n")
    header = definition[:newline]
    match = _SYMBOL.search(header)
    assert match is not None, header
    function = IRFunction(unquote(match.group(1)), header)
    for number, text in enumerate(definition[newline + 1 : -2].split("\n\n")):
        label_line = _LABEL_LINE.match(text)
        if label_line is not None:
            label = label_line.group(1)
        else:
            assert number == 0, text
            label = str(len(_UNNAMED_ARGUMENT.findall(_outermost(header, match.end() - 1))))
        function.blocks.append(_cut_block(label, text))
    return function


def _outermost(header: str, start: int) -> str:
    """A parameter list without what is nested in it: types and attributes may hold numbers too."""
    kept: list[str] = []
    depth = 0
    quoted = False
    for character in header[start:]:
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
            if depth == 0:
                break
        elif depth == 1:
            kept.append(character)
    return "".join(kept) + ","


def _cut_block(label: str, text: str) -> IRBlock:
    start = text.rfind("\n") + 1
    targets_from = start
    if text.startswith("  ]", start):
        start = targets_from = text.rindex("\n  switch ", 0, start) + 1 if "\n  switch " in text else 0
    elif text.startswith("          ", start):
        start = text.rfind("\n", 0, start - 1) + 1
    opcode_match = _OPCODE.match(text, start)
    assert opcode_match is not None, text
    opcode = opcode_match.group(1)
    targets = tuple(_TARGETS.findall(text, targets_from)) if opcode not in _TO_EXIT else ()
    return IRBlock(label, text, start, opcode, targets)


def unquote(name: str) -> str:
    """A symbol or label without the quotes IR puts around unusual names."""
    return unescape(name[1:-1]) if name.startswith('"') else name


def unescape(text: str) -> str:
    """A string of IR as it is: a backslash stands before another one, or before a byte in hexadecimal."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(lambda m: b"\\" if m.group(1) is None else bytes([int(m.group(1), 16)]), text.encode())
    return raw.decode("utf-8", errors="surrogateescape")
