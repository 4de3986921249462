"""New names for blocks and values of a function in LLVM IR, which share one namespace."""

from __future__ import annotations

from trodden.native.ir.function import IRFunction
from trodden.native.ir.syntax.grammar import LOCAL_NAME, UNQUOTED_NAME

_CLONE = "trodden.copy."


class FreshNames:
    """Names that a function does not use yet."""

    def __init__(self, ir: IRFunction) -> None:
        texts = [ir.header, *(block.text for block in ir.blocks)]
        used = {name for text in texts for name in LOCAL_NAME.findall(text)}
        used.update(block.label for block in ir.blocks)
        self._used = {_inner(name) for name in used}
        self._last: dict[str, int] = {}

    def label(self) -> str:
        """The label of a clone of a block."""
        return self._numbered(_CLONE)

    def version(self, name: str, label: str) -> str:
        """A value's name (with ``%``) in the clone that has a label."""
        candidate = f"{_inner(name)}.t{label.removeprefix(_CLONE)}"
        if candidate in self._used:
            return _identifier(self._numbered(f"{candidate}."))
        self._used.add(candidate)
        return _identifier(candidate)

    def phi(self, name: str) -> str:
        """The name (with ``%``) of a phi that joins versions of a value."""
        return _identifier(self._numbered(f"{_inner(name)}.p"))

    def _numbered(self, start: str) -> str:
        number = self._last.get(start, 0) + 1
        while f"{start}{number}" in self._used:
            number += 1
        self._last[start] = number
        self._used.add(f"{start}{number}")
        return f"{start}{number}"


def _inner(name: str) -> str:
    """A name without the quotation marks around it."""
    return name[1:-1] if name.startswith('"') else name


def _identifier(name: str) -> str:
    return f"%{name}" if UNQUOTED_NAME.fullmatch(name) else f'%"{name}"'
