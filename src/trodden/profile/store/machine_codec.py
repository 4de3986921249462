"""The machine instructions of executed functions as columns of numbers, and back.

They are apart from the facts of the units, which are the same text in all profiles of one build.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trodden.program.checked import ColumnError, columns, differences, ints, same_length, sums
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.program.machine_instructions import MachineInstructions, ways_out

_MOST = 1 << 32


def machine_to_columns(units: Sequence[UnitFacts]) -> list[list[list[int]]]:
    """For each unit three columns: the functions; the sizes of blocks; and of edges, less their sources'."""
    found = []
    for unit in units:
        known = [(number, each.machine) for number, each in enumerate(unit.functions) if each.machine]
        sizes = [pair for _, machine in known for pair in zip(machine.blocks, machine.edges, strict=True)]
        found.append(
            [
                differences([number for number, _ in known]),
                [block for block, _ in sizes],
                [edge - block for block, edges in sizes for edge in edges],
            ]
        )
    return found


def machine_functions(data: Any, units: Sequence[UnitFacts]) -> list[set[int]]:
    """The functions of each unit whose instructions are in these columns."""
    same_length(data, units)
    return [
        set(ints(sums(ints(numbers)), 0, len(unit.functions)))
        for unit, (numbers, _, _) in zip(units, data, strict=True)
    ]


def machine_from_columns(data: Any, units: Sequence[UnitFacts]) -> list[UnitFacts]:
    """The units with the instructions of their functions."""
    same_length(data, units)
    return [
        _with_machine(unit, *columns(each, 3, "machine instructions"))
        for unit, each in zip(units, data, strict=True)
    ]


def _with_machine(unit: UnitFacts, numbers: Any, blocks: Any, edges: Any) -> UnitFacts:
    functions = ints(sums(ints(numbers)), 0, len(unit.functions))
    if len(set(functions)) != len(functions):
        raise ColumnError("a function has its machine instructions twice")
    ints(blocks, 0, _MOST)
    ints(edges, 1 - _MOST, _MOST)
    found: dict[int, MachineInstructions] = {}
    block = edge = 0
    for number in functions:
        ways = _ways(unit.functions[number])
        sizes = blocks[block : block + len(ways)]
        block += len(ways)
        same_length(sizes, ways)
        along = []
        for size, way in zip(sizes, ways, strict=True):
            along.append(tuple([size + more for more in edges[edge : edge + way]]))
            edge += way
        found[number] = MachineInstructions(tuple(sizes), tuple(along))
    if block != len(blocks) or edge != len(edges):
        raise ColumnError("machine instructions and blocks differ in number")
    if any(size < 0 for each in found.values() for sizes in each.edges for size in sizes):
        raise ColumnError("an edge has a negative number of instructions")
    return unit.with_machine(found)


def _ways(function: FunctionFacts) -> list[int]:
    """How many edges each block of the code has."""
    own = [len(ways_out(function.graph, block)) for block in range(function.graph.exit)]
    return own + [own[block] for block, _ in function.clones]
