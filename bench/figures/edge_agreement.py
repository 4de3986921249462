"""Edge counts that are recovered from few counters, compared with those of a counter on every edge.

Once in two runs of two builds, and once in a single run of a build that has both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.measures.code import code_of
from bench.measures.model import Json, Measure
from bench.run.executables import run_of
from bench.run.fingerprints import run_fingerprint
from bench.run.profiles import collected
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError
from bench.support.hashing import hashed
from trodden.profile.model import FunctionProfile, Profile

_FEW, _EVERY, _CHECKED = "edges", "edges-every", "edges-checked"


@dataclass(frozen=True)
class EdgeAgreement(Measure):
    """How many counts differ, with the first differences in words."""

    @property
    def key(self) -> str:
        """There is one a program."""
        return "agreement/edges"

    @property
    def configs(self) -> tuple[str, ...]:
        """Few counters, one on every edge, and both."""
        return (_FEW, _EVERY, _CHECKED)

    def fingerprint(self, program: SuiteProgram) -> str:
        """All builds on *ref*, and the code that compares."""
        return hashed(code_of(__name__), *(run_fingerprint(program, each, "ref") for each in self.configs))

    def measure(self, program: SuiteProgram) -> Json:
        """Run all builds and compare."""
        few, every, checked = (_profile(program, config) for config in self.configs)
        one, other = _by_name(few), _by_name(every)
        if one.keys() != other.keys():
            raise BenchError(f"{program.name}: {_FEW} and {_EVERY} do not have the same functions")
        differences = {name: edge_differences(each, other[name]) for name, each in one.items()}
        every_difference = [text for found in differences.values() for text in found]
        return {
            "functions": len(one),
            "edges": sum(len(list(each.facts.graph.flow_edges())) for each in one.values()),
            "counters": sum(each.facts.plan.slots for each in one.values()),
            "functions that differ": sum(bool(found) for found in differences.values()),
            "counts that differ": len(every_difference),
            "differences": every_difference[:20],
            "violations": sum(len(each.violations) for each in checked.functions.values()),
        }


def _profile(program: SuiteProgram, config: str) -> Profile:
    run = run_of(program, config, "ref", "agreement")
    return collected(run.execute(), run.what)


def edge_differences(few: FunctionProfile, every: FunctionProfile) -> list[str]:
    """All counts of a function that differ between two placements of counters, in words."""
    graph = few.facts.graph
    if graph.edges != every.facts.graph.edges:
        return [f"{few.name}: the graphs differ"]
    found = []
    for edge, (a, b) in enumerate(zip(few.edge_counts, every.edge_counts, strict=True)):
        if a != b:
            source, target, _ = graph.edges[edge]
            found.append(f"{graph.labels[source]} -> {graph.labels[target]}: {a}, with its own counter {b}")
    for vertex, (a, b) in enumerate(zip(few.block_counts, every.block_counts, strict=True)):
        if a != b:
            found.append(f"{graph.labels[vertex]}: {a}, with counters on every edge {b}")
    for vertex in sorted(few.cut_short.keys() | every.cut_short.keys()):
        a, b = few.cut_short.get(vertex, 0), every.cut_short.get(vertex, 0)
        if a != b:
            found.append(f"{graph.labels[vertex]}: cut short {a} times, with counters on every edge {b}")
    return [f"{few.name}: {each}" for each in found]


def _by_name(profile: Profile) -> Mapping[tuple[str, str], FunctionProfile]:
    sources = {unit.id: unit.source for unit in profile.units}
    return {(sources[each.unit], each.facts.linkage_name): each for each in profile.functions.values()}
