"""Dead probe elimination.

Where the number of a path is a constant at its bump, the register need not be set before it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trodden.plan.overlap_probes import StartOverlap
from trodden.plan.paths.dag import Dag
from trodden.plan.paths.placement import PlacedProbes, signed
from trodden.plan.probes import Add, Bump, Probe, Restore, Save, Set


def drop_unused(dag: Dag, placed: PlacedProbes, needed: Collection[int]) -> PlacedProbes:
    """Drop the probes whose result is not used.

    The register is live before bumps and starts of overlaps that read it and in the ``needed`` blocks.  Paths
    end on removed edges, so one pass over the blocks in reverse topological order computes liveness.
    """
    kept: dict[int, list[Probe]] = {}
    wanted_before: dict[int, bool] = {edge: _reads(placed.on_edges[edge]) for edge in dag.removed}
    on_entry: list[Probe] = []
    for vertex in reversed(dag.order):
        if vertex > dag.graph.exit:
            continue
        leaving = dag.graph.out_edges[vertex]
        wanted = vertex in needed or any(wanted_before.get(edge, False) for edge in leaving)
        wanted |= _reads(placed.on_blocks.get(vertex, ()))
        restored: set[int] = set()
        arriving = [edge for edge in dag.graph.in_edges[vertex] if edge in placed.on_edges]
        for edge in sorted(arriving, key=lambda edge: not dag.returns_in_context(edge)):
            probes, used = _useful(placed.on_edges[edge], wanted, restored)
            if probes:
                kept[edge] = probes
            if edge not in dag.removed:
                wanted_before[edge] = used
        if vertex == dag.graph.root:
            on_entry, _ = _useful(placed.on_entry, wanted, restored)
    return PlacedProbes(kept, on_entry, placed.on_blocks)


def _reads(probes: Sequence[Probe]) -> bool:
    return any(isinstance(probe, Bump | StartOverlap) for probe in probes)


def _useful(probes: Sequence[Probe], wanted: bool, restored: set[int]) -> tuple[list[Probe], bool]:
    """The probes that are needed if the register is ``wanted`` after them, and whether it is before them.

    ``restored`` are the saved values that are restored; it grows.
    """
    kept: list[Probe] = []
    for probe in reversed(probes):
        match probe:
            case Bump() | StartOverlap():
                wanted = True
            case Set(value):
                if not wanted:
                    continue
                wanted = False
                if kept and isinstance(after := kept[-1], Add):
                    kept.pop()
                    probe = Set(signed(value + after.value))
            case Restore(loop, _):
                if not wanted:
                    continue
                wanted = False
                restored.add(loop)
            case Add():
                if not wanted:
                    continue
            case Save(loop):
                if loop not in restored:
                    continue
                wanted = True
        kept.append(probe)
    return kept[::-1], wanted
