"""Edge counts that are sums over paths, compared in one run with those of a counter on every edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bench.measures.model import Json, RunMeasure
from bench.run.executables import run_of
from bench.run.profiles import collected
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError
from trodden.plan.probes import RedundantMeasure
from trodden.profile.model import Profile


@dataclass(frozen=True)
class PathAgreement(RunMeasure):
    """How many edges are compared, and how many counts differ."""

    config: str = "paths-checked"
    kind: ClassVar[str] = "agreement/paths"

    def measure(self, program: SuiteProgram) -> Json:
        """Run and compare."""
        run = run_of(program, self.config, self.case, "agreement")
        return path_agreement(collected(run.execute(), run.what), program.name)


def path_agreement(profile: Profile, program: str) -> Json:
    """Of a profile with both paths and a counter on every edge."""
    for skipped in profile.skipped:
        if not skipped.reason:
            raise BenchError(f"{program}: {skipped.name} has no profile, and no reason is given")
    edges = taken = paths = 0
    for function in profile.functions.values():
        if function.paths is None:
            raise BenchError(f"{program}: {function.name} has a profile without paths")
        compared = [each.edge for each in function.facts.plan.measures if isinstance(each, RedundantMeasure)]
        edges += len(compared)
        taken += sum(1 for edge in compared if function.edge_counts[edge])
        paths += len(function.paths)
    return {
        "functions": len(profile.functions),
        "edges": edges,
        "taken": taken,
        "paths": paths,
        "differences": sum(len(each.violations) for each in profile.functions.values()),
        "not profiled": [f"{each.name}: {each.reason}" for each in profile.skipped],
    }
