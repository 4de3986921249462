"""How strongly do the counts of two runs speak against both having the same probabilities?"""

from __future__ import annotations

from math import floor, log, log2

CONVINCING = 10.83
"""The measure exceeds this by chance once in a thousand times (chi-square, one degree of freedom)."""


_LEAST_PROBABILITY = 1e-6


def likelihood_ratio(a: float, n: float, b: float, m: float) -> float:
    """The log-likelihood ratio G of ``a`` out of ``n`` against ``b`` out of ``m``.

    Positive if the share is larger in the second.  It holds for small counts too, for which a difference of
    shares or a chi-square test would report too much; zero where one side has no trials at all.
    """
    if not n or not m:
        return 0.0
    together, apart = (a + b) / (n + m), (n - a + m - b) / (n + m)
    total = 0.0
    for seen, trials in ((a, n), (b, m)):
        total += _term(seen, trials * together) + _term(trials - seen, trials * apart)
    return max(0.0, 2 * total) * (1 if b * n >= a * m else -1)


def rate_ratio(a: float, n: float, b: float, m: float) -> float:
    """The same for events that may happen several times a trial, as a block is executed in a call."""
    if not n or not m:
        return 0.0
    together = (a + b) / (n + m)
    total = _term(a, n * together) + _term(b, m * together)
    return max(0.0, 2 * total) * (1 if b * n >= a * m else -1)


def surprise(share: float, taken: float, trials: float) -> float:
    """How strongly ``taken`` out of ``trials`` speaks against a share that was expected beforehand.

    The same measure, with a share instead of a run.  No expectation is so certain that what it rules out
    cannot happen.  Positive if it happened more often than expected.
    """
    if trials <= 0:
        return 0.0
    taken = min(max(taken, 0), trials)
    likely = min(max(share, _LEAST_PROBABILITY), 1 - _LEAST_PROBABILITY)
    total = _term(taken, trials * likely) + _term(trials - taken, trials * (1 - likely))
    return max(0.0, 2 * total) * (1 if taken >= trials * share else -1)


def _term(seen: float, expected: float) -> float:
    return seen * log(seen / expected) if seen else 0.0


def per_call(trials: tuple[float, float], entries: tuple[float, float]) -> float:
    """The weight of one trial as an observation of its own.

    The iterations of a loop within one call of a function are no independent observations: one input makes
    them all take the same edges.  So where a function was called several times, its calls are the
    observations and its iterations share their weight (the design effect of sampling in clusters).  The
    iterations of a function that is called once, as main is, count fully.
    """
    if max(entries) <= 1 or not sum(trials):
        return 1.0
    return min(1.0, sum(entries) / sum(trials))


def level(evidence: float) -> int:
    """0 for what may well be chance, and one more for each doubling beyond what is convincing."""
    strength = abs(evidence)
    return 0 if strength < CONVINCING else 1 + floor(log2(strength / CONVINCING))


def rarity(taken: float, trials: float) -> int:
    """The share as a power of two, rounded: small numbers are rare."""
    return round(log2(max(taken, 1) / max(trials, 1)))
