"""Rust's symbols as they stand in the source.

There are two manglings.  The older one looks like C++ names of namespaces, with a hash at the end and with
escapes for what such a name may not contain.  The newer one has a module of its own, ``rust_v0``.
A symbol that follows neither is left as it is.
"""

from __future__ import annotations

import re

from trodden.native.demangle.rust_v0 import NotRust, Reader

_OLD = re.compile(r"_?_?ZN(.*)17h[0-9a-f]{16}E(\..*)?", re.DOTALL)
_LENGTH = re.compile(r"[1-9][0-9]*")
_ESCAPED = re.compile(r"\$([A-Za-z0-9]+)\$|\.\.")
_SIGNS = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}


def rust_name(symbol: str, described: str = "") -> str | None:
    """A Rust symbol as people write it; None if it is none.

    ``described`` is the name in the debug information, which has the generic arguments that the older
    mangling leaves out.
    """
    try:
        if symbol.startswith("_R"):
            return Reader(symbol[2:].split(".", 1)[0]).symbol()
        old = _OLD.fullmatch(symbol)
        return None if old is None else _with_arguments(_old_parts(old.group(1)), described)
    except NotRust:
        return None


def _old_parts(text: str) -> list[str]:
    parts: list[str] = []
    position = 0
    while position < len(text):
        length = _LENGTH.match(text, position)
        if length is None:
            raise NotRust
        position = length.end() + int(length.group())
        part = text[length.end() : position]
        if position > len(text):
            raise NotRust
        parts.append(_ESCAPED.sub(_unescaped, part[1:] if part.startswith("_$") else part))
    return parts


def _unescaped(match: re.Match[str]) -> str:
    name = match.group(1)
    if name is None:
        return "::"
    if name in _SIGNS:
        return _SIGNS[name]
    try:
        return chr(int(name[1:], 16)) if name[0] == "u" else match.group()
    except (ValueError, OverflowError):
        return match.group()


def _with_arguments(parts: list[str], described: str) -> str:
    last = parts[-1] if parts else ""
    plain = described.partition("<")[0]
    if described != plain and last == plain:
        parts[-1] = f"{plain}::{described[len(plain) :]}"
    elif last == "{{closure}}" and described.startswith("{closure"):
        parts[-1] = described
    return "::".join(parts)
