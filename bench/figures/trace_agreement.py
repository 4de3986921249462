"""What follows from a trace, compared in one run with a counter on every edge."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import ClassVar

from bench.measures.model import Json, RunMeasure
from bench.run.executables import run_of
from bench.run.profiles import collected
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError
from trodden.api.traces import use
from trodden.plan.probes import RedundantMeasure
from trodden.profile.derived import derive
from trodden.profile.model import Profile

_SHOWN = 20


@dataclass(frozen=True)
class TraceAgreement(RunMeasure):
    """How many edges are compared, and how many counts differ."""

    kind: ClassVar[str] = "agreement/trace"

    def measure(self, program: SuiteProgram) -> Json:
        """Run and compare."""
        run = run_of(program, self.config, self.case, "agreement")
        result = run.execute()
        found = trace_agreement(collected(result, run.what), run.what)
        shutil.rmtree(result.directory, ignore_errors=True)
        return found


def trace_agreement(profile: Profile, what: str) -> Json:
    """Of a profile with both a trace and a counter on every edge.

    ``differences`` are edges of which the trace says something else than their counters, ``path differences``
    those of which the paths do that follow from the trace, and ``damaged`` the places where its records
    contradict each other.
    """
    for skipped in profile.skipped:
        if not skipped.reason:
            raise BenchError(f"{what}: {skipped.name} has no trace, and no reason is given")
    for process in profile.trace.traces.processes:
        for message in process.messages:
            raise BenchError(f"{what}: {message}")
    use()
    edges = derive(profile, "edges")
    paths = derive(profile, "paths").profile
    compared = taken = 0
    for function in edges.profile.functions.values():
        measures = function.facts.plan.measures
        counted = [each.edge for each in measures if isinstance(each, RedundantMeasure)]
        compared += len(counted)
        taken += sum(1 for edge in counted if function.edge_counts[edge])
    return {
        "functions": len(edges.profile.functions),
        "edges": compared,
        "taken": taken,
        "threads": len(profile.trace.threads),
        "differences": len(edges.contradictions),
        "path differences": sum(len(each.violations) for each in paths.functions.values()),
        "damaged": len(edges.profile.messages) - len(profile.messages),
        "first differences": edges.contradictions[:_SHOWN],
    }
