"""Profiles to merge: one function, executed along given walks and counted by a given plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.profile.making import function, unit_of
from trodden.graph.cfg import Graph
from trodden.merging.evidence import Evidence
from trodden.merging.parts import Part
from trodden.merging.sum import Sums
from trodden.plan.interpret import interpret_paths, tally
from trodden.plan.paths.prefixes import RegisterOffset, register_offsets
from trodden.plan.probes import Plan
from trodden.profile.assemble import assemble
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import BlockFacts, FunctionFacts, UnitFacts
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.unit_counts import UnitCounts
from trodden.recover.unit_counts_builder import UnitCountsBuilder

Walks = Sequence[Sequence[int]]


def facts_for(graph: Graph, plan: Plan, name: str = "f", addend: int = 5) -> FunctionFacts:
    """A function; frames keep their register less ``addend`` in a stack slot where it has to be kept."""
    registers = {}
    if plan.paths is not None:
        offsets = enumerate(register_offsets(graph, plan))
        registers = {
            block: (isinstance(offset, RegisterOffset), addend) for block, offset in offsets if offset
        }
    facts = function(name, "a>exit")
    blocks = (BlockFacts(),) * graph.exit
    return replace(facts, graph=graph, plan=plan, blocks=blocks, registers=registers, fingerprint="same")


def unit_for(*functions: FunctionFacts, folder: str = "/one") -> UnitFacts:
    """Units of different folders are of different builds."""
    return unit_of(*functions, files=[f"{folder}/a.c"])


def counted_for(unit: UnitFacts, walks: Sequence[Walks]) -> UnitCounts:
    """What is counted when each function of a unit is executed along these walks."""
    builder = UnitCountsBuilder(unit)
    for index, (facts, walked) in enumerate(zip(unit.functions, walks, strict=True)):
        counted = interpret_paths(facts.graph, facts.plan, walked)
        active = tally(facts.graph, walked).early if facts.plan.paths is None else {}
        builder.add_function(
            index, FunctionCounts(counted.counters, active, counted.prefixes, counted.sparse)
        )
    return builder.result()


def profile_for(unit: UnitFacts, walks: Sequence[Walks]) -> Profile:
    return assemble("/bin/prog", [unit], [counted_for(unit, walks)])


def part_of(profile: Profile, where: str = "x.trod") -> Part:
    return Part(
        where, profile.program, profile.units, profile.unit_counts, profile.messages, profile.call_paths
    )


def joined(joining: Sums | Evidence, profiles: Sequence[Profile]) -> Profile:
    """The profile that a merge of these results in."""
    for number, profile in enumerate(profiles):
        joining.add(part_of(profile, f"{number}.trod"))
    unit_counts, calls = joining.result()
    return assemble("/bin/prog", list(joining.units.facts.values()), unit_counts, joining.messages(), calls)


def lawful(function: FunctionProfile) -> None:
    """The counts have no contradiction, and what enters a block leaves it."""
    assert function.violations == ()
    graph = function.facts.graph
    for vertex in range(len(graph.labels)):
        early = sum(function.cut_short.values()) if vertex == graph.exit else 0
        coming = sum(function.edge_counts[edge] or 0 for edge in graph.in_edges[vertex]) + early
        leaving = sum(function.edge_counts[edge] or 0 for edge in graph.out_edges[vertex])
        assert coming == function.block_counts[vertex]
        assert leaving + function.cut_short.get(vertex, 0) == coming
