"""Values of cells (numbers, numbers with a spread, text) and their formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bench.support.statistics import median_and_quartiles


@dataclass(frozen=True)
class Spread:
    """A median and its quartiles."""

    median: float
    low: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        """The spread of some measurements."""
        return Spread(*median_and_quartiles(values))


@dataclass(frozen=True)
class Partial:
    """A mean of some of the rows: its value, and of how many of how many rows it is."""

    value: float
    used: int
    of: int


Value: TypeAlias = float | str | Spread | Partial

Format: TypeAlias = Callable[[Value], str]
"""Turns a value into text."""


def number_of(value: Value | None) -> float | None:
    """The number of a value: of one with a spread the median, of text none."""
    if isinstance(value, Spread):
        return value.median
    if isinstance(value, Partial):
        return value.value
    return None if value is None or isinstance(value, str) else float(value)


def _format(number: Callable[[float], str]) -> Format:
    """Leaves text as it is, and formats numbers, with their spread in brackets."""

    def formatted(value: Value) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, Spread):
            return f"{number(value.median)} ({number(value.low)} .. {number(value.high)})"
        if isinstance(value, Partial):
            return f"{number(value.value)} ({value.used} of {value.of})"
        return number(value)

    return formatted


def _bytes(number: float) -> str:
    if abs(number) >= 10 * 1024 * 1024:
        return f"{number / 1048576:,.1f} MiB"
    return f"{number / 1024:,.1f} KiB"


def _seconds(number: float) -> str:
    return f"{number * 1000:,.1f} ms" if abs(number) < 1 else f"{number:,.2f} s"


TEXT: Format = _format(str)
COUNT: Format = _format(lambda number: f"{number:,.0f}")
MILLIONS: Format = _format(lambda number: f"{number / 1e6:,.2f}M")
SHARE: Format = _format(lambda number: f"{100 * number:.1f}%")
"""A part of one, in percent."""
FINE_SHARE: Format = _format(lambda number: f"{100 * number:.2f}%")
"""The same with one digit more."""
ADDED: Format = _format(lambda number: f"{100 * (number - 1):+.1f}%")
"""A ratio to the plain build, as what is added to that in percent."""
FACTOR: Format = _format(lambda number: f"{number:.2f}")
FINE: Format = _format(lambda number: f"{number:.3f}")
BYTES: Format = _format(_bytes)
SECONDS: Format = _format(_seconds)
