"""Adding a frame that was interrupted to what its unit has counted."""

from __future__ import annotations

from trodden.collect.frames.frame_state import FrameState
from trodden.recover.unit_counts_builder import UnitCountsBuilder


def add_frame_state(builder: UnitCountsBuilder, state: FrameState, frames: int = 1) -> None:
    """Add the pending probes of frames in a state, and their early end in its block.

    ``frames`` is negative for those that a forked child has inherited.
    """
    facts = builder.facts.functions[state.function]
    for slot, amount in state.pending:
        builder.add_to_counter(slot, amount * frames)
    for path in state.ended_paths:
        builder.add_path(state.function, path, frames, 0)
    if state.counted_ahead:
        builder.add_unlocated(state.function, abs(frames))
    if state.block != facts.graph.exit:
        position = None if state.lines_reached is None else -1 - state.lines_reached
        builder.add_cut_short(state.function, state.block, state.register, frames, position)
