"""Small surgery on the text of IR instructions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from trodden.native.irtext import LABEL, IRBlock

_INCOMING = re.compile(rf", %({LABEL}) \]")
_TARGET = re.compile(rf"label %{LABEL}")
_FAST_MATH = r"(?:(?:nnan|ninf|nsz|arcp|contract|afn|reassoc|fast) )*"
_CALL = re.compile(rf"  (%{LABEL} = )?(?:tail |notail )?call {_FAST_MATH}")
_PAD = re.compile(rf"^  %{LABEL} = landingpad .*\n", re.MULTILINE)
_ATTACHMENTS = re.compile(r"(?:, ![\w.]+ !\d+)+$")


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


def as_invoke(line: str, following: str, pad: str) -> str:
    """A call as an invoke with the same result; an invoke carries no fast-math flags."""
    match = _CALL.match(line)
    assert match is not None, line
    rest = line[match.end() :]
    attachments = _ATTACHMENTS.search(rest)
    trailer = attachments.group(0) if attachments else ""
    rest = rest[: len(rest) - len(trailer)]
    ways = f"          to label %{following} unwind label %{pad}"
    return f"  {match.group(1) or ''}invoke {rest}\n{ways}{trailer}"


def with_cleanup(head: str) -> str:
    """A block's head whose landing pad is entered by every exception.

    One that names only the types it catches is passed over by all others, and the frame would vanish
    unseen; the code behind it compares types anyway and resumes what it does not know.
    """
    pad = _PAD.search(head)
    if pad is None or "\n          cleanup" in head or "\n          catch ptr null" in head:
        return head
    return f"{head[: pad.end()]}          cleanup\n{head[pad.end() :]}"


def with_personality(header: str, personality: str) -> str:
    """A function's first line with a personality, which a landing pad needs."""
    debug = header.find(" !dbg ")
    at = debug if debug >= 0 else header.rindex(" {")
    return f"{header[:at]} personality ptr @{personality}{header[at:]}"
