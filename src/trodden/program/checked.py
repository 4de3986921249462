"""Checked numbers and texts from a document that may come from anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import sub
from typing import Any


class ColumnError(ValueError):
    """A column is not valid; the reader of the file adds its name."""


def ints(value: Any, low: int | None = None, high: int | None = None) -> list[int]:
    """``value`` if it is a list of whole numbers in ``low <= x < high``."""
    if type(value) is not list or not set(map(type, value)) <= {int}:
        raise ColumnError("a list of numbers was expected")
    if value and ((low is not None and min(value) < low) or (high is not None and max(value) >= high)):
        raise ColumnError("a number is out of range")
    return value


def floats(value: Any, high: float) -> list[float]:
    """``value`` if it is a list of fractions in ``0 <= x <= high``."""
    if type(value) is not list or not set(map(type, value)) <= {float}:
        raise ColumnError("a list of fractions was expected")
    if not all(0 <= each <= high for each in value):
        raise ColumnError("a fraction is out of range")
    return value


def whole(value: Any, low: int, high: int | None = None) -> int:
    """``value`` if it is a whole number in ``low <= x < high``."""
    if type(value) is not int or value < low or (high is not None and value >= high):
        raise ColumnError("a number is out of range")
    return value


def text(value: Any) -> str:
    """``value`` if it is a string."""
    if type(value) is not str:
        raise ColumnError("a text was expected")
    return value


def same_length(*columns: Sequence[Any]) -> None:
    """Columns of one table are equally long."""
    if len(set(map(len, columns))) > 1:
        raise ColumnError("columns differ in length")


def columns(value: Any, number: int, what: str) -> list[Any]:
    """``value`` if it is a list of that many columns; they are still to be checked."""
    if type(value) is not list or len(value) != number:
        raise ColumnError(f"{number} columns of {what} were expected")
    return value


def differences(values: Sequence[int]) -> list[int]:
    """Each number less the one before: small where neighbours are alike."""
    return list(map(sub, values, [0, *values[:-1]]))


def sums(values: Iterable[int]) -> list[int]:
    """The numbers whose differences these are."""
    return list(accumulate(values))
