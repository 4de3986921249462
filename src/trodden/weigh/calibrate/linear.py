"""Linear equations with a symmetric positive definite matrix."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt


def solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The solution of ``matrix @ x = right``, by Cholesky decomposition."""
    size = len(right)
    lower: list[list[float]] = []
    for row in range(size):
        made: list[float] = []
        for column in range(row):
            above = lower[column]
            rest = matrix[row][column] - sum(a * b for a, b in zip(made, above, strict=False))
            made.append(rest / above[column])
        made.append(sqrt(matrix[row][row] - sum(each * each for each in made)))
        lower.append(made)
    halfway: list[float] = []
    for row in range(size):
        rest = right[row] - sum(a * b for a, b in zip(lower[row], halfway, strict=False))
        halfway.append(rest / lower[row][row])
    found = [0.0] * size
    for row in range(size - 1, -1, -1):
        rest = halfway[row] - sum(lower[below][row] * found[below] for below in range(row + 1, size))
        found[row] = rest / lower[row][row]
    return found
