"""The kinds of values that options take: what a user may write, and what it is read as.

A value comes as text from a command line or the environment, or as a Python object from the library or a
JSON document.  ``read`` takes either and raises :class:`ValueError` with a phrase that says what is allowed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_NEAR = 0.6


class Values(Protocol[T_co]):
    """A kind of values: what it is called in usage lines, and how one is read."""

    @property
    def metavar(self) -> str:
        """What stands for a value in usage lines."""

    @property
    def choices(self) -> tuple[str, ...]:
        """All values as a user writes them, where they can be listed."""

    def read(self, value: object) -> T_co:
        """The value that was meant."""


def nearest(word: str, known: Iterable[str], cutoff: float = _NEAR) -> str | None:
    """The known word that a mistyped one was most probably meant to be."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(known), 1, cutoff)), None)


def wrong_choice(value: object, choices: Sequence[str]) -> ValueError:
    """The error for a value that is none of those that can be chosen."""
    one_of = " or ".join(choices) if len(choices) == 2 else f"one of {', '.join(choices)}"
    near = nearest(str(value), choices)
    return ValueError(f"choose {one_of}" + (f"; did you mean {near}?" if near else ""))


class Choice(Generic[T]):
    """One of a few words: the arguments of a ``Literal``, in the order in which they are listed."""

    def __init__(self, choices: tuple[Any, ...], metavar: str) -> None:
        self.choices: tuple[str, ...] = choices
        self.metavar = metavar
        self._known: tuple[T, ...] = choices

    def read(self, value: object) -> T:
        """The word, if it is one of them."""
        for known in self._known:
            if known == value:
                return known
        raise wrong_choice(value, self.choices)


class Switch:
    """On or off: as words, or as a Python truth value."""

    metavar = "on|off"
    choices = ("on", "off")

    def read(self, value: object) -> bool:
        """Whether it is on."""
        if isinstance(value, bool):
            return value
        if value not in self.choices:
            raise wrong_choice(value, self.choices)
        return value == "on"


class Number:
    """A whole number between two bounds."""

    metavar = "N"
    choices = ()

    def __init__(self, wanted: str, least: int, most: int | None = None) -> None:
        self._wanted = wanted
        self._least, self._most = least, most

    def read(self, value: object) -> int:
        """The number, if it is within the bounds."""
        if isinstance(value, str) and value.isdecimal() and value.isascii():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value < self._least:
            raise ValueError(self._wanted)
        if self._most is not None and value > self._most:
            raise ValueError(self._wanted)
        return value


class NumberOrWord:
    """A whole number between two bounds, or one of a few words."""

    choices = ()

    def __init__(self, metavar: str, wanted: str, words: tuple[str, ...], least: int, most: int) -> None:
        self.metavar = metavar
        self._number = Number(wanted, least, most)
        self._words = words

    def read(self, value: object) -> int | str:
        """The number or the word."""
        if isinstance(value, str) and value in self._words:
            return value
        return self._number.read(value)


class SwitchOrNumber:
    """Off, which is 0, or a number from two on; on is two."""

    metavar = "N|on|off"
    choices = ()

    def __init__(self, wanted: str, most: int) -> None:
        self._number = Number(wanted, 2, most)

    def read(self, value: object) -> int:
        """The number."""
        if isinstance(value, bool) or value in ("on", "off"):
            return 2 if value in (True, "on") else 0
        return 0 if type(value) is int and value == 0 else self._number.read(value)


class Limit:
    """A number of at least one, or ``none`` for no limit."""

    metavar = "N|none"
    choices = ()

    def __init__(self, wanted: str) -> None:
        self._number = Number(wanted, 1)

    def read(self, value: object) -> int | None:
        """The limit; ``None`` is no limit."""
        return None if value is None or value == "none" else self._number.read(value)


class Patterns:
    """Shell patterns, separated by commas or in a sequence."""

    metavar = "GLOB"
    choices = ()

    def read(self, value: object) -> tuple[str, ...]:
        """The patterns in the order in which they were given."""
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
            raise ValueError("a pattern, or several of them")
        return tuple(pattern for text in texts for pattern in text.split(",") if pattern)


class Text:
    """Words with a meaning of their own (``choices``), or the name of a file, or of a ``command``."""

    def __init__(self, metavar: str, choices: tuple[str, ...], command: bool = False) -> None:
        self.metavar = metavar
        self.choices = choices
        self._command = command

    def read(self, value: object) -> str:
        """The text, or the name of a path."""
        if not isinstance(value, str | os.PathLike):
            raise ValueError(f"name {self.metavar}, or choose {' or '.join(self.choices)}")
        return os.fsdecode(value)

    def absolute(self, value: str, directory: str = "") -> str:
        """The value as it is understood in any directory; a command without a slash is found by ``PATH``.

        A file is relative to ``directory``, by default the working directory.
        """
        if value in self.choices or (self._command and os.sep not in value):
            return value
        return os.path.abspath(os.path.join(directory, value))
