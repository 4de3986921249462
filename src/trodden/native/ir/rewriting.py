"""Small surgery on the text of IR instructions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from trodden.native.ir.module import LABEL, IRBlock

_INCOMING = re.compile(rf", %({LABEL}) \]")
_TARGET = re.compile(rf"label %{LABEL}")


def rename_phis(head: str, renames: Sequence[tuple[str, str]]) -> str:
    """Let the phis of a block know its predecessors by their new labels, one incoming value each."""
    if not renames or " = phi " not in head:
        return head
    lines = head.split("\n")
    for index, line in enumerate(lines):
        if " = phi " in line:
            waiting: dict[str, list[str]] = {}
            for old, new in reversed(renames):
                waiting.setdefault(old, []).append(new)

            def renamed(match: re.Match[str], waiting: dict[str, list[str]] = waiting) -> str:
                left = waiting.get(match.group(1))
                return f", %{left.pop()} ]" if left else match.group(0)

            lines[index] = _INCOMING.sub(renamed, line)
    return "\n".join(lines)


def retarget(block: IRBlock, terminator: str, split: Mapping[int, str]) -> str:
    """Send the edges at the given places of a terminator to their own blocks."""
    start = terminator.rfind("\n          ") + 1 if block.opcode in ("invoke", "callbr") else 0
    pieces: list[str] = [terminator[:start]]
    position = start
    for place, match in enumerate(_TARGET.finditer(terminator, start)):
        if place in split:
            pieces.append(terminator[position : match.start()])
            pieces.append(f"label %{split[place]}")
            position = match.end()
    pieces.append(terminator[position:])
    return "".join(pieces)
