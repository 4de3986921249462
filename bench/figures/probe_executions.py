"""How often the probes of a plan were carried out, or would have been, in a run that was counted."""

from __future__ import annotations

from collections.abc import Iterator

from trodden.plan.probes import Plan, Probe
from trodden.profile.model import FunctionProfile


def executed(plan: Plan, counted: FunctionProfile) -> Iterator[tuple[Probe, int]]:
    """Every probe of a plan and how often control came by; the plan need not be what counted."""
    for probe in plan.on_entry:
        yield probe, int(counted.entries)
    for edge, probes in plan.on_edges.items():
        for probe in probes:
            yield probe, counted.counted_edges[edge] or 0
    for block, probes in plan.on_blocks.items():
        for probe in probes:
            yield probe, counted.counted_blocks[block]
