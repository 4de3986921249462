"""Edits on the text of instructions: new labels for predecessors and successors, other attachments."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from trodden.native.ir.block import IRBlock
from trodden.native.ir.instruction import instructions_of
from trodden.native.ir.syntax.grammar import ATTACHMENT_OR_STRING, PHI_INCOMING_END, SUCCESSOR
from trodden.native.ir.syntax.terminators import labels_start


def rename_phis(head: str, renames: Sequence[tuple[str, str]]) -> str:
    """Give the phis of a block the new labels of its predecessors; each rename is for one incoming value."""
    if not renames or " = phi " not in head:
        return head
    lines = head.split("\n")
    for index, line in enumerate(lines):
        if " = phi " in line:
            waiting: dict[str, list[str]] = {}
            for old, new in reversed(renames):
                waiting.setdefault(old, []).append(new)

            def renamed(match: re.Match[str], waiting: dict[str, list[str]] = waiting) -> str:
                left = waiting.get(match.group(1) or "")
                return f", %{left.pop()} ]" if left else match.group(0)

            lines[index] = PHI_INCOMING_END.sub(renamed, line)
    return "\n".join(lines)


def retarget(block: IRBlock, terminator: str, successors: Mapping[int, str]) -> str:
    """A terminator whose successors at some positions are other blocks, given by their labels."""
    start = labels_start(terminator, block.opcode, 0, len(terminator))
    pieces: list[str] = [terminator[:start]]
    position = start
    for number, match in enumerate(SUCCESSOR.finditer(terminator, start)):
        if number in successors:
            pieces.append(terminator[position : match.start()])
            pieces.append(f"label %{successors[number]}")
            position = match.end()
    pieces.append(terminator[position:])
    return "".join(pieces)


def strip_attachments(text: str, kinds: Collection[str]) -> str:
    """Text of whole lines without the metadata attachments of some kinds."""

    def filtered(match: re.Match[str]) -> str:
        return "" if match.group(1) in kinds else match.group()

    return ATTACHMENT_OR_STRING.sub(filtered, text)


def set_attachment(instruction: str, kind: str, node: str) -> str:
    """An instruction's text with another node in the metadata attachment of a kind, or with a new one."""
    (view,) = instructions_of(instruction)
    before, found, after = instruction[view.attachments_start :].partition(f", !{kind} !")
    unchanged = instruction[: view.attachments_start] + before
    return f"{unchanged}, !{kind} !{node}{after.lstrip('0123456789') if found else ''}"


def add_call_attribute(call: str, attribute: str) -> str:
    """The text of a call with one more attribute of the call site."""
    (view,) = instructions_of(call)
    parts = view.call
    if parts is None or attribute in parts.attributes:
        return call
    end = view.attachments_start - len(view.rest) + parts.arguments_end + 1
    return f"{call[:end]} {attribute}{call[end:]}"
