"""What caller and callee tell each other, so that paths extend over calls and returns (TZG04 §3.3, Figure 4).

The paper passes two parameters, ``r`` and ``func``.  Here they are exchanged where a thread keeps them,
because a call may lead through code without probes.

Before a call the caller publishes call site, prefix and whom the call is meant for.  A callee takes that on
entry, and removes it, only if it was meant for it: code without probes may call back, and whoever is called
then continues nothing.  When the last path of a callee ends, the callee publishes itself and the path.
Behind the call the caller takes this only if the callee is whom it called.  Whoever was called publishes a
path before returning, so that what earlier callees have left need not be removed.  Nothing is taken on
landing pads and behind calls that return twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trodden.graph.cfg import Graph
from trodden.plan.overlap_probes import CallSite, PublishCall, PublishCallAt, PublishReturn, PublishReturnAt
from trodden.plan.overlapping.numbering import OverlapNumbering
from trodden.plan.overlapping.region import Ways
from trodden.plan.paths.dag import ArcKind, Dag
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.placement import signed
from trodden.plan.paths.prefixes import RegisterOffset, SinglePrefix, register_offsets
from trodden.plan.probes import Bump, BumpAt, Plan, Probe


def plain_dag(numbering: Numbering) -> Dag:
    """The acyclic graph of the paths alone."""
    return numbering.plain if isinstance(numbering, OverlapNumbering) else numbering.dag


def returning_sites(plan: Plan, ways: Ways, sites: Sequence[CallSite]) -> list[CallSite]:
    """The call sites that are reached, with the edges that control takes only when the call returns."""
    assert plan.paths is not None
    reached, resumed = set(ways.dag.order), plan.paths.resume_edges
    return [
        site._replace(ways=tuple(e for e in site.ways if e in ways.out(site.block) and e not in resumed))
        for site in sites
        if site.block in reached
    ]


def prefix_sums(numbering: Numbering, blocks: Sequence[int], most: int) -> dict[int, tuple[int, ...] | None]:
    """The numbers of the prefixes that lead to each of some blocks; ``None`` for more than ``most``."""
    dag = numbering.dag
    wanted = set(blocks)
    sums: dict[int, set[int] | None] = {dag.entry: {0}}
    found: dict[int, tuple[int, ...] | None] = {}
    for node in dag.order[1:]:
        here: set[int] | None = set()
        for number in dag.ins[node]:
            before = sums.get(dag.arcs[number].src)
            if here is None or before is None:
                here = None
                break
            here.update(each + numbering.value[number] for each in before)
            here = here if len(here) <= most else None
        sums[node] = here
        if node in wanted:
            found[node] = None if here is None else tuple(sorted(here))
    return {block: found.get(block, ()) for block in blocks}


def publishing_calls(
    plan: Plan, numbering: Numbering, dag: Dag, sites: Sequence[CallSite]
) -> dict[int, tuple[Probe, ...]]:
    """The probes in the blocks of a plan that publishes its calls."""
    on_blocks = {block: tuple(probes) for block, probes in plan.on_blocks.items()}
    offsets = register_offsets(dag.graph, plan, numbering)
    reached = set(dag.order)
    for site in sites:
        if site.block in reached:
            publish = _publish_call(dag.graph, site, offsets[site.block])
            on_blocks[site.block] = (*on_blocks.get(site.block, ()), publish)
    return on_blocks


def _publish_call(graph: Graph, site: CallSite, offset: SinglePrefix | RegisterOffset | None) -> Probe:
    match offset:
        case SinglePrefix(number):
            return PublishCallAt(site.site, number)
        case RegisterOffset(amount):
            return PublishCall(site.site, signed(-amount))
        case None:
            raise ValueError(f"{graph.name}: a path is counted before its call in block {site.block}")


def publishing_returns(plan: Plan, dag: Dag) -> Plan:
    """A plan that publishes each path that it counts where a path may end in EXIT.

    A path that ends otherwise is published in vain: the next one replaces it before the procedure returns.
    """
    leaving = {dag.graph.exit}
    for node in reversed(dag.order):
        arcs = (dag.arcs[number] for number in dag.outs[node])
        if any(arc.kind is ArcKind.REAL and arc.dst in leaving for arc in arcs):
            leaving.add(node)
    on_edges = {
        edge: _with_publications(probes)
        if edge not in dag.removed and dag.graph.edges[edge].dst in leaving
        else tuple(probes)
        for edge, probes in plan.on_edges.items()
    }
    return replace(plan, on_edges=on_edges, on_entry=_with_publications(plan.on_entry))


def _with_publications(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    found: list[Probe] = []
    for probe in probes:
        found.append(probe)
        match probe:
            case Bump(add):
                found.append(PublishReturn(add))
            case BumpAt(path):
                found.append(PublishReturnAt(path))
    return tuple(found)
