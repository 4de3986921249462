"""The counts of a function, put into the counters that another build of it has.

The graph is the same in both, but the counters may stand elsewhere (other weights), or be of another kind
(paths in one, edges in the other).  Edge counts tell what any counter of an edge or a block would have
held. A table of paths can be filled only from another one with the same numbering; where the register held
something else in the middle of a path, what was cut short is told by the sum of values up to its block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trodden.merging.portions import Portion
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.paths.prefixes import Known, Offset, register_offsets
from trodden.plan.probes import WORD, BlockMeasure, Paths, Plan
from trodden.profile.model import FunctionProfile
from trodden.program.clone_map import kept_for, register_held
from trodden.program.facts import FunctionFacts

NO_EDGES = "its edges were not counted there"
CONTRADICTORY = "its counts contradict each other there"
_UNTOLD = "nothing tells there which of its paths were cut short"


class NotCarried(Exception):
    """The counts do not fit; its text says why."""


def obstacle(source: FunctionFacts, target: FunctionFacts) -> str | None:
    """Why no counts of ``source`` can ever be carried into ``target``, two functions with one graph."""
    theirs, ours = source.plan.paths, target.plan.paths
    if ours is None:
        return None
    if theirs is None:
        return "its paths were not counted there"
    if not _same_numbering(theirs, ours):
        return "its paths end at other places there"
    return "its paths were not timed there" if ours.timed and not theirs.timed else None


def _same_numbering(one: Paths, other: Paths) -> bool:
    names = ("number", "back_edges", "cuts", "handlers", "context")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def carry(
    source: FunctionFacts, portion: Portion, counted: FunctionProfile, target: FunctionFacts
) -> Portion:
    """What the counters of ``target`` would have held in the runs that ``portion`` is about.

    ``counted`` is what follows from the portion.  :class:`NotCarried` if that is too little.
    """
    if _alike(source, target):
        return portion
    values = counter_values(target, counted.counted_blocks, counted.counted_edges, counted.cut_short)
    found = Portion()
    found.counters.update(values)
    if target.plan.paths is None:
        found.active.update(counted.cut_short)
    else:
        _fill_table(source.plan, portion, target.plan, found)
        _carry_prefixes(source, portion, target, found)
        found.active.update(portion.active)
    return found


def counter_values(
    facts: FunctionFacts, blocks: Sequence[int], edges: Sequence[int | None], early: Mapping[int, int]
) -> dict[int, int]:
    """What the counters of a plan, other than those of paths, hold if blocks and edges have these counts."""
    values: dict[int, int] = {}
    for slot, measure in enumerate(facts.plan.measures):
        if isinstance(measure, BlockMeasure):
            ended = sum(early.values()) if measure.block == facts.graph.exit else 0
            value: int | None = blocks[measure.block] - ended
        else:
            value = edges[measure.edge]
        if value is None:
            raise NotCarried(NO_EDGES)
        if value < 0:
            raise NotCarried(CONTRADICTORY)
        if value:
            values[slot] = value
    return values


def _fill_table(theirs: Plan, portion: Portion, ours: Plan, found: Portion) -> None:
    """Path by path: from counters behind the measures or kept by number, to either of these."""
    assert ours.paths is not None
    number = ours.paths.number
    ended, ticks = portion.ended.copy(), portion.ticks.copy()
    for slot, value in portion.counters.items():
        if slot >= len(theirs.measures):
            time, path = divmod(slot - len(theirs.measures), number)
            (ticks if time else ended)[path] += value
    if not ours.paths.timed:
        ticks.clear()
    if ours.paths.dense:
        first = len(ours.measures)
        if any(path >= number for path in (*ended, *ticks)):
            raise NotCarried(CONTRADICTORY)
        found.counters.update({first + path: times for path, times in ended.items() if times})
        found.counters.update({first + number + path: time for path, time in ticks.items() if time})
    else:
        found.ended.update(ended)
        found.ticks.update(ticks)


def _alike(source: FunctionFacts, target: FunctionFacts) -> bool:
    """Whether both keep the same things in the same way."""
    if source.registers != target.registers or source.copies != target.copies:
        return False
    return source.plan == target.plan


def _carry_prefixes(source: FunctionFacts, portion: Portion, target: FunctionFacts, found: Portion) -> None:
    """Each path that was cut short: from what their register held, by its sum, to what ours would hold."""
    if not any(portion.prefixes.values()):
        return
    assert target.plan.paths is not None
    try:
        numbering = Numbering(target.graph, target.plan.paths, LARGEST)
    except ValueError as error:
        raise NotCarried(CONTRADICTORY) from error
    theirs = register_offsets(source.graph, source.plan, numbering)
    ours = register_offsets(target.graph, target.plan, numbering)
    for (block, cell), times in portion.prefixes.items():
        if times:
            register = register_held(source, block, cell)
            found.prefixes[block, _cell(target, block, ours[block], _sum(theirs[block], register))] += times


def _sum(offset: Known | Offset | None, register: int | None) -> int:
    """The sum of values up to a block, which names the path as far as it came."""
    if isinstance(offset, Known):
        return offset.sum
    if isinstance(offset, Offset) and register is not None:
        return (register - offset.amount) % WORD
    raise NotCarried(_UNTOLD)


def _cell(facts: FunctionFacts, block: int, offset: Known | Offset | None, value: int) -> int | None:
    """What the frame's cell holds in a block when the sum is ``value``; nothing where it needs none."""
    if isinstance(offset, Known) and offset.sum == value:
        return None
    kept = kept_for(facts, block)
    if isinstance(offset, Offset) and kept is not None:
        register = (value + offset.amount) % WORD
        stored, number = kept
        if stored:
            return (register - number) % WORD
        if number % WORD == register:
            return None
    raise NotCarried(_UNTOLD)
