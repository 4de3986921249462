"""Identifiers and strings as they are, without the notation that IR text needs."""

from __future__ import annotations

from trodden.native.ir.syntax.grammar import ESCAPE


def unquote(name: str) -> str:
    """An identifier or label without the quotation marks that IR puts around unusual names."""
    return unescape(name[1:-1]) if name.startswith('"') else name


def unescape(text: str) -> str:
    """The contents of a string: a backslash precedes another one, or a byte in hexadecimal."""
    if "\\" not in text:
        return text
    raw = ESCAPE.sub(lambda m: b"\\" if m.group(1) is None else bytes([int(m.group(1), 16)]), text.encode())
    return raw.decode("utf-8", errors="surrogateescape")
