"""How the path register of a function is kept: in phis, and in a stack slot while calls are active.

Its value is known block by block (:mod:`trodden.plan.paths.path_register`); a phi is emitted only if
something reads a value that follows from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.lower.emit.crossings import reads_register
from trodden.native.lower.emit.overlaps import LoopOverlaps
from trodden.native.lower.emit.register_slot import RegisterSlot, choose_slot
from trodden.native.lower.emit.tuples import PathTuples
from trodden.native.lower.probe_locations import Ending, ProbeLocations, ended_path, layers, merged_probes
from trodden.native.planning.plan_function import Planned
from trodden.native.planning.register_slots import reloaded_blocks
from trodden.plan.paths.path_register import Base, Register, Value, track


@dataclass(frozen=True)
class PathRegister:
    """Its values, the stack slot, and the phis: the block, and the value that each edge brings."""

    values: Register
    slot: RegisterSlot
    phis: Mapping[Base, tuple[int, Mapping[int, Value]]]


def track_register(read: FunctionCfg, planned: Planned) -> Register | None:
    """The value of the path register in every block; None if the plan has neither paths nor a trace."""
    if planned.plan.paths is None and planned.plan.trace is None:
        return None
    values = track(read.graph, planned.plan)
    kept = reloaded_blocks(read, values, planned.ambiguous, planned.weights)
    return track(read.graph, planned.plan, kept) if kept else values


def choose_phis(
    read: FunctionCfg,
    planned: Planned,
    locations: ProbeLocations,
    values: Register | None,
    overlaps: LoopOverlaps | None = None,
    tuples: PathTuples | None = None,
) -> PathRegister | None:
    """Decide which phis are needed, and where the register is stored into its stack slot."""
    if values is None:
        return None
    second = tuples or overlaps
    unfinished = None if second is None else second.unfinished
    slot = choose_slot(read, values, planned.ambiguous, planned.weights, unfinished)
    reads = [*_ended_paths(read, locations, values), *slot.reads]
    reads += [] if overlaps is None else overlaps.needed.others
    reads += [] if tuples is None else tuples.needed.others
    return PathRegister(values, slot, values.needed(reads))


def _ended_paths(read: FunctionCfg, locations: ProbeLocations, values: Register) -> Iterator[Value]:
    """The numbers of the paths or regions that end, in the order of their probes."""
    for group in locations.placements:
        for placement in group:
            value = None if placement.source is None else values.at_end(placement.source)
            for probe, _ in placement.probes:
                if isinstance(probe, Ending):
                    yield ended_path(probe, value)
                elif (told := reads_register(probe, value)) is not None:
                    yield told
                value = values.after(value, (probe,))
    for edges in locations.merged.values():
        ending = merged_probes(read, values, edges).ending
        for layer in layers(ending):
            ended = (paths[layer] for paths in ending.values() if layer < len(paths))
            yield from (each for each in ended if isinstance(each, Value))
