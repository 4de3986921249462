"""Pairs of whole paths: the exact rival of overlapping paths.

Where a path ends its number is known, and so is that of the path before it.  So instead of extending paths by
a part of the next one, pairs of numbers can be counted as they occur: two iterations of a loop (tuples of
``length`` paths for more), or a path of a caller with one of its callee.  It takes no second numbering, no
predicate counter and no bounds.  The price is a table with a key for every pair, which is hashed, where
overlapping paths of a low degree have counters that are addressed by number.

Tuples are of paths of one activation, each of which but the last ended on a back edge.  A path with fewer
before it is counted with those that there are; so the tuples that end with a pair add up to the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from trodden.graph.cfg import Graph
from trodden.plan.overlap_probes import ChainPath, ChainPathAt, ForgetPaths
from trodden.plan.probes import Bump, BumpAt, Plan, Probe


def with_chains(graph: Graph, plan: Plan, length: int = 2) -> Plan:
    """Add to a plan for paths what counts tuples of up to ``length`` of them.

    The path is known where it is bumped, which may be before it ends; no other one starts in between.
    """
    if plan.paths is None or plan.overlaps is not None:
        raise ValueError(f"{graph.name}: only whole paths are counted in tuples")
    if length < 2:
        raise ValueError(f"{graph.name}: there are no tuples of {length} paths")
    paths = plan.paths
    joins = set(paths.back_edges) - {*paths.cuts, *paths.resume_edges}
    forgetting = {*paths.back_edges, *paths.cuts, *paths.resume_edges} - joins
    on_edges: dict[int, tuple[Probe, ...]] = {}
    for edge in sorted({*plan.on_edges, *forgetting}):
        probes = _chained(plan.on_edges.get(edge, ()), length)
        on_edges[edge] = (*probes, ForgetPaths()) if edge in forgetting else tuple(probes)
    on_entry = (ForgetPaths(), *_chained(plan.on_entry, length))
    return replace(plan, on_edges=on_edges, on_entry=on_entry, tuples=length)


def _chained(probes: Iterable[Probe], length: int) -> Sequence[Probe]:
    found: list[Probe] = []
    for probe in probes:
        found.append(probe)
        match probe:
            case Bump(add):
                found.append(ChainPath(add, length))
            case BumpAt(path):
                found.append(ChainPathAt(path, length))
    return found
