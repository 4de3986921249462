"""What do weights save?  The increments that probes need, placed by nesting, estimate or measurement.

    python -m bench.weights [NAME ...] [--jobs N] [--as-built] [--level O2] [--json OUT]

Probes go where control is seldom expected, so better expectations mean fewer increments (BL94 §5).  Every
function is planned anew by each kind of weights, and the probes are counted by what was measured: measured
weights foretell the very runs that they are of, and are as good as weights can be.  Estimates are made with
the paper's rates and with rates fitted to the programs of other packages, as in
:mod:`bench.figures.estimates`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bench.current import measured_of
from bench.errors import BenchError
from bench.estimate_programs import Subject, asked, subjects
from bench.figures.estimates import fitted_elsewhere, observations
from bench.figures.executed import executed
from bench.keeping import ir_of
from bench.machine import description
from bench.programs import LOOSE
from bench.textual import geometric_mean, table
from trodden.commands.weights import weights_of
from trodden.errors import TroddenError
from trodden.native.analysis.module_reader import ModuleReader, ReadFunction
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module
from trodden.native.options import Options, PathOptions, Weights
from trodden.native.planning.plan_function import plan_for
from trodden.plan.probes import Add, AddTrips, Bump, BumpAt, Count, Plan, Restore, Set
from trodden.profile.model import FunctionProfile
from trodden.program.facts import UnitFacts
from trodden.weigh.frequency.expected import expected_weights
from trodden.weigh.heuristics.rates import WL94, Rates

_WEIGHTS = ("nesting", "WL94", "fitted", "measured")
_PROFILES = {"edges": Options(), "paths": Options(paths=PathOptions())}


@dataclass
class Needed:
    """What probes did to memory and to the path register, by profile and weights."""

    increments: dict[tuple[str, str], int] = field(default_factory=dict)
    register: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, key: tuple[str, str], plan: Plan, counted: FunctionProfile) -> None:
        """Add what the probes of a plan would have done in the runs that were counted."""
        for probe, times in executed(plan, counted):
            if isinstance(probe, Count | AddTrips | Bump | BumpAt):
                self.increments[key] = self.increments.get(key, 0) + times
            elif isinstance(probe, Set | Add | Restore):
                self.register[key] = self.register.get(key, 0) + times

    def as_json(self) -> dict[str, Any]:
        """For the file of results."""
        return {
            profile: {
                weights: {
                    "increments": self.increments.get((profile, weights), 0),
                    "register": self.register.get((profile, weights), 0),
                }
                for weights in _WEIGHTS
            }
            for profile in _PROFILES
        }


def needed(subject: Subject, rates: Rates) -> Needed:
    """Plan all functions of a program by all weights."""
    functions = measured_of(subject).functions.values()
    measured = {(each.unit, each.facts.linkage_name): each for each in functions}
    found = Needed()
    for unit in measured_of(subject).units:
        for function in _functions(subject, unit):
            counted = measured.get((unit.id, function.read.ir.symbol))
            if counted is not None:
                _plan(function, counted, rates, found)
    return found


def _functions(subject: Subject, unit: UnitFacts) -> Iterator[ReadFunction]:
    text = ir_of(subject.ir, unit).read_text(encoding="utf-8", errors="surrogateescape")
    reader = ModuleReader(cut_module(text), unit.source, Options())
    for definition in reader.module.definitions:
        function = reader.function(cut_function(definition))
        if function is not None:
            yield function


def _plan(function: ReadFunction, counted: FunctionProfile, rates: Rates, found: Needed) -> None:
    graph = function.read.graph
    if graph.edges != counted.facts.graph.edges:
        raise BenchError(f"{counted.name}: its IR is not that of its profile; build and run it again")
    known = {
        "WL94": expected_weights(graph, function.features, WL94, function.read.loops),
        "fitted": expected_weights(graph, function.features, rates, function.read.loops),
        "measured": weights_of(counted),
    }
    for profile, options in _PROFILES.items():
        for weights in _WEIGHTS:
            given = known.get(weights)
            chosen = replace(options, measured=None if given is None else _always(given))
            plan = plan_for(function.read, chosen, "x86_64", 0, function.features).plan
            found.add((profile, weights), plan, counted)


def _always(weights: list[float]) -> Weights:
    return lambda graph, symbol: weights


def increments_table(found: Mapping[str, Needed], profile: str, what: str) -> str:
    """Increments or register changes of one profile, program by program."""
    rows: list[list[str]] = []
    ratios: list[list[float]] = []
    for name, each in found.items():
        counts = getattr(each, what)
        numbers = [counts.get((profile, weights), 0) for weights in _WEIGHTS]
        rows.append([name, *(f"{number:,}" for number in numbers), *_ratios(numbers)])
        if all(numbers):
            ratios.append([number / numbers[0] for number in numbers[1:]])
    if ratios:
        means = [geometric_mean(column) for column in zip(*ratios, strict=True)]
        rows.append(["geometric mean", *("" for _ in _WEIGHTS), *(f"{each:.3f}" for each in means)])
    beside = [f"{weights}/{_WEIGHTS[0]}" for weights in _WEIGHTS[1:]]
    return table((f"{profile}: {what}", *_WEIGHTS, *beside), rows)


def _ratios(numbers: Sequence[int]) -> list[str]:
    return [f"{number / numbers[0]:.3f}" if numbers[0] else "-" for number in numbers[1:]]


def main(argv: Sequence[str] | None = None) -> int:
    """Plan, count and print."""
    arguments = asked(__doc__, LOOSE / "weights.json", argv)
    try:
        every = subjects((), arguments.jobs, arguments.as_built, arguments.level)
        seen = observations((each.package, str(each.measured), measured_of(each)) for each in every)
        found: dict[str, Needed] = {}
        for subject in every:
            if not arguments.names or subject.name in arguments.names:
                found[subject.name] = needed(subject, fitted_elsewhere(seen, subject.package))
                print(f"{subject.name} planned", file=sys.stderr)
    except (BenchError, TroddenError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    for profile, what in (("edges", "increments"), ("paths", "increments"), ("paths", "register")):
        print(f"{increments_table(found, profile, what)}\n")
    result = {"machine": description(), "programs": {name: each.as_json() for name, each in found.items()}}
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
