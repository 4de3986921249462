"""Where the successors of a terminator are in its text."""

from __future__ import annotations

_LABELS_ON_LAST_LINE = frozenset({"invoke", "callbr"})


def labels_start(text: str, opcode: str, start: int, end: int) -> int:
    """Where the labels start of the terminator in ``text[start:end]``; no label precedes them.

    An ``invoke`` and a ``callbr`` have theirs on the last line; their arguments, which may be labels or
    strings, are on the first.
    """
    return text.rfind("\n", start, end) + 1 if opcode in _LABELS_ON_LAST_LINE else start
