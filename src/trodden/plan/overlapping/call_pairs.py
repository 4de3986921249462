"""Pairs of paths over calls and returns: the exact rival of overlaps of both types.

Caller and callee tell each other the same (:mod:`trodden.plan.overlapping.protocol`), but what they take is
kept until the present path ends, and is counted with that path.  So there is no second register and no
predicate counter.  Where a call of type II is followed by another one in the same path, only one of them
could wait for the end: the first is counted before the second, with the prefix that has been executed so far.
Prefixes have numbers behind those of paths, call site by call site.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trodden.plan.overlap_probes import (
    CallOverlaps,
    CallSite,
    Channel,
    ClearOverlap,
    PairOverlap,
    PairOverlapAt,
    PublishCall,
    PublishCallAt,
    TakeCall,
    TakeReturn,
)
from trodden.plan.overlapping.protocol import (
    publishing_calls,
    publishing_returns,
    returning_sites,
)
from trodden.plan.overlapping.region import Ways
from trodden.plan.paths.numbering import Numbering
from trodden.plan.probes import Bump, BumpAt, Plan, Probe
from trodden.plan.routes import Route


def with_call_pairs(plan: Plan, numbering: Numbering, sites: Sequence[CallSite]) -> Plan:
    """Add to a plan for paths what counts pairs of both types; ``numbering`` is that of the plan."""
    if plan.paths is None or plan.overlaps is not None:
        raise ValueError(f"{numbering.graph.name}: only whole paths are counted in pairs")
    dag = numbering.dag
    firsts = {site.block: numbering.number * (index + 1) for index, site in enumerate(sites)}
    on_blocks = {
        block: tuple(_counted_before(probes, firsts[block]) if block in firsts else probes)
        for block, probes in publishing_calls(plan, numbering, dag, sites).items()
    }
    on_edges = {edge: _paired(probes) for edge, probes in publishing_returns(plan, dag).on_edges.items()}
    for edge in set(plan.paths.resume_edges) & dag.removed:
        nothing = [ClearOverlap(channel) for channel in (Channel.ENTERED, Channel.RETURNED)]
        on_edges[edge] = (*on_edges.get(edge, ()), *nothing)
    for site in returning_sites(plan, Ways(dag), sites):
        for edge in site.ways:
            on_edges[edge] = (TakeReturn(site.site, None), *on_edges.get(edge, ()))
    on_entry: tuple[Probe, ...] = (TakeCall(None), ClearOverlap(Channel.RETURNED))
    on_entry += _paired(publishing_returns(plan, dag).on_entry)
    calls = CallOverlaps(sites=tuple(sites), paired=True)
    edges = dict(sorted(on_edges.items()))
    return replace(plan, on_edges=edges, on_blocks=on_blocks, on_entry=on_entry, calls=calls)


def prefix_parts(numbering: Numbering, sites: Sequence[CallSite]) -> int:
    """How many numbers there are for paths, and for prefixes that lead to calls."""
    return numbering.number * (len(sites) + 1)


def path_or_prefix(numbering: Numbering, sites: Sequence[CallSite], number: int) -> Route:
    """The path with a number, or the prefix that leads to a call."""
    index, rest = divmod(number, numbering.number)
    if index > len(sites):
        raise ValueError(f"{numbering.graph.name}: there is no path or prefix {number}")
    return numbering.prefix(sites[index - 1].block, rest) if index else numbering.regenerate(rest)


def _counted_before(probes: Sequence[Probe], first: int) -> Sequence[Probe]:
    """The probes of a block; what waits for the end of the path is counted before the next call.

    Prefixes have the numbers from ``first`` on.
    """
    found: list[Probe] = []
    for probe in probes:
        match probe:
            case PublishCall(_, add):
                found.append(PairOverlap(Channel.RETURNED, first + add))
            case PublishCallAt(_, prefix):
                found.append(PairOverlapAt(Channel.RETURNED, first + prefix))
        found.append(probe)
    return found


def _paired(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    found: list[Probe] = []
    for probe in probes:
        found.append(probe)
        match probe:
            case Bump(add):
                found += [PairOverlap(channel, add) for channel in (Channel.ENTERED, Channel.RETURNED)]
            case BumpAt(path):
                found += [PairOverlapAt(channel, path) for channel in (Channel.ENTERED, Channel.RETURNED)]
    return tuple(found)
