"""Axes: round numbers that enclose the values of a plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICKS = 6


@dataclass(frozen=True)
class Scale:
    """From a lowest to a highest tick, in equal steps."""

    low: float
    high: float
    step: float

    @property
    def ticks(self) -> list[float]:
        """All ticks, rounded so that zero is exactly zero."""
        number = round((self.high - self.low) / self.step)
        return [round(self.low + index * self.step, 12) for index in range(number + 1)]

    def at(self, value: float, length: float) -> float:
        """The position of a value on an axis of some length."""
        return (value - self.low) / (self.high - self.low) * length


def scale(values: Sequence[float], base: float) -> Scale:
    """A scale that has the base as a tick and contains all values."""
    low, high = min([base, *values]), max([base, *values])
    if low == high:
        high = low + 1
    step = _step((high - low) / _TICKS)
    below, above = floor((low - base) / step + 1e-9), ceil((high - base) / step - 1e-9)
    return Scale(base + below * step, base + above * step, step)


def _step(least: float) -> float:
    """The smallest round number that is not smaller than this."""
    size = 10.0 ** floor(log10(least))
    return next(size * each for each in _STEPS if size * each >= least * (1 - 1e-9))
