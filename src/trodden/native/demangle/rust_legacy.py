"""Rust's legacy mangling: nested C++ names that end in a hash, with escapes for punctuation."""

from __future__ import annotations

import re

_LEGACY = re.compile(r"_?_?ZN(.*)17h[0-9a-f]{16}E(\..*)?", re.DOTALL)
_LENGTH = re.compile(r"[1-9][0-9]*")
_ESCAPED = re.compile(r"\$([A-Za-z0-9]+)\$|\.\.")
_ESCAPES = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}


def demangle_legacy(symbol: str, described: str = "") -> str | None:
    """The name of a symbol of this mangling; None for any other symbol.

    ``described`` is the function's name in the debug information, which contains the generic arguments that
    this mangling omits.
    """
    match = _LEGACY.fullmatch(symbol)
    parts = _parts(match.group(1)) if match is not None else None
    return None if parts is None else "::".join(_with_generic_arguments(parts, described))


def _parts(text: str) -> list[str] | None:
    """The components of the path; None if their lengths do not fit the text."""
    parts: list[str] = []
    position = 0
    while position < len(text):
        length = _LENGTH.match(text, position)
        if length is None:
            return None
        position = length.end() + int(length.group())
        if position > len(text):
            return None
        part = text[length.end() : position]
        parts.append(_ESCAPED.sub(_unescaped, part[1:] if part.startswith("_$") else part))
    return parts


def _unescaped(match: re.Match[str]) -> str:
    name = match.group(1)
    if name is None:
        return "::"
    if name in _ESCAPES:
        return _ESCAPES[name]
    try:
        return chr(int(name[1:], 16)) if name[0] == "u" else match.group()
    except (ValueError, OverflowError):
        return match.group()


def _with_generic_arguments(parts: list[str], described: str) -> list[str]:
    """The path, its last component completed where the debug information names the same function."""
    last = parts[-1] if parts else ""
    base = described.partition("<")[0]
    if described != base and last == base:
        return [*parts[:-1], f"{base}::{described[len(base) :]}"]
    if last == "{{closure}}" and described.startswith("{closure"):
        return [*parts[:-1], described]
    return parts
