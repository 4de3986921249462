"""Profiles to merge: one function, walked in a given way and counted by a given plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tests.profile.making import function, unit_of
from trodden.graph.cfg import Graph
from trodden.merging.evidence import Evidence
from trodden.merging.parts import Part
from trodden.merging.sum import Sums
from trodden.plan.interpret import interpret_paths, tally
from trodden.plan.paths.prefixes import Offset, register_offsets
from trodden.plan.probes import WORD, Plan
from trodden.profile.assemble import assemble
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import BlockFacts, FunctionFacts, UnitFacts
from trodden.recover.reading import Reading

Walks = Sequence[Sequence[int]]


def facts_for(graph: Graph, plan: Plan, name: str = "f", addend: int = 5) -> FunctionFacts:
    """A function; frames keep their register less ``addend`` in a cell where it has to be kept."""
    registers = {}
    if plan.paths is not None:
        offsets = enumerate(register_offsets(graph, plan))
        registers = {block: (isinstance(offset, Offset), addend) for block, offset in offsets if offset}
    facts = function(name, "a>exit")
    blocks = (BlockFacts(),) * graph.exit
    return replace(facts, graph=graph, plan=plan, blocks=blocks, registers=registers, fingerprint="same")


def unit_for(*functions: FunctionFacts, folder: str = "/one") -> UnitFacts:
    """Units of different folders are of different builds."""
    return unit_of(*functions, files=[f"{folder}/a.c"])


def reading_for(unit: UnitFacts, walks: Sequence[Walks]) -> Reading:
    """What is counted when each function of a unit is walked so."""
    counts = [0] * unit.slots
    active: dict[tuple[int, int], int] = {}
    prefixes: Counter[tuple[int, int, int | None]] = Counter()
    sparse: dict[tuple[int, int], tuple[int, int]] = {}
    for index, (facts, walked) in enumerate(zip(unit.functions, walks, strict=True)):
        told = interpret_paths(facts.graph, facts.plan, walked)
        counts[facts.first_slot : facts.first_slot + facts.plan.slots] = told.counters
        if facts.plan.paths is None:
            early = tally(facts.graph, walked).early
            active |= {(index, block): times for block, times in early.items()}
        sparse |= {(index, path): counted for path, counted in told.sparse.items()}
        for (block, register), times in told.prefixes.items():
            stored, addend = facts.registers.get(block, (False, 0))
            cell = None if register is None or not stored else (register - addend) % WORD
            prefixes[index, block, cell] += times
    return Reading(unit.id, counts, active, dict(prefixes), sparse)


def profile_for(unit: UnitFacts, walks: Sequence[Walks]) -> Profile:
    return assemble("/bin/prog", [unit], [reading_for(unit, walks)])


def part_of(profile: Profile, where: str = "x.trod") -> Part:
    return Part(where, profile.program, profile.units, profile.readings, profile.notes, profile.call_paths)


def joined(joining: Sums | Evidence, profiles: Sequence[Profile]) -> Profile:
    """The profile that a merge of these comes to."""
    for number, profile in enumerate(profiles):
        joining.add(part_of(profile, f"{number}.trod"))
    readings, calls = joining.result()
    return assemble("/bin/prog", list(joining.units.facts.values()), readings, joining.notes(), calls)


def lawful(function: FunctionProfile) -> None:
    """The counts contradict each other nowhere, and what comes to a block leaves it."""
    assert function.violations == ()
    graph = function.facts.graph
    for vertex in range(len(graph.labels)):
        early = sum(function.cut_short.values()) if vertex == graph.exit else 0
        coming = sum(function.edge_counts[edge] or 0 for edge in graph.in_edges[vertex]) + early
        leaving = sum(function.edge_counts[edge] or 0 for edge in graph.out_edges[vertex])
        assert coming == function.block_counts[vertex]
        assert leaving + function.cut_short.get(vertex, 0) == coming
