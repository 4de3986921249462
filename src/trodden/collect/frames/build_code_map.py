"""Makes the code map of a function from its instructions and its debug information."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set

from trodden.collect.binary.dwarf import Variable
from trodden.collect.binary.dwarf_expressions import Frame, evaluate
from trodden.collect.binary.line_rows import LineRow
from trodden.collect.binary.x86 import Flow, Instruction
from trodden.collect.frames.code_map import CodeMap
from trodden.graph.cfg import Graph
from trodden.plan.paths.locations import Locations
from trodden.program.facts import BranchKind, FunctionFacts

_LOCATION_SIZE = 8


def build_code_map(
    facts: FunctionFacts,
    instructions: Sequence[Instruction],
    location: Variable,
    rows: Sequence[LineRow],
    by_line: bool,
    joined: Set[int] = frozenset(),
) -> CodeMap:
    """Combine the instructions of a function with its debug information.

    ``location`` is the artificial variable that holds the program location.  ``by_line``: the line of a row
    is the code of a probe; otherwise its discriminator is.
    """
    graph = facts.graph
    locations = _locations(graph, instructions, location)
    codes = _probe_codes(instructions, rows, by_line)
    completed: dict[int, int] = {}
    inside_probes: set[int] = set()
    targets = {each.target for each in instructions if each.target >= 0}
    for first, last in _runs(instructions, codes, targets):
        writes = [number for number in range(first, last) if instructions[number].writes]
        if writes:
            completed[writes[-1]] = codes[first]
            inside_probes.update(range(writes[0] + 1, writes[-1] + 1))
    dead_ends = {block for block, each in enumerate(facts.blocks) if each.kind is BranchKind.DEAD_END}
    leading_in = _extend_backwards(instructions, locations, codes)
    return CodeMap(
        graph,
        instructions,
        locations,
        completed,
        inside_probes,
        Locations.of(graph),
        dead_ends,
        leading_in,
        joined,
    )


def rows_between(rows: Sequence[LineRow], low: int, high: int) -> list[LineRow]:
    """The rows of a function; of several at one address the last one counts."""
    found: Mapping[int, LineRow] = {
        row.address: row for row in rows if low <= row.address < high and not row.end
    }
    return [found[address] for address in sorted(found)]


def _extend_backwards(
    instructions: Sequence[Instruction], locations: list[int | None], codes: Sequence[int]
) -> set[int]:
    """Assign instructions without a location to the only location that they lead to; return their addresses.

    They move values to the registers that a block expects, or are ends that several blocks share.  An
    instruction of a probe, or one that may be a counter's increment, is not assigned.
    """
    leading_in: set[int] = set()
    index = {each.address: number for number, each in enumerate(instructions)}
    for number in reversed(range(len(instructions))):
        each = instructions[number]
        if locations[number] is None and not codes[number] and (each.spills or not each.writes):
            if each.flow is Flow.NEXT and number + 1 < len(instructions):
                locations[number] = locations[number + 1]
            elif each.flow is Flow.JUMP and each.target in index:
                locations[number] = locations[index[each.target]]
            if locations[number] is not None:
                leading_in.add(each.address)
    return leading_in


def _locations(graph: Graph, instructions: Sequence[Instruction], location: Variable) -> list[int | None]:
    """The value of the location variable at each instruction."""
    if location.constant is not None:
        return [location.constant] * len(instructions)
    values = {each.expression: _constant(each.expression) for each in location.ranges}
    ranges = sorted((each.low, each.high, values[each.expression]) for each in location.ranges)
    everywhere = _constant(location.everywhere) if location.everywhere is not None else None
    lows = [low for low, _, _ in ranges]
    locations: list[int | None] = []
    for each in instructions:
        number = bisect_right(lows, each.address) - 1
        known = number >= 0 and each.address < ranges[number][1]
        locations.append(ranges[number][2] if known else everywhere)
    targets = {each.target for each in instructions}
    for number, each in enumerate(instructions):
        # The prologue precedes the first block.
        if locations[number] is not None or each.address in targets:
            break
        locations[number] = graph.root
        if each.flow is not Flow.NEXT:
            break
    return locations


def _constant(expression: bytes) -> int | None:
    """The value of an expression that needs no frame."""
    return evaluate(expression, Frame({}, lambda address, size: None), b"", _LOCATION_SIZE)


def _probe_codes(instructions: Sequence[Instruction], rows: Sequence[LineRow], by_line: bool) -> list[int]:
    """The probe code in the line row of each instruction, 0 where there is none."""
    starts = [row.address for row in rows]
    codes: list[int] = []
    for each in instructions:
        number = bisect_right(starts, each.address) - 1
        row = rows[number] if number >= 0 else None
        codes.append(0 if row is None or row.end else row.line if by_line else row.discriminator)
    return codes


def _runs(
    instructions: Sequence[Instruction], codes: Sequence[int], targets: set[int]
) -> Iterator[tuple[int, int]]:
    """Straight-line sequences of instructions with the same probe code, as ranges of indices."""
    first = 0
    for number in range(1, len(instructions) + 1):
        if (
            number == len(instructions)
            or codes[number] != codes[first]
            or instructions[number].address in targets
            or instructions[number - 1].flow is not Flow.NEXT
        ):
            if codes[first]:
                yield first, number
            first = number
