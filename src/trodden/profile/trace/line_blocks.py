"""What the blocks of a function have to do with a line of the source.

A line may have several parts in a block, and in several blocks.  Where another part always precedes one, in
the same iteration, the line is not executed anew there: it is on both sides of a call, or of its arguments
that are on lines of their own.  What was inlined at a call is on the line of the call, too; a line that was
inlined several times is a line for each of these *instances*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from trodden.graph.dominators import find_dominators
from trodden.graph.loops import find_nested_loops
from trodden.graph.precedence import Preceding
from trodden.program.facts import FunctionFacts

ELSEWHERE = -1
"""In place of an instance: code of another line."""

IsHere = Callable[[int, int], bool]
"""Whether a file, by its index in the unit, and a line are those that are meant."""


class Part(NamedTuple):
    """A part of a block: its instance, or ``ELSEWHERE``, and whether an optimiser has copied it."""

    instance: int
    copied: bool


class LineBlock(NamedTuple):
    """What a block has to do with the line.

    ``times`` is how often the line is executed anew in it, also at its very ``start`` or not.  ``first`` and
    ``last`` are the instances that the block begins and ends with; ``None`` if it has no line at all.
    """

    times: int
    start: bool
    first: int | None
    last: int | None


class FunctionLine(NamedTuple):
    """The blocks of a line in a function, and those that show from where control comes to them.

    If they are ``apart``, control never goes from one of them to another without leaving the line.  ``root``
    is where control enters the function.
    """

    root: int
    blocks: Mapping[int, LineBlock]
    apart: bool


def line_in(facts: FunctionFacts, is_here: IsHere) -> FunctionLine:
    """The blocks of a line in a function; the line that it begins on is executed when it is entered."""
    graph = facts.graph
    parts = _parts(facts, is_here, added=False)
    own = _own(parts)
    if not own and any(block.added_lines for block in facts.blocks):
        # A jump may be all that an optimiser has left of a line.
        parts = _parts(facts, is_here, added=True)
        own = _own(parts)
    if not own:
        begins = is_here(facts.file, facts.line)
        return FunctionLine(graph.root, {graph.root: LineBlock(1, False, None, None)} if begins else {}, True)
    before: set[int] = set()
    pending, apart = list(own), True
    mine = set(own)
    while pending:
        block = pending.pop()
        for source in (graph.edges[index].src for index in graph.in_edges[block]):
            if source == graph.exit:
                continue
            apart &= source == block or not parts[source] or parts[source][-1].instance == ELSEWHERE
            if source not in mine and source not in before:
                before.add(source)
                if not parts[source]:
                    pending.append(source)
    begun = _begun(facts, parts, own)
    found = {block: _block(parts[block], begun.get(block, ())) for block in own if apart or block in mine}
    if not apart:
        found.update((block, _block(parts[block], ())) for block in before)
    return FunctionLine(graph.root, found, apart)


def _own(parts: Sequence[Sequence[Part]]) -> list[int]:
    """The blocks that the line is in."""
    return [block for block, each in enumerate(parts) if any(part.instance != ELSEWHERE for part in each)]


def _parts(facts: FunctionFacts, is_here: IsHere, added: bool) -> list[list[Part]]:
    """The parts of each block, without repetition of neighbours.

    With ``added`` code of the compiler belongs to the lines that it mentions.
    """
    around = [ELSEWHERE]
    for call in facts.inlined:
        outer = around[call.instance]
        around.append(call.instance if outer < 0 and is_here(call.file, call.line) else outer)
    found = []
    for block in facts.blocks:
        every = []
        for index, ref in enumerate(block.lines) if added else block.statement_lines:
            instance = around[ref.instance]
            if instance < 0 and is_here(ref.file, ref.line):
                instance = ref.instance
            every.append(Part(instance, index in block.copied_lines and instance == ref.instance))
        found.append([next(group) for _, group in groupby(every, key=lambda part: part.instance)])
    return found


def _begun(
    facts: FunctionFacts, parts: Sequence[Sequence[Part]], own: Sequence[int]
) -> dict[int, Sequence[int]]:
    """The indices of the parts of each block that execute the line anew when control arrives there."""
    graph = facts.graph
    dominators, loops = find_dominators(graph), find_nested_loops(graph)
    of_instance: dict[int, list[int]] = {}
    for block in own:
        for instance in {part.instance for part in parts[block]} - {ELSEWHERE}:
            of_instance.setdefault(instance, []).append(block)
    preceding = {instance: Preceding(blocks, dominators, loops) for instance, blocks in of_instance.items()}
    begun: dict[int, Sequence[int]] = {}
    for block in own:
        loop = loops.innermost[block]
        iterates = False
        if loop >= 0:
            header, jumps = loops.loops[loop].header, loops.loops[loop].back_edges
        seen: set[int] = set()
        anew = []
        for index, (instance, copied) in enumerate(parts[block]):
            if instance == ELSEWHERE:
                continue
            if loop >= 0:
                mine = of_instance[instance]
                iterates = (header in mine or not parts[header]) and any(
                    graph.edges[each].src in mine for each in jumps
                )
            preceded = instance in seen or preceding[instance].precede(block)
            if copied or iterates or not preceded:
                anew.append(index)
            seen.add(instance)
        begun[block] = anew
    return begun


def _block(parts: Sequence[Part], anew: Sequence[int]) -> LineBlock:
    if not parts:
        return LineBlock(0, False, None, None)
    return LineBlock(len(anew), 0 in anew, parts[0].instance, parts[-1].instance)
