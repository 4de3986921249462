"""How good an estimate is: WL94's six scores of it against a measured profile, and rates to estimate with.

Fitted rates are cross-validated: the rates that a program is estimated with are fitted to the programs of all
other packages, since those of one package share code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from bench.papers.wl94 import KINDS, PERCENTS
from trodden.compare.matching import Match, score
from trodden.estimating.calibrate import counted_functions
from trodden.profile.model import Profile
from trodden.weigh.calibrate.fitting import fit_together
from trodden.weigh.calibrate.observed import Observation, observe
from trodden.weigh.heuristics.rates import Rates

_DIGITS = 6

Scores: TypeAlias = dict[str, list[list[float] | None]]
"""By kind: for each percentage the unweighted and the weighted score, or none if nothing was executed."""

Observed: TypeAlias = Mapping[str, Sequence[Sequence[Observation]]]
"""The observed branches of programs, by package."""


def scores(estimate: Profile, measured: Profile) -> Scores:
    """All scores of an estimate, as plain numbers."""
    found = score(estimate, measured, PERCENTS).kinds
    return {kind: [_pair(found[kind][percent]) for percent in PERCENTS] for kind in KINDS}


def _pair(found: Match | None) -> list[float] | None:
    return None if found is None else [round(found.unweighted, _DIGITS), round(found.weighted, _DIGITS)]


def observations(programs: Iterable[tuple[str, str, Profile]]) -> dict[str, list[list[Observation]]]:
    """The branches of programs; each program is a package, a name for messages and a profile."""
    found: dict[str, list[list[Observation]]] = {}
    for package, name, profile in programs:
        found.setdefault(package, []).append(observe(counted_functions(profile, name)))
    return found


def fitted_elsewhere(seen: Observed, package: str) -> Rates:
    """Rates fitted to the branches of all packages but one."""
    others = [program for name, programs in seen.items() if name != package for program in programs]
    return Rates(f"fitted without {package}", fit_together(others))
