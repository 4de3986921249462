"""Entering a frame that was interrupted into what a unit has counted."""

from __future__ import annotations

from trodden.collect.frames.frame_locator import Position
from trodden.collect.unit_tally import UnitTally


def add_position(tally: UnitTally, position: Position, frames: int = 1) -> None:
    """Add what frames owe that stand at a position, and their way out of its block.

    ``frames`` is negative for those that a forked child began with.
    """
    facts = tally.facts.functions[position.function]
    for slot, amount in position.owed:
        tally.owed(slot, amount * frames)
    for path in position.ended:
        tally.ended(position.function, path, frames, 0)
    if position.block != facts.graph.exit:
        tally.stopped(position.function, position.block, position.register, frames)
