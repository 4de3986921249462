"""Where the text of an IR block mentions values: in instructions, in phis, in debug records."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field

from trodden.native.ir.block import IRBlock
from trodden.native.ir.grammar import NAME

_STRING = r'"(?:[^"\\]|\\.)*"'
_MENTION = re.compile(
    rf"^(?P<record>    #dbg_.*)|^(?P<phi>  %{NAME} = phi .*)|{_STRING}|%(?P<name>{NAME})", re.MULTILINE
)
_PHI = re.compile(rf"  %({NAME}) = phi (.*?) \[ ")
_ENTRY_END = re.compile(rf"{_STRING}|, %({NAME}) \]")


@dataclass(frozen=True, slots=True)
class Phi:
    """A phi: ``kind`` is its type, flags before it included; ``tail`` is the metadata behind its entries."""

    name: str
    kind: str
    entries: tuple[tuple[str, str], ...]
    """Values as they stand there, and labels."""
    tail: str


@dataclass(slots=True)
class Mentions:
    """What a block mentions of the values that were asked for: each once, in order."""

    values: dict[str, None] = field(default_factory=dict)
    recorded: dict[str, None] = field(default_factory=dict)
    """Those in debug records."""
    phis: list[Phi] = field(default_factory=list)
    """All its phis."""
    any: bool = False
    """Whether there is any, phis included."""


def mentions(block: IRBlock, asked: Container[str]) -> Mentions:
    """What a block mentions of the values that are asked for."""
    found = Mentions()
    for match in _MENTION.finditer(block.text, block.body_start):
        name = match["name"]
        if name is not None:
            if name in asked:
                found.values[name] = None
        elif match["record"] is not None:
            for inner in _MENTION.finditer(match["record"].lstrip()):
                if inner["name"] in asked:
                    found.recorded[inner["name"]] = None
        elif match["phi"] is not None:
            phi = read_phi(match["phi"])
            found.phis.append(phi)
            found.any = found.any or phi.name in asked or any(value[1:] in asked for value, _ in phi.entries)
    found.any = bool(found.any or found.values or found.recorded)
    return found


def read_phi(line: str) -> Phi:
    """A phi's line, taken apart."""
    head = _PHI.match(line)
    assert head is not None, line
    entries: list[tuple[str, str]] = []
    start = position = head.end()
    while (match := _ENTRY_END.search(line, position)) is not None:
        position = match.end()
        if match.group(1) is not None:
            entries.append((line[start : match.start()], match.group(1)))
            if not line.startswith(", [ ", position):
                break
            start = position = position + len(", [ ")
    return Phi(head.group(1), head.group(2), tuple(entries), line[position:])


def renamed(text: str, value: Callable[[str], str], phi: Callable[[str], str]) -> str:
    """Text of whole lines with other values in it, each given for its name, and with other lines of phis."""

    def other(match: re.Match[str]) -> str:
        if match["name"] is not None:
            return value(match["name"])
        if match["record"] is not None:
            return "    " + _MENTION.sub(other, match["record"].lstrip())
        return match.group() if match["phi"] is None else phi(match["phi"])

    return _MENTION.sub(other, text)
