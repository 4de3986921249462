"""Increments by the weights that probes are placed with: nesting of loops, estimates, or measurements.

Probes are placed on edges of small weight, so that better weights mean fewer increments (BL94 §5).  Every
function of a program is planned with each kind of weights, and the exact counts of the program's workload
give the number of increments of each plan.  Measured weights predict the very runs that they come from, and
no others can be better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from bench.build.keep_ir import ir_of
from bench.figures.probe_executions import probe_executions
from bench.measures.code import code_of
from bench.measures.model import Json, Measure
from bench.run.scripted import DEFAULT_LEVEL, ScriptedProgram
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError
from bench.support.hashing import hashed
from trodden.api.weights import weights_of
from trodden.native.analysis.module_reader import ModuleFunction, ModuleReader
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module
from trodden.native.options.declarations import Options, Weights
from trodden.native.planning.plan_function import plan_for
from trodden.plan.probes import Add, AddTripCount, Bump, BumpAt, Count, Plan, Restore, Set
from trodden.profile.model import FunctionProfile
from trodden.profile.store.trod import load
from trodden.program.facts import UnitFacts
from trodden.weigh.frequency.expected import expected_weights
from trodden.weigh.heuristics.rates import WL94, default_rates

NESTING, PAPER, SHIPPED, MEASURED = "nesting", "WL94", "shipped", "measured"
WEIGHTS = (NESTING, PAPER, SHIPPED, MEASURED)
"""Nesting of loops; estimates with the rates of WL94 and of trodden; the counts themselves."""

EDGES, PATHS = "edges", "paths"
_OPTIONS = {EDGES: Options(), PATHS: Options(profile="paths")}


@dataclass(frozen=True)
class IncrementsByWeights(Measure):
    """Increments of memory and changes of the path register, by kind of profile and kind of weights."""

    @property
    def key(self) -> str:
        """There is one a program."""
        return "weights"

    def fingerprint(self, program: SuiteProgram) -> str:
        """The profile of the workload and the code that counts; rates are part of trodden's sources."""
        return hashed(code_of(__name__), ScriptedProgram(program, DEFAULT_LEVEL).fingerprint())

    def measure(self, program: SuiteProgram) -> Json:
        """Build, run, plan and count."""
        scripted = ScriptedProgram(program, DEFAULT_LEVEL)
        measured = load(scripted.profile())
        by_symbol = {(each.unit, each.facts.linkage_name): each for each in measured.functions.values()}
        totals = {profile: {kind: Increments() for kind in WEIGHTS} for profile in _OPTIONS}
        for unit in measured.units:
            for function in _functions(scripted, unit):
                counts = by_symbol.get((unit.id, function.read.ir.symbol))
                if counts is not None:
                    for profile, kind, plan in _plans(function, counts):
                        totals[profile][kind].add(plan, counts)
        return {
            profile: {kind: asdict(each) for kind, each in kinds.items()} for profile, kinds in totals.items()
        }


@dataclass
class Increments:
    """Increments of memory, and changes of the path register."""

    increments: int = 0
    register: int = 0

    def add(self, plan: Plan, counts: FunctionProfile) -> None:
        """Add those of a plan in the runs that were counted."""
        for probe, times in probe_executions(plan, counts):
            if isinstance(probe, Count | AddTripCount | Bump | BumpAt):
                self.increments += times
            elif isinstance(probe, Set | Add | Restore):
                self.register += times


def _functions(scripted: ScriptedProgram, unit: UnitFacts) -> Iterator[ModuleFunction]:
    text = ir_of(scripted.ir, unit).read_text(encoding="utf-8", errors="surrogateescape")
    reader = ModuleReader(cut_module(text), unit.source, Options())
    for definition in reader.module.definitions:
        function = reader.function(cut_function(definition))
        if function is not None:
            yield function


def _plans(function: ModuleFunction, counts: FunctionProfile) -> Iterator[tuple[str, str, Plan]]:
    """The plans of a function by kind of profile and kind of weights."""
    graph = function.read.graph
    if graph.edges != counts.facts.graph.edges:
        raise BenchError(f"{counts.name}: its IR does not match its profile; remove bench/work/estimates")
    weights = {
        NESTING: None,
        PAPER: expected_weights(graph, function.features, WL94, function.read.loops),
        SHIPPED: expected_weights(graph, function.features, default_rates(), function.read.loops),
        MEASURED: weights_of(counts),
    }
    for profile, options in _OPTIONS.items():
        for kind, given in weights.items():
            chosen = replace(options, measured=None if given is None else _always(given))
            yield profile, kind, plan_for(function.read, chosen, "x86_64", 0, function.features).plan


def _always(weights: list[float]) -> Weights:
    return lambda graph, symbol: weights
