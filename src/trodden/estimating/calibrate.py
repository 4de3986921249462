"""Heuristics measured on profiles, and rates that are fitted to the measurements (WL94 §3.1, §8)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from trodden.errors import UsageError
from trodden.estimating.whole_program import whole_program
from trodden.profile.estimated import need_counted
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import FunctionFacts
from trodden.weigh.calibrate.fitting import fit_together, hit_rates
from trodden.weigh.calibrate.observed import Accuracy, Counted, accuracy, measure, observe
from trodden.weigh.heuristics.rates import WL94, Measured, Rates

_DIGITS = 6


@dataclass(frozen=True)
class Calibration:
    """What was measured of each heuristic, the rates made of it, and how well those and WL94's predict."""

    rates: Rates
    measured: Mapping[str, Measured]
    branches: int
    with_paper: Accuracy
    with_rates: Accuracy


def counted_functions(profile: Profile, file: str) -> list[Counted]:
    """The functions of a profile that ran and that branches can be measured on."""
    need_counted(profile, file, "calibrate on profiles of runs")
    ran = [each for each in profile.functions.values() if each.entries]
    with_features = [each for each in ran if each.facts.features.blocks]
    if ran and not with_features:
        raise UsageError(
            f"{file}: has no features of branches: its program was built by an earlier trodden; "
            "build and run it again"
        )
    with_call_features = {
        (profile.units[known.unit].id, known.symbol): facts for facts, known in whole_program(profile.units)
    }
    found = [
        _counted(each, with_call_features.get((each.unit, each.facts.linkage_name), each.facts))
        for each in with_features
        if None not in each.edge_counts
    ]
    if with_features and not found:
        raise UsageError(f"{file}: has block counts only; build and run the program with edges or paths")
    return found


def _counted(function: FunctionProfile, facts: FunctionFacts) -> Counted:
    return Counted(facts.graph, facts.features.blocks, function.edge_counts)


def calibrate(profiles: Mapping[str, Profile], fit: str, weighing: str, name: str) -> Calibration:
    """Measure all heuristics on profiles (by their files), and fit rates: ``hits`` or ``together``."""
    programs = [counted_functions(profile, file) for file, profile in profiles.items()]
    functions = list(chain(*programs))
    by_program = [observe(each) for each in programs]
    observations = list(chain(*by_program))
    if not observations:
        raise UsageError(f"{', '.join(profiles)}: no branch has run, so there is nothing to calibrate with")
    taken = hit_rates(observations, weighing) if fit == "hits" else fit_together(by_program, weighing)
    measured = measure(observations)
    rates = Rates(
        name,
        {key: round(rate, _DIGITS) for key, rate in taken.items()},
        {key: _rounded(each) for key, each in measured.items()},
        tuple(dict.fromkeys(os.path.basename(each.program or file) for file, each in profiles.items())),
    )
    return Calibration(
        rates, measured, len(observations), accuracy(functions, WL94), accuracy(functions, rates)
    )


def _rounded(each: Measured) -> Measured:
    return Measured(round(each.coverage, _DIGITS), round(each.hit_rate, _DIGITS), each.branches)
