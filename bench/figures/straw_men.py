"""How much less witnesses record than blocks that record themselves (BL94 §6.2, Table 3)."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import ClassVar

from bench.measures.model import Json, RunMeasure
from bench.run.executables import run_of
from bench.run.profiles import collected
from bench.suite.model import SuiteProgram
from trodden.api.traces import use
from trodden.plan.trace.paths import trip_counts
from trodden.plan.trace.straw_men import every_block, targets_of_predicates
from trodden.profile.derived import derive
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import FunctionFacts


@dataclass(frozen=True)
class StrawMen(RunMeasure):
    """What a run would have recorded."""

    kind: ClassVar[str] = "straw men"

    def measure(self, program: SuiteProgram) -> Json:
        """Count from the trace itself."""
        run = run_of(program, self.config, self.case, "straw-men")
        result = run.execute()
        found = straw_men(collected(result, run.what))
        shutil.rmtree(result.directory, ignore_errors=True)
        return found


def straw_men(traced: Profile) -> dict[str, int]:
    """Of a trace of witnesses: how many it has, trip counts of loops included, and how many there would be if
    every block recorded itself (``blocks``), or every target of a predicate did (``targets``).
    """
    use()
    recorded = {
        id(function.graph): function
        for unit in traced.units
        for function in unit.functions
        if function.plan.trace is not None
    }
    found = dict.fromkeys(("witnesses", "blocks", "targets"), 0)
    for function in derive(traced, "edges").profile.functions.values():
        for copy in function.copies or (function,):
            _add(found, copy, recorded[id(copy.facts.graph)])
    return found


def _add(found: dict[str, int], function: FunctionProfile, recorded: FunctionFacts) -> None:
    graph, trace = recorded.graph, recorded.plan.trace
    assert trace is not None
    writing = [*trace.witnesses, *trip_counts(graph, trace.counted)]
    found["witnesses"] += sum(round(function.edge_counts[edge] or 0) for edge in writing)
    found["blocks"] += sum(round(function.block_counts[block]) for block in every_block(graph))
    found["targets"] += sum(round(function.block_counts[block]) for block in targets_of_predicates(graph))
