"""Rates out of what branches were seen to do (WL94 §3.1, §8).

The paper takes each heuristic's hit rate for its probability (:func:`hit_rates`).  That is right for a
heuristic alone.  Where several speak of the same branch for the same reason, their combination is surer than
it has any right to be, and the more heuristics the worse.  So rates can be fitted together
(:func:`fit_together`): those rates for which the combined probabilities make what was seen most likely.

Dempster's rule multiplies masses.  With ``t`` for the logarithm of ``rate / (1 - rate)``, the probability of
those edges that all heuristics treat alike is in proportion to ``exp`` of the sum of ``t`` over the
heuristics that predict them.  This is logistic regression with yes-or-no features and no constant; its
likelihood has one peak, which Newton's method finds.

Each branch weighs as the square root of its executions (:data:`WEIGHINGS`): one that ran a million times
tells more than one that ran once, but not a million times as much, or else the hottest loop alone would be
fitted; and all programs weigh alike.  A ridge pulls each ``t`` towards 0, a rate of one half, about as
``4 * ridge`` branches of weight one would that went both ways equally: heuristics that were seldom seen stay
near "does not know".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from math import exp, log, log1p, sqrt

from trodden.weigh.calibrate.linear import solve
from trodden.weigh.calibrate.observed import Observation
from trodden.weigh.heuristics.ball_larus import NINE, Heuristic
from trodden.weigh.heuristics.registry import HEURISTICS

WEIGHINGS: Mapping[str, Callable[[float], float]] = {
    "log": log1p,
    "root": sqrt,
    "branch": lambda executions: 1.0,
    "executions": lambda executions: executions,
}
"""What a branch weighs that ran so often."""

RIDGE = 10.0
MOST_BELIEVED = 0.9999
"""No rate that was seen is more certain than this."""

MOST_CERTAIN = 0.999999
"""How far a clue is believed at most that tells by itself how probable the edges are."""

_MOST_STEPS = 50
_SMALL = 1e-9

_Way = tuple[frozenset[int], float]
"""Heuristics (by number) that predict the edges of one kind, and how far those edges were taken."""


def hit_rates(observations: Sequence[Observation], weighing: str = "root") -> dict[str, float]:
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
    programs: Sequence[Sequence[Observation]],
    weighing: str = "root",
    ridge: float = RIDGE,
    keys: Collection[str] | None = None,
) -> dict[str, float]:
    """The rates that make what was seen most likely, for the heuristics of ``keys`` or all that spoke.

    What was seen is given program by program, and all programs count alike.  Rates of heuristics that settle
    a branch alone are their hit rates (:func:`settling_rates`).
    """
    spoke = {key for seen in chain(*programs) for key, _ in seen.said}
    wanted = [
        heuristic
        for heuristic in HEURISTICS
        if heuristic.key in spoke and (keys is None or heuristic.key in keys)
    ]
    fitted = [heuristic.key for heuristic in wanted if not heuristic.settles]
    settling = [heuristic for heuristic in wanted if heuristic.settles]
    certain = frozenset(each.key for each in settling if each.strength is not None)
    cases = _cases(programs, fitted, WEIGHINGS[weighing], certain)
    logits = _peak(cases, len(fitted), ridge)
    rates = {key: _bounded(1 / (1 + exp(-logit))) for key, logit in zip(fitted, logits, strict=True)}
    rates.update(settling_rates(programs, settling))
    return {heuristic.key: rates[heuristic.key] for heuristic in wanted if heuristic.key in rates}


def settling_rates(
    programs: Sequence[Sequence[Observation]], settling: Sequence[Heuristic]
) -> dict[str, float]:
    """The hit rates of heuristics that settle a branch, over the branches that each of them settles.

    Within a program executions count, as Ball and Larus count them: an error that is never met in a million
    executions is that rare.  Over programs the mean is that of the odds' logarithms, each weighing as the
    logarithm of its executions, so that one program with a single hot loop does not decide for all; and one
    that does not know is counted besides.
    Where the clue itself tells how probable the edges are, the rate is only the most that is believed.  A
    heuristic that never had the say, as others always settled its branches first, has no rate.
    """
    asked = [heuristic.key for heuristic in settling]
    sums = {key: [0.0, 1.0] for key in asked}
    for observations in programs:
        hits = {key: [0.5, 1.0] for key in asked}
        spoke: set[str] = set()
        for seen in observations:
            first = next((key for key in seen.settling if key in hits), None)
            if first is not None:
                spoke.add(first)
                hits[first][0] += seen.hits(dict(seen.said)[first])
                hits[first][1] += seen.executions
        for key in spoke:
            rate = min(hits[key][0] / hits[key][1], 1 - _SMALL**2)
            weight = log1p(hits[key][1])
            sums[key][0] += weight * log(rate / (1 - rate))
            sums[key][1] += weight
    rates = {
        key: _bounded(1 / (1 + exp(-total / number))) for key, (total, number) in sums.items() if number > 1
    }
    rates.update({heuristic.key: MOST_CERTAIN for heuristic in settling if heuristic.strength is not None})
    return rates


def _cases(
    programs: Sequence[Sequence[Observation]],
    fitted: Sequence[str],
    weigh: Callable[[float], float],
    certain: frozenset[str],
) -> list[list[_Way]]:
    """The observations as the fit sees them, without those that are certain; those that look alike are one.

    Branches that something settles are among them: what else is there to say about a check for errors tells
    also of those checks that cannot be recognised.
    """
    number = {key: each for each, key in enumerate(fitted)}
    found: dict[tuple[frozenset[int], ...], list[float]] = {}
    for seen, share in _alike(programs, weigh):
        said = [(number[key], places) for key, places in seen.said if key in number]
        if not said or not certain.isdisjoint(seen.settling):
            continue
        weight = share / seen.executions
        ways: dict[frozenset[int], float] = {}
        for place, count in enumerate(seen.counts):
            kind = frozenset(each for each, places in said if place in places)
            ways[kind] = ways.get(kind, 0.0) + weight * count
        kinds = tuple(sorted(ways, key=sorted))
        sums = found.setdefault(kinds, [0.0] * len(kinds))
        for each, kind in enumerate(kinds):
            sums[each] += ways[kind]
    return [list(zip(kinds, sums, strict=True)) for kinds, sums in found.items()]


def _alike(
    programs: Sequence[Sequence[Observation]], weigh: Callable[[float], float]
) -> Iterator[tuple[Observation, float]]:
    """All observations with their weights, scaled so that those of every program come to the same sum."""
    sums = [sum(weigh(seen.executions) for seen in observations) for observations in programs]
    mean = sum(sums) / max(1, len(sums))
    for observations, total in zip(programs, sums, strict=True):
        for seen in observations:
            yield seen, weigh(seen.executions) * mean / total


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
