"""Linear functions of one variable, ``⟨a, b⟩`` in MR98: the number of paths from the exit in, another out.

They stay what they are when they are added or composed (MR98 §5.2.2), so a pair of numbers represents them.
"""

from __future__ import annotations

from typing import NamedTuple


class Linear(NamedTuple):
    """The function that takes ``x`` to ``a * x + b``."""

    a: int
    b: int

    def of(self, x: int) -> int:
        """The value for an argument."""
        return self.a * x + self.b

    def plus(self, other: Linear) -> Linear:
        """The sum of two functions."""
        return Linear(self.a + other.a, self.b + other.b)

    def minus(self, other: Linear) -> Linear:
        """The difference of two functions."""
        return Linear(self.a - other.a, self.b - other.b)

    def after(self, inner: Linear) -> Linear:
        """The function that applies ``inner`` first, then this one."""
        return Linear(self.a * inner.a, self.a * inner.b + self.b)


ZERO = Linear(0, 0)

ONE = Linear(0, 1)
"""A single path, whatever the number of paths from the exit (equation 20)."""

IDENTITY = Linear(1, 0)
"""Equation 19."""
