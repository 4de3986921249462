"""Adding a frame that was interrupted to what its unit has counted."""

from __future__ import annotations

from trodden.collect.frames.frame_state import FrameState
from trodden.recover.unit_counts_builder import UnitCountsBuilder


def add_position(builder: UnitCountsBuilder, position: FrameState, frames: int = 1) -> None:
    """Add the probes that are pending in frames at a position, and their early end in its block.

    ``frames`` is negative for those that a forked child has inherited.
    """
    facts = builder.facts.functions[position.function]
    for slot, amount in position.pending:
        builder.add_to_counter(slot, amount * frames)
    for path in position.ended_paths:
        builder.add_path(position.function, path, frames, 0)
    if position.block != facts.graph.exit:
        builder.add_cut_short(position.function, position.block, position.register, frames)
