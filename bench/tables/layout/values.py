"""Values of cells: numbers, numbers with a spread, text; how they are shown, and the means below a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bench.support.statistics import middle


@dataclass(frozen=True)
class Spread:
    """A median and its quartiles."""

    median: float
    low: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        """The middle of some measurements."""
        return Spread(*middle(values))


@dataclass(frozen=True)
class Partial:
    """A mean that some rows could not enter: its value, and how many of how many are in it."""

    value: float
    used: int
    of: int


Value: TypeAlias = float | str | Spread | Partial

Show: TypeAlias = Callable[[Value], str]
"""Turns a value into text."""


def number_of(value: Value | None) -> float | None:
    """The number of a value; of one with a spread it is the median, of text there is none."""
    if isinstance(value, Spread):
        return value.median
    if isinstance(value, Partial):
        return value.value
    return None if value is None or isinstance(value, str) else float(value)


def _shown(each: Callable[[float], str]) -> Show:
    """Shows text as it is and numbers by ``each``, with their spread in brackets."""

    def show(value: Value) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, Spread):
            return f"{each(value.median)} ({each(value.low)} .. {each(value.high)})"
        if isinstance(value, Partial):
            return f"{each(value.value)} ({value.used} of {value.of})"
        return each(value)

    return show


def _bytes(number: float) -> str:
    if abs(number) >= 10 * 1024 * 1024:
        return f"{number / 1048576:,.1f} MiB"
    return f"{number / 1024:,.1f} KiB"


def _seconds(number: float) -> str:
    return f"{number * 1000:,.1f} ms" if abs(number) < 1 else f"{number:,.2f} s"


TEXT: Show = _shown(str)
COUNT: Show = _shown(lambda number: f"{number:,.0f}")
MILLIONS: Show = _shown(lambda number: f"{number / 1e6:,.2f}M")
SHARE: Show = _shown(lambda number: f"{100 * number:.1f}%")
"""A part of one, in percent."""
ADDED: Show = _shown(lambda number: f"{100 * (number - 1):+.1f}%")
"""What a ratio to the plain run adds, in percent."""
FACTOR: Show = _shown(lambda number: f"{number:.2f}")
FINE: Show = _shown(lambda number: f"{number:.3f}")
BYTES: Show = _shown(_bytes)
SECONDS: Show = _shown(_seconds)
