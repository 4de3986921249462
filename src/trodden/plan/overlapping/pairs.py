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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trodden.graph.cfg import Graph
from trodden.plan.overlap_probes import (
    ChainPath,
    ChainPathAt,
    ForgetPaths,
    StartOverlap,
    StartOverlapAt,
    Tuples,
)
from trodden.plan.overlapping.fictitious import overlap_offsets
from trodden.plan.overlapping.numbering import OverlapNumbering
from trodden.plan.overlapping.tuples import DENSE, most_paths
from trodden.plan.paths.placement import signed
from trodden.plan.probes import WORD, Bump, BumpAt, Plan, Probe


def with_chains(graph: Graph, plan: Plan, length: int = 2, dense: int = DENSE) -> Plan:
    """Add to a plan for paths what counts tuples of up to ``length`` of them.

    The path is known where it is bumped, which may be before it ends; no other one starts in between.  A path
    that is extended is known where its overlap begins: it is counted by the lowest number that it has with
    any overlap.  Each tuple has a counter if there are no more than ``dense``, and nothing is extended.
    """
    if plan.paths is None:
        raise ValueError(f"{graph.name}: only paths are counted in tuples")
    if not length >= 2 or plan.numbers > most_paths(length):
        raise ValueError(f"{graph.name}: there are no tuples of {length} paths")
    paths = plan.paths
    joins = set(paths.back_edges) - {*paths.cuts, *paths.resume_edges}
    if not joins:
        return plan
    forgetting = {*paths.back_edges, *paths.cuts, *paths.resume_edges} - joins
    ahead: Mapping[int, int] = {}
    if plan.overlaps is not None and plan.extends:
        ahead = overlap_offsets(plan, OverlapNumbering(graph, paths, plan.overlaps))
    on_edges: dict[int, tuple[Probe, ...]] = {}
    for edge in sorted({*plan.on_edges, *forgetting}):
        probes = _chained(plan.on_edges.get(edge, ()), length, ahead.get(graph.edges[edge].dst, 0))
        on_edges[edge] = (*probes, ForgetPaths()) if edge in forgetting else tuple(probes)
    on_entry = (ForgetPaths(), *_chained(plan.on_entry, length, 0))
    few = not plan.extends and (plan.numbers + 1) ** length <= dense
    return replace(plan, on_edges=on_edges, on_entry=on_entry, tuples=Tuples(length, few))


def _chained(probes: Iterable[Probe], length: int, ahead: int) -> Sequence[Probe]:
    """The probes with those of tuples; ``ahead`` is what the register of an overlap has more than the sum."""
    found: list[Probe] = []
    for probe in probes:
        found.append(probe)
        match probe:
            case Bump(add):
                found.append(ChainPath(add, length))
            case BumpAt(path):
                found.append(ChainPathAt(path, length))
            case StartOverlap(add):
                found.append(ChainPath(signed(add - ahead), length))
            case StartOverlapAt(number):
                found.append(ChainPathAt((number - ahead) % WORD, length))
    return found
