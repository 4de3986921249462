"""New names for blocks and values of a function in LLVM IR, which share one space."""

from __future__ import annotations

import re

from trodden.native.ir.function import IRFunction
from trodden.native.ir.grammar import NAME

_USED = re.compile(rf"%({NAME})")
_PLAIN = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*")
_COPY = "trodden.copy."


class Names:
    """Names that a function does not use yet."""

    def __init__(self, ir: IRFunction) -> None:
        texts = [ir.header, *(block.text for block in ir.blocks)]
        used = {name for text in texts for name in _USED.findall(text)}
        used.update(block.label for block in ir.blocks)
        self._used = {_inner(name) for name in used}
        self._last: dict[str, int] = {}

    def label(self) -> str:
        """The label of a copy of a block."""
        return self._numbered(_COPY)

    def version(self, name: str, label: str) -> str:
        """A value's name (with its sign) in the copy that bears a label."""
        wanted = f"{_inner(name)}.t{label.removeprefix(_COPY)}"
        if wanted in self._used:
            return _token(self._numbered(f"{wanted}."))
        self._used.add(wanted)
        return _token(wanted)

    def choice(self, name: str) -> str:
        """The name (with its sign) of a phi that chooses between versions of a value."""
        return _token(self._numbered(f"{_inner(name)}.p"))

    def _numbered(self, start: str) -> str:
        number = self._last.get(start, 0) + 1
        while f"{start}{number}" in self._used:
            number += 1
        self._last[start] = number
        self._used.add(f"{start}{number}")
        return f"{start}{number}"


def _inner(name: str) -> str:
    """A name without the quotes around it."""
    return name[1:-1] if name.startswith('"') else name


def _token(name: str) -> str:
    return f"%{name}" if _PLAIN.fullmatch(name) else f'%"{name}"'
