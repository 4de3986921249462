"""Means and quartiles."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import median, quantiles


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of positive numbers."""
    return exp(sum(map(log, values)) / len(values))


def median_and_quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The median of some measurements, their lower and their upper quartile."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, _, high = quantiles(values, n=4, method="inclusive")
    return median(values), low, high
