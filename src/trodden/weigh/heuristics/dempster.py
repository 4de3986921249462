"""Evidence about a branch, combined by the rule of Dempster and Shafer (WL94 §3.2).

A piece of evidence distributes a mass of one over sets of outcomes: the mass of a set supports the set
without distinguishing its members.  The rule multiplies masses, assigns each product to the intersection of
the two sets, and normalizes to discard the mass of contradictions.

Counted frequencies are evidence too (the end of §3.2), of a simpler kind: all of their mass is on single
outcomes.  Taken literally such evidence vetoes: what one run never did would be impossible, whatever all
others say.  So it is discounted first, after Shafer: the part of it that is not trusted is assigned to the
set of all outcomes, and the larger the sample the more is trusted, but never everything (:func:`trust`).

The weight of discounted evidence for an outcome (:func:`weight`) is a logarithm, and the rule adds weights;
:func:`shares` turns their sums back into probabilities.  That takes one number an outcome, in whatever
order the evidence comes in.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import exp, expm1, log1p
from typing import TypeVar

MAX_TRUST = 0.99
"""How far the largest sample is trusted; a hundred runs outweigh one that contradicts them."""

_Outcome = TypeVar("_Outcome", bound=Hashable)
_NO_COMMON_GROUND = "the evidence contradicts itself: no outcome is possible to both"


def combine_two_way(first: float, second: float) -> float:
    """The probability that a two-way branch is taken, from two estimates of it."""
    taken = first * second
    total = taken + (1 - first) * (1 - second)
    if not total:
        raise ValueError(_NO_COMMON_GROUND)
    return taken / total


def combine(
    first: Mapping[frozenset[_Outcome], float], second: Mapping[frozenset[_Outcome], float]
) -> dict[frozenset[_Outcome], float]:
    """The rule in its general form: basic probability assignments over sets of any number of outcomes."""
    found: dict[frozenset[_Outcome], float] = {}
    for left, mass in first.items():
        for right, other in second.items():
            both = left & right
            if both:
                found[both] = found.get(both, 0.0) + mass * other
    total = sum(found.values())
    if not total:
        raise ValueError(_NO_COMMON_GROUND)
    return {outcomes: mass / total for outcomes, mass in found.items()}


def discount(
    masses: Mapping[frozenset[_Outcome], float], frame: frozenset[_Outcome], trusted: float
) -> dict[frozenset[_Outcome], float]:
    """The same evidence, trusted only in part; the rest is assigned to all of ``frame``."""
    found = {outcomes: trusted * mass for outcomes, mass in masses.items()}
    found[frame] = found.get(frame, 0.0) + 1 - trusted
    return found


def trust(samples: int) -> float:
    """How far shares from so many samples are trusted: half for one, nine tenths for ten."""
    return MAX_TRUST * samples / (samples + 1)


def weight(share: float, trusted: float) -> float:
    """The weight of evidence for an outcome with this share of the samples; 0 for a share of 0.

    It is the logarithm of the commonality of the outcome over that of the whole frame, both of which the rule
    multiplies.
    """
    return log1p(trusted * share / (1 - trusted))


def shares(weights: Mapping[_Outcome, float], pieces: float = 1.0) -> dict[_Outcome, float]:
    """The probabilities of outcomes whose weights, summed over all evidence, are these.

    What the evidence leaves open is shared out in proportion.  The sums are divided by ``pieces`` first:
    with one, this is the rule as it stands, and each piece of evidence that agrees with the others makes
    the answer more certain.  With the number of pieces it is as certain as a single one, and any number of
    equal pieces give the probabilities that each of them has.
    """
    scaled = {outcome: each / pieces for outcome, each in weights.items()}
    most = max(scaled.values(), default=0.0)
    masses = {outcome: -expm1(-each) * exp(each - most) for outcome, each in scaled.items()}
    total = sum(masses.values())
    return {outcome: mass / total for outcome, mass in masses.items()} if total else {}
