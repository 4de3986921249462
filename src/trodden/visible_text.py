"""Text out of a file as it may be shown: names come from programs that anybody may have written.

What a terminal would take for an order (to move, to recolour, to answer) is written as an escape instead, and
so is what nobody sees: characters without width, and those that turn the direction of the text around them,
by which one name looks like another.
"""

from __future__ import annotations

import re

_CONTROLS = "\x00-\x1f\x7f-\x9f"
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What Unicode has be ignored where it is not supported, except for variants of the character before it; and
separators of lines and annotations."""

_ORDERS = re.compile(f"[{_CONTROLS}]")
_HIDDEN = re.compile(f"[{_CONTROLS}{_UNSEEN}]")
_HIDDEN_IN_TEXT = re.compile(f"(?![\t\n\f])[{_CONTROLS}{_UNSEEN}]")


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(line: str) -> str:
    """A line of a format for other programs, to whom every other character means what it is."""
    return _ORDERS.sub(_escaped, line)


def visible(line: str) -> str:
    """A name or a message for a reader, on one line whatever it holds."""
    return _HIDDEN.sub(_escaped, line)


def visible_text(text: str) -> str:
    """The same for a text of several lines, whose ends, tabs and page breaks are kept."""
    return _HIDDEN_IN_TEXT.sub(_escaped, text)
