"""Rates of heuristics from what branches were observed to do (WL94 §3.1, §8).

The paper takes each heuristic's hit rate for its probability (:func:`hit_rates`).  That is right for a
heuristic alone.  Where several apply to the same branch for the same reason, their combination is
overconfident, and the more heuristics the worse.  So rates can be fitted together (:func:`fit_together`):
the rates for which the combined probabilities make the observations most likely.

Dempster's rule multiplies masses.  With ``t`` for the logarithm of ``rate / (1 - rate)``, the probability of
those edges that all heuristics treat alike is in proportion to ``exp`` of the sum of ``t`` over the
heuristics that predict them.  This is logistic regression with yes-or-no features and no constant; its
likelihood has one peak, which Newton's method finds.

Each branch weighs as the square root of its executions (:data:`WEIGHINGS`): one that ran a million times
tells more than one that ran once, but not a million times as much, or else the hottest loop alone would be
fitted; and all programs weigh alike.  A ridge pulls each ``t`` towards 0, a rate of one half, about as ``4 *
ridge`` branches of weight one would that went both outcomes equally: heuristics that were seldom seen stay
near "does not know".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from math import exp, log, log1p, sqrt

from trodden.weigh.calibrate.linear import solve
from trodden.weigh.calibrate.observed import Observation
from trodden.weigh.heuristics.ball_larus import BALL_LARUS
from trodden.weigh.heuristics.heuristic import Heuristic
from trodden.weigh.heuristics.registry import HEURISTICS

WEIGHINGS: Mapping[str, Callable[[float], float]] = {
    "log": log1p,
    "root": sqrt,
    "branch": lambda executions: 1.0,
    "executions": lambda executions: executions,
}
"""The weight of a branch with so many executions."""

RIDGE = 10.0
MAX_RATE = 0.9999
"""No fitted rate is more certain than this."""

MAX_CERTAIN_RATE = 0.999999
"""The upper bound for features that determine a probability by themselves."""

_MOST_STEPS = 50
_SMALL = 1e-9

_Outcome = tuple[frozenset[int], float]
"""Heuristics (by number) that predict the edges of one kind, and how often those edges were taken."""


def hit_rates(observations: Sequence[Observation], weighing: str = "root") -> dict[str, float]:
    """The hit rate of each of the paper's nine heuristics, each branch weighing as ``weighing`` says.

    A half is added for each outcome, so that no rate is 0 or 1.
    """
    weigh = WEIGHINGS[weighing]
    sums = {heuristic.key: [0.5, 1.0] for heuristic in BALL_LARUS}
    seen_at_all: set[str] = set()
    for seen in observations:
        weight = weigh(seen.executions)
        for key, positions in seen.said:
            if key in sums:
                seen_at_all.add(key)
                sums[key][0] += weight * seen.hits(positions) / seen.executions
                sums[key][1] += weight
    return {key: _bounded(hit / asked) for key, (hit, asked) in sums.items() if key in seen_at_all}


def fit_together(
    programs: Sequence[Sequence[Observation]],
    weighing: str = "root",
    ridge: float = RIDGE,
    keys: Collection[str] | None = None,
) -> dict[str, float]:
    """The rates that make the observations most likely, for the heuristics of ``keys`` or all that applied.

    The observations are grouped by program, and all programs count alike.  The rates of decisive heuristics
    are their hit rates (:func:`decisive_rates`).
    """
    spoke = {key for seen in chain(*programs) for key, _ in seen.said}
    wanted = [
        heuristic
        for heuristic in HEURISTICS
        if heuristic.key in spoke and (keys is None or heuristic.key in keys)
    ]
    fitted = [heuristic.key for heuristic in wanted if not heuristic.decisive]
    decisive = [heuristic for heuristic in wanted if heuristic.decisive]
    certain = frozenset(each.key for each in decisive if each.strength is not None)
    cases = _cases(programs, fitted, WEIGHINGS[weighing], certain)
    logits = _maximize(cases, len(fitted), ridge)
    rates = {key: _bounded(1 / (1 + exp(-logit))) for key, logit in zip(fitted, logits, strict=True)}
    rates.update(decisive_rates(programs, decisive))
    return {heuristic.key: rates[heuristic.key] for heuristic in wanted if heuristic.key in rates}


def decisive_rates(
    programs: Sequence[Sequence[Observation]], decisive: Sequence[Heuristic]
) -> dict[str, float]:
    """The hit rates of decisive heuristics, over the branches that each of them decides.

    Within a program executions count, as Ball and Larus count them: an error that does not occur in a million
    executions is that rare.  Over programs the mean of the logits is taken, each with the logarithm of its
    executions as weight, so that one program with a single hot loop does not decide for all; an undecided
    program (a rate of one half) is added.
    Where the feature itself determines a probability, the rate is only its upper bound.  A heuristic all of
    whose branches were decided by others has no rate.
    """
    asked = [heuristic.key for heuristic in decisive]
    sums = {key: [0.0, 1.0] for key in asked}
    for observations in programs:
        hits = {key: [0.5, 1.0] for key in asked}
        spoke: set[str] = set()
        for seen in observations:
            first = next((key for key in seen.decisive if key in hits), None)
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
    rates.update(
        {heuristic.key: MAX_CERTAIN_RATE for heuristic in decisive if heuristic.strength is not None}
    )
    return rates


def _cases(
    programs: Sequence[Sequence[Observation]],
    fitted: Sequence[str],
    weigh: Callable[[float], float],
    certain: frozenset[str],
) -> list[list[_Outcome]]:
    """The observations as the fit needs them, without those that are certain; equal ones are combined.

    Branches with a decisive heuristic are among them: what the other heuristics predict of an error check
    also holds for error checks that cannot be recognised.
    """
    number = {key: each for each, key in enumerate(fitted)}
    found: dict[tuple[frozenset[int], ...], list[float]] = {}
    for seen, share in _alike(programs, weigh):
        said = [(number[key], positions) for key, positions in seen.said if key in number]
        if not said or not certain.isdisjoint(seen.decisive):
            continue
        weight = share / seen.executions
        outcomes: dict[frozenset[int], float] = {}
        for position, count in enumerate(seen.counts):
            kind = frozenset(each for each, positions in said if position in positions)
            outcomes[kind] = outcomes.get(kind, 0.0) + weight * count
        kinds = tuple(sorted(outcomes, key=sorted))
        sums = found.setdefault(kinds, [0.0] * len(kinds))
        for each, kind in enumerate(kinds):
            sums[each] += outcomes[kind]
    return [list(zip(kinds, sums, strict=True)) for kinds, sums in found.items()]


def _alike(
    programs: Sequence[Sequence[Observation]], weigh: Callable[[float], float]
) -> Iterator[tuple[Observation, float]]:
    """All observations with their weights, scaled so that every program has the same total."""
    sums = [sum(weigh(seen.executions) for seen in observations) for observations in programs]
    mean = sum(sums) / max(1, len(sums))
    for observations, total in zip(programs, sums, strict=True):
        for seen in observations:
            yield seen, weigh(seen.executions) * mean / total


def _maximize(cases: Sequence[Sequence[_Outcome]], size: int, ridge: float) -> list[float]:
    """Newton's method from 0; steps are halved until the likelihood increases."""
    at = [0.0] * size
    likelihood = _likelihood(cases, at, ridge)
    for _ in range(_MOST_STEPS):
        gradient, hessian = _derivatives(cases, at, ridge)
        step = solve(hessian, gradient)
        scale = 1.0
        while True:
            tried = [here + scale * each for here, each in zip(at, step, strict=True)]
            reached = _likelihood(cases, tried, ridge)
            if reached >= likelihood or scale < _SMALL:
                break
            scale /= 2
        gained = reached - likelihood
        if gained > 0:
            at, likelihood = tried, reached
        if gained <= _SMALL * (1 + abs(likelihood)):
            break
    return at


def _likelihood(cases: Sequence[Sequence[_Outcome]], at: Sequence[float], ridge: float) -> float:
    """The log likelihood less the ridge penalty."""
    likelihood = -ridge / 2 * sum(each * each for each in at)
    for outcomes in cases:
        sums = [sum(at[each] for each in kind) for kind, _ in outcomes]
        most = max(sums)
        total = most + log(sum(exp(each - most) for each in sums))
        likelihood += sum(taken * (each - total) for (_, taken), each in zip(outcomes, sums, strict=True))
    return likelihood


def _derivatives(
    cases: Sequence[Sequence[_Outcome]], at: Sequence[float], ridge: float
) -> tuple[list[float], list[list[float]]]:
    """The gradient of the penalized log likelihood, and its negated Hessian."""
    size = len(at)
    gradient = [-ridge * each for each in at]
    hessian = [[0.0] * size for _ in range(size)]
    for each in range(size):
        hessian[each][each] = ridge
    for outcomes in cases:
        sums = [sum(at[each] for each in kind) for kind, _ in outcomes]
        most = max(sums)
        parts = [exp(each - most) for each in sums]
        total = sum(parts)
        weight = sum(taken for _, taken in outcomes)
        expected: dict[int, float] = {}
        for (kind, taken), part in zip(outcomes, parts, strict=True):
            share = part / total
            for one in kind:
                gradient[one] += taken - weight * share
                expected[one] = expected.get(one, 0.0) + share
                row = hessian[one]
                for other in kind:
                    row[other] += weight * share
        for one, first in expected.items():
            row = hessian[one]
            for other, second in expected.items():
                row[other] -= weight * first * second
    return gradient, hessian


def _bounded(rate: float) -> float:
    return min(max(rate, 1 - MAX_RATE), MAX_RATE)
