"""Text out of a file as it may be shown: names come from programs that anybody may have written.

What a terminal would take for an order (to move, to recolour, to answer) is written as an escape instead.
"""

from __future__ import annotations

_ORDERS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
_IN_TEXT = {code: shown for code, shown in _ORDERS.items() if chr(code) not in "\t\n\f"}


def visible(line: str) -> str:
    """A name or a message, on one line whatever it holds."""
    return line if line.isprintable() else line.translate(_ORDERS)


def visible_text(text: str) -> str:
    """The same for a text of several lines, whose ends, tabs and page breaks are kept."""
    return text.translate(_IN_TEXT)
