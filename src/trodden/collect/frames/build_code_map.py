"""Makes the code map of a function from its instructions and its debug information."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set

from trodden.collect.binary.block_marks import locations_at, mark_codes
from trodden.collect.binary.marked_functions import MarkedFunction
from trodden.collect.binary.x86 import Flow, Instruction
from trodden.collect.frames.code_map import CodeMap
from trodden.graph.cfg import Graph
from trodden.plan.paths.locations import Holder, Locations, Mark
from trodden.plan.probes import Plan
from trodden.program.facts import BranchKind, FunctionFacts


def build_code_map(
    facts: FunctionFacts,
    instructions: Sequence[Instruction],
    marked: MarkedFunction,
    joined: Set[int] = frozenset(),
) -> CodeMap:
    """Combine the instructions of a function with its debug information."""
    graph = facts.graph
    addresses = [each.address for each in instructions]
    locations = locations_at(addresses, marked.location)
    _add_prologue(graph, instructions, locations)
    codes = _probe_codes(graph, mark_codes(addresses, marked))
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
        _with_unmarked_counts(facts.plan, instructions, locations, codes, completed),
    )


def _with_unmarked_counts(
    plan: Plan,
    instructions: Sequence[Instruction],
    locations: Sequence[int | None],
    codes: Sequence[int],
    completed: Collection[int],
) -> set[int | None]:
    """The locations with an instruction that may complete a probe without having its mark.

    LLVM takes the mark away where it merges the probes of several edges.  Only where paths are not counted in
    an array is a probe a call, always of the same function.
    """
    sparse = plan.paths is not None and not plan.paths.dense
    callees = {instructions[number].callee for number in completed if instructions[number].calls}
    found: set[int | None] = set()
    for number, each in enumerate(instructions):
        may_call = sparse and (not callees or each.callee in {*callees, -1})
        if each.counts and not codes[number] and (may_call or not each.calls):
            around = range(max(number - 1, 0), min(number + 2, len(instructions)))
            found |= {locations[other] for other in ([number] if locations[number] is not None else around)}
    return found


def _extend_backwards(
    instructions: Sequence[Instruction], locations: list[int | None], codes: Sequence[int]
) -> set[int]:
    """Assign instructions without a location to the only location that they lead to; return their addresses.

    They move values to the registers that a block expects, or are ends that several blocks share.  An
    instruction of a probe, or one that may be a counter's increment, is not assigned.  Code generation may
    also move the record of a block behind the first instructions of the block.
    """
    leading_in: set[int] = set()
    index = {each.address: number for number, each in enumerate(instructions)}
    for number in reversed(range(len(instructions))):
        each = instructions[number]
        if locations[number] is None and not codes[number] and not each.counts:
            if each.flow is Flow.NEXT and number + 1 < len(instructions):
                locations[number] = locations[number + 1]
            elif each.flow is Flow.JUMP and each.target in index:
                locations[number] = locations[index[each.target]]
            if locations[number] is not None:
                leading_in.add(each.address)
    return leading_in


def _add_prologue(graph: Graph, instructions: Sequence[Instruction], locations: list[int | None]) -> None:
    """Give the prologue, which precedes the first block, the location of that block."""
    targets = {each.target for each in instructions}
    for number, each in enumerate(instructions):
        if locations[number] is not None or each.address in targets:
            break
        locations[number] = graph.root
        if each.flow is not Flow.NEXT:
            break


def _probe_codes(graph: Graph, codes: list[int]) -> list[int]:
    """The codes without those of instructions that complete no probe."""
    upkeep = Locations.of(graph).mark(Mark(Holder.UPKEEP, 0))
    return [0 if code == upkeep else code for code in codes]


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
