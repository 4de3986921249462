"""Rates out of what branches were seen to do (WL94 §3.1, §8).

The paper takes each heuristic's hit rate for its probability (:func:`hit_rates`).  That is right for a
heuristic alone.  Where several speak of the same branch for the same reason, their combination is surer than
it has any right to be, and the more heuristics the worse.  So rates can be fitted together
(:func:`fit_together`): those rates for which the combined probabilities make what was seen most likely.

Dempster's rule multiplies masses.  With ``t`` for the logarithm of ``rate / (1 - rate)``, the probability of
those edges that all heuristics treat alike is in proportion to ``exp`` of the sum of ``t`` over the
heuristics that predict them.  This is logistic regression with yes-or-no features and no constant; its
likelihood has one peak, which Newton's method finds.

Each branch weighs as the logarithm of one plus its executions (:data:`WEIGHINGS`): one that ran a million
times tells more than one that ran once, but not a million times as much, or else the hottest loop alone
would be fitted.  A ridge pulls each ``t`` towards 0, a rate of one half, about as ``4 * ridge`` branches of
weight one would that went both ways equally: heuristics that were seldom seen stay near "does not know".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import exp, log, log1p, sqrt

from trodden.weigh.heuristics import NINE
from trodden.weigh.linear import solve
from trodden.weigh.observed import Observation
from trodden.weigh.table import HEURISTICS

WEIGHINGS: Mapping[str, Callable[[float], float]] = {
    "log": log1p,
    "root": sqrt,
    "branch": lambda executions: 1.0,
    "executions": lambda executions: executions,
}
"""What a branch weighs that ran so often."""

RIDGE = 10.0
MOST_BELIEVED = 0.9999
"""No rate is more certain than this, and none of what is certain by itself is less so."""

_MOST_STEPS = 50
_SMALL = 1e-9

_Way = tuple[frozenset[int], float]
"""Heuristics (by number) that predict the edges of one kind, and how far those edges were taken."""


def hit_rates(observations: Sequence[Observation], weighing: str = "log") -> dict[str, float]:
    """The hit rate of each of the paper's nine heuristics, each branch weighing as ``weighing`` says.

    A half is counted for each outcome besides, so that no rate is 0 or 1.
    """
    weigh = WEIGHINGS[weighing]
    sums = {heuristic.key: [0.5, 1.0] for heuristic in NINE}
    seen_at_all: set[str] = set()
    for seen in observations:
        weight = weigh(seen.executions)
        for key, places in seen.said:
            if key in sums:
                seen_at_all.add(key)
                sums[key][0] += weight * seen.hits(places) / seen.executions
                sums[key][1] += weight
    return {key: _bounded(hit / asked) for key, (hit, asked) in sums.items() if key in seen_at_all}


def fit_together(
    observations: Sequence[Observation],
    weighing: str = "log",
    ridge: float = RIDGE,
    keys: Collection[str] | None = None,
) -> dict[str, float]:
    """The rates that make what was seen most likely, for the heuristics of ``keys`` or all that spoke."""
    spoke = {key for seen in observations for key, _ in seen.said}
    wanted = [
        heuristic
        for heuristic in HEURISTICS
        if heuristic.key in spoke and (keys is None or heuristic.key in keys)
    ]
    fitted = [heuristic.key for heuristic in wanted if not heuristic.settles]
    settling = {heuristic.key for heuristic in wanted if heuristic.settles}
    logits = _peak(_cases(observations, fitted, WEIGHINGS[weighing], bool(settling)), len(fitted), ridge)
    rates = {key: _bounded(1 / (1 + exp(-logit))) for key, logit in zip(fitted, logits, strict=True)}
    rates.update(dict.fromkeys(settling, MOST_BELIEVED))
    return {heuristic.key: rates[heuristic.key] for heuristic in wanted}


def _cases(
    observations: Sequence[Observation],
    fitted: Sequence[str],
    weigh: Callable[[float], float],
    without_settled: bool,
) -> list[list[_Way]]:
    """The observations as the fit sees them; those that look the same are one."""
    number = {key: each for each, key in enumerate(fitted)}
    found: dict[tuple[frozenset[int], ...], list[float]] = {}
    for seen in observations:
        said = [(number[key], places) for key, places in seen.said if key in number]
        if not said or (seen.settled and without_settled):
            continue
        weight = weigh(seen.executions) / seen.executions
        ways: dict[frozenset[int], float] = {}
        for place, count in enumerate(seen.counts):
            kind = frozenset(each for each, places in said if place in places)
            ways[kind] = ways.get(kind, 0.0) + weight * count
        kinds = tuple(sorted(ways, key=sorted))
        sums = found.setdefault(kinds, [0.0] * len(kinds))
        for each, kind in enumerate(kinds):
            sums[each] += ways[kind]
    return [list(zip(kinds, sums, strict=True)) for kinds, sums in found.items()]


def _peak(cases: Sequence[Sequence[_Way]], size: int, ridge: float) -> list[float]:
    """Newton's method from 0, each step cut in half until it leads upwards."""
    at = [0.0] * size
    height = _height(cases, at, ridge)
    for _ in range(_MOST_STEPS):
        slope, bend = _derivatives(cases, at, ridge)
        step = solve(bend, slope)
        scale = 1.0
        while True:
            tried = [here + scale * each for here, each in zip(at, step, strict=True)]
            reached = _height(cases, tried, ridge)
            if reached >= height or scale < _SMALL:
                break
            scale /= 2
        gained = reached - height
        if gained > 0:
            at, height = tried, reached
        if gained <= _SMALL * (1 + abs(height)):
            break
    return at


def _height(cases: Sequence[Sequence[_Way]], at: Sequence[float], ridge: float) -> float:
    """The logarithm of the likelihood, less what the ridge takes."""
    height = -ridge / 2 * sum(each * each for each in at)
    for ways in cases:
        sums = [sum(at[each] for each in kind) for kind, _ in ways]
        most = max(sums)
        total = most + log(sum(exp(each - most) for each in sums))
        height += sum(taken * (each - total) for (_, taken), each in zip(ways, sums, strict=True))
    return height


def _derivatives(
    cases: Sequence[Sequence[_Way]], at: Sequence[float], ridge: float
) -> tuple[list[float], list[list[float]]]:
    """The slope of the height, and how fast it bends down."""
    size = len(at)
    slope = [-ridge * each for each in at]
    bend = [[0.0] * size for _ in range(size)]
    for each in range(size):
        bend[each][each] = ridge
    for ways in cases:
        sums = [sum(at[each] for each in kind) for kind, _ in ways]
        most = max(sums)
        parts = [exp(each - most) for each in sums]
        total = sum(parts)
        weight = sum(taken for _, taken in ways)
        expected: dict[int, float] = {}
        for (kind, taken), part in zip(ways, parts, strict=True):
            share = part / total
            for one in kind:
                slope[one] += taken - weight * share
                expected[one] = expected.get(one, 0.0) + share
                row = bend[one]
                for other in kind:
                    row[other] += weight * share
        for one, first in expected.items():
            row = bend[one]
            for other, second in expected.items():
                row[other] -= weight * first * second
    return slope, bend


def _bounded(rate: float) -> float:
    return min(max(rate, 1 - MOST_BELIEVED), MOST_BELIEVED)
