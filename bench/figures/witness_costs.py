"""What the witnesses of a program cost, beside the cheapest that there are (BL94 §4.1, §4.2)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from bench.build.configurations import trace_config
from bench.measures.model import BuildMeasure, Json
from bench.run.executables import executable
from bench.suite.model import SuiteProgram
from trodden.collect.binary.program import read_program
from trodden.plan.covering import OptimumError
from trodden.plan.trace.optimum import Comparison, compare
from trodden.program.facts import FunctionFacts
from trodden.weigh.frequency.nesting import nesting_weights

MOST_EDGES = 60
"""Larger functions are left out: the problem is NP-complete."""
_SECONDS = 5.0
_ROUNDING = 1 + 1e-6


@dataclass(frozen=True)
class WitnessCosts(BuildMeasure):
    """Sums over all functions whose optimum was found, by the weights that witnesses are placed with.

    ``traced`` are the functions that have witnesses, ``solved`` those of them whose optimum was found, and
    ``optimal`` those of these where the heuristic has found it too.
    """

    config: str = trace_config("witnesses")
    kind: ClassVar[str] = "witness costs"

    def measure(self, program: SuiteProgram) -> Json:
        """Solve."""
        units = read_program(executable(program, self.config)).units.values()
        return witness_costs(function for unit in units for function in unit.functions)


def witness_costs(functions: Iterable[FunctionFacts]) -> Json:
    """The figures of some functions."""
    traced = [each for each in functions if each.plan.trace is not None and each.plan.trace.witnesses]
    found: list[Comparison] = []
    for function in traced:
        trace = function.plan.trace
        if trace is not None and len(function.graph.edges) <= MOST_EDGES:
            with suppress(OptimumError):
                found.append(compare(function.graph, nesting_weights(function.graph), trace, _SECONDS))
    return {
        "traced": len(traced),
        "solved": len(found),
        "optimal": sum(each.heuristic <= each.optimum * _ROUNDING for each in found),
        "heuristic": sum(each.heuristic for each in found),
        "tree first": sum(each.tree_first for each in found),
        "optimum": sum(each.optimum for each in found),
    }
