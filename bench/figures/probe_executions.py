"""How often the probes of a plan are executed, given the exact counts of a run."""

from __future__ import annotations

from collections.abc import Iterator

from trodden.plan.probes import Plan, Probe
from trodden.profile.model import FunctionProfile


def probe_executions(plan: Plan, counts: FunctionProfile) -> Iterator[tuple[Probe, int]]:
    """Every probe of a plan and how often it is executed; the counts may be those of another plan."""
    for probe in plan.on_entry:
        yield probe, int(counts.entries)
    for edge, probes in plan.on_edges.items():
        for probe in probes:
            yield probe, counts.counted_edges[edge] or 0
    for block, probes in plan.on_blocks.items():
        for probe in probes:
            yield probe, counts.counted_blocks[block]
