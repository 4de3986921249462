"""Counts the machine instructions of the functions that a program has executed, in the finished program."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from trodden.collect.binary.block_marks import locations_at
from trodden.collect.binary.marked_functions import MALFORMED, MarkedFunction, MarkedFunctions
from trodden.collect.binary.x86_outline import Outline, outline
from trodden.collect.instructions.segments import segments_of
from trodden.collect.instructions.traversal import sizes
from trodden.collect.instructions.upkeep import added_instructions
from trodden.plan.paths.block_cloning import clone_graph
from trodden.program.facts import FunctionFacts
from trodden.program.machine_instructions import SCALE, MachineInstructions, ways_out

_Numbers = tuple[str, int]
"""A unit by its id, and a function of it."""


class InstructionCounter:
    """Counts the instructions of one program, those of each function once."""

    def __init__(self, functions: MarkedFunctions) -> None:
        self._functions = functions
        self._counted: dict[_Numbers, MachineInstructions | None] = {}

    def count(self, executed: Mapping[str, Collection[int]]) -> dict[str, dict[int, MachineInstructions]]:
        """The instructions of functions, given by the ids of their units and their numbers there.

        Functions whose code or debug information is not what it should be are left out.
        """
        wanted = {(unit, number) for unit, numbers in executed.items() for number in numbers}
        if wanted - self._counted.keys():
            self._read(wanted)
        found: dict[str, dict[int, MachineInstructions]] = {unit: {} for unit in executed}
        for unit, number in sorted(wanted):
            counted = self._counted[unit, number]
            if counted is not None:
                found[unit][number] = counted
        return found

    def _read(self, wanted: Collection[_Numbers]) -> None:
        for function in self._functions.functions:
            try:
                identity = self._functions.identity(function)
                if identity is None:
                    continue
                key = identity[0].id, identity[1]
                if key in wanted and key not in self._counted:
                    marked = self._functions.marked(function)
                    self._counted[key] = None if marked is None else machine_instructions(marked)
            except MALFORMED:
                continue
        for key in wanted:
            self._counted.setdefault(key, None)


def machine_instructions(marked: MarkedFunction) -> MachineInstructions | None:
    """The instructions of a function; None if its code cannot be decoded."""
    facts = marked.unit.functions[marked.number]
    instructions = outline(marked.code, marked.function.low)
    if not instructions:
        return None
    locations = locations_at([each.address for each in instructions], marked.location)
    _add_prologue(instructions, locations, facts.graph.root)
    added = added_instructions(marked, instructions, locations)
    segments = segments_of(instructions, locations, added)
    if not facts.clones:
        return _scaled(facts, *sizes(facts, segments))
    made = clone_graph(facts.graph, facts.plan, facts.clones)
    blocks = tuple(facts.blocks[origin] for origin in made.origins)
    code = replace(facts, graph=made.graph, plan=made.plan, blocks=blocks, clones=())
    return _scaled_clones(facts, made.edges, code, *sizes(code, segments))


def _add_prologue(instructions: Sequence[Outline], locations: list[int | None], root: int) -> None:
    """Give the prologue, which precedes the first block, the location of that block."""
    for number, each in enumerate(instructions):
        if locations[number] is not None:
            break
        locations[number] = root
        if not each.falls_through:
            break


def _scaled(facts: FunctionFacts, blocks: list[float], edges: list[float]) -> MachineInstructions:
    return MachineInstructions(
        tuple(map(_hundredths, blocks)),
        tuple(
            tuple(_hundredths(edges[edge]) for edge in ways_out(facts.graph, block))
            for block in range(facts.graph.exit)
        ),
    )


def _scaled_clones(
    facts: FunctionFacts,
    originals: Collection[int | None],
    code: FunctionFacts,
    blocks: list[float],
    edges: list[float],
) -> MachineInstructions:
    """The same where blocks have clones; ``originals`` are the edges of the graph, for each of the code."""
    found = {
        (code.graph.edges[edge].src, original): edges[edge]
        for edge, original in enumerate(originals)
        if original is not None
    }
    origins = [*range(facts.graph.exit), *(block for block, _ in facts.clones)]
    return MachineInstructions(
        tuple(map(_hundredths, blocks)),
        tuple(
            tuple(_hundredths(found.get((block, edge), 0.0)) for edge in ways_out(facts.graph, origin))
            for block, origin in enumerate(origins)
        ),
    )


def _hundredths(size: float) -> int:
    return round(size * SCALE)
