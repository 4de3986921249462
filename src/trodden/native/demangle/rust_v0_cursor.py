"""Tokens of Rust's v0 mangling (RFC 2603): numbers, identifiers, sequences and back references."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

_DEEPEST = 120
_LONGEST = 16384
_LENGTH = re.compile(r"[1-9][0-9]*")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_HEXADECIMAL = re.compile(r"([0-9a-f]*)_")
_T = TypeVar("_T")


class NotRust(ValueError):
    """The symbol does not follow the grammar, or what it expands to is too large."""


class Cursor:
    """A position in a mangled symbol.

    Back references let a short symbol expand to a very long name, so both the depth of nesting and the length
    of the name are limited.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._depth = 0
        self._length = 0

    @property
    def at_end(self) -> bool:
        """Whether the whole symbol has been read."""
        return self._position >= len(self._text)

    def take(self) -> str:
        """The next character."""
        if self.at_end:
            raise NotRust
        self._position += 1
        return self._text[self._position - 1]

    def put_back(self) -> None:
        """Let the character that was taken last be the next one again."""
        self._position -= 1

    def eat(self, character: str) -> bool:
        """Whether a character comes next; if so, it is taken."""
        found = self._text.startswith(character, self._position)
        self._position += found
        return found

    def base62(self) -> int:
        """A ``<base-62-number>``."""
        if self.eat("_"):
            return 0
        value = 0
        while not self.eat("_"):
            digit = _DIGITS.find(self.take())
            if digit < 0 or value > 1 << 64:
                raise NotRust
            value = value * 62 + digit
        return value + 1

    def optional_base62(self, character: str) -> int:
        """A number announced by a character, such as a ``<disambiguator>``; 0 where it is absent."""
        return self.base62() + 1 if self.eat(character) else 0

    def identifier(self) -> str:
        """An ``<undisambiguated-identifier>``."""
        punycode = self.eat("u")
        length = 0
        if not self.eat("0"):
            match = _LENGTH.match(self._text, self._position)
            if match is None or len(match.group()) > 6:
                raise NotRust
            length = int(match.group())
            self._position = match.end()
        self.eat("_")
        name = self._text[self._position : self._position + length]
        if len(name) < length:
            raise NotRust
        self._position += length
        return self.counted(_from_punycode(name) if punycode else name)

    def hexadecimal(self) -> str:
        """The digits of a constant, without leading zeros."""
        match = _HEXADECIMAL.match(self._text, self._position)
        if match is None:
            raise NotRust
        self._position = match.end()
        return match.group(1).lstrip("0")

    def string(self) -> str:
        """The value of a string constant: the bytes of its UTF-8 form."""
        match = _HEXADECIMAL.match(self._text, self._position)
        if match is None:
            raise NotRust
        self._position = match.end()
        try:
            return bytes.fromhex(match.group(1)).decode("utf-8")
        except ValueError as error:
            raise NotRust from error

    def items(self, read: Callable[[], _T]) -> list[_T]:
        """A sequence that ends with ``E``."""
        found: list[_T] = []
        while not self.eat("E"):
            found.append(read())
        return found

    def back_reference(self, read: Callable[[], _T]) -> _T:
        """Read what begins at an earlier position again; the ``B`` has been taken."""
        start = self._position - 1
        target = self.base62()
        if target >= start:
            raise NotRust
        after, self._position = self._position, target
        found = read()
        self._position = after
        return found

    def nested(self, read: Callable[[], str]) -> str:
        """Read a production of the grammar that may contain itself."""
        self._depth += 1
        self.counted(" ")
        if self._depth > _DEEPEST:
            raise NotRust
        found = read()
        self._depth -= 1
        return found

    def counted(self, text: str) -> str:
        """The same text, its length added to that of the name."""
        self._length += len(text)
        if self._length > _LONGEST:
            raise NotRust
        return text


def _from_punycode(name: str) -> str:
    """An identifier that is not plain ASCII; ``_`` replaces the ``-`` of Punycode."""
    plain, found, rest = name.rpartition("_")
    try:
        return (f"{plain}-{rest}" if found else rest).encode("ascii").decode("punycode")
    except UnicodeError as error:
        raise NotRust from error
