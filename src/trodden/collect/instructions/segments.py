"""The machine code of a function in segments: straight-line code of one program location."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from trodden.collect.binary.x86_outline import Outline


@dataclass(slots=True)
class Segment:
    """Straight-line code; ``size`` is how many of its instructions are the program's own.

    ``location`` is the number of its program location, None where debug information states none.
    ``successors`` are the segments that control may go to, by their index; ``leaves``: it may also go
    elsewhere, out of the function or by an indirect jump.
    """

    location: int | None
    size: int = 0
    successors: list[int] = field(default_factory=list)
    predecessors: list[int] = field(default_factory=list)
    leaves: bool = False


def segments_of(
    instructions: Sequence[Outline], locations: Sequence[int | None], added: Sequence[bool]
) -> list[Segment]:
    """The segments in the order of addresses, without padding that control never reaches.

    Padding that control does reach aligns the code after it: the segment before it leads through it.
    """
    places = [
        None if each.padding else location for each, location in zip(instructions, locations, strict=True)
    ]
    starts = _starts(instructions, places)
    segments: list[Segment] = []
    number_at: dict[int, int] = {}
    firsts = [*starts, len(instructions)]
    for first, following in pairwise(firsts):
        number_at[instructions[first].address] = len(segments)
        own = sum(not each for each in added[first:following])
        segments.append(Segment(places[first], own))
    for number, following in enumerate(firsts[1:]):
        last = instructions[following - 1]
        segment = segments[number]
        if last.falls_through and number + 1 < len(segments):
            segment.successors.append(number + 1)
        if last.target >= 0:
            target = number_at.get(last.target)
            segment.leaves = target is None
            if target is not None:
                segment.successors.append(target)
        elif not last.falls_through:
            segment.leaves = True
    for number, segment in enumerate(segments):
        reached = number == 0 or segment.predecessors or not instructions[starts[number]].padding
        if not reached:
            segment.successors, segment.size, segment.leaves = [], 0, False
        for successor in segment.successors:
            segments[successor].predecessors.append(number)
    return segments


def _starts(instructions: Sequence[Outline], places: Sequence[int | None]) -> list[int]:
    """The indices of the first instructions of segments."""
    targets = {each.target for each in instructions}
    starts = [0] if instructions else []
    for number in range(1, len(instructions)):
        before, each = instructions[number - 1], instructions[number]
        if (
            before.target >= 0
            or not before.falls_through
            or each.address in targets
            or places[number] != places[number - 1]
            or each.padding != before.padding
        ):
            starts.append(number)
    return starts
