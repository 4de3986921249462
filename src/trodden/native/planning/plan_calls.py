"""From the calls of a function to its call sites, and to a plan that counts paths over calls and returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.ir.syntax.names import unquote
from trodden.native.options.declarations import Options
from trodden.plan.overlap_probes import CallSite
from trodden.plan.overlapping.call_pairs import with_call_pairs
from trodden.plan.overlapping.calls import with_entries, with_returns
from trodden.plan.overlapping.loops import largest_degree
from trodden.plan.overlapping.numbering import numbering_of_plan
from trodden.plan.overlapping.protocol import plain_dag
from trodden.plan.overlapping.region import Owner, Ways
from trodden.plan.paths.numbering import Numbering
from trodden.plan.probes import Plan
from trodden.weigh.features.library_functions import is_library_function

AUTO_SHARE = 3
"""Where the degree is chosen, overlaps go so many times less far than they could."""


@dataclass(frozen=True)
class Callees:
    """What is known of the functions that a module calls.

    ``instrumented`` are those that it defines and that get probes; it also defines the others of ``defined``.
    """

    instrumented: frozenset[str]
    defined: frozenset[str]
    aliases: Mapping[str, str]

    def may_have_probes(self, symbol: str) -> bool:
        """Whether a function that is called by name may be one with probes."""
        name = self.aliases.get(symbol, symbol)
        if name in self.defined:
            return name in self.instrumented
        return not is_library_function(name.removeprefix("\1"))


def call_sites(read: FunctionCfg, callees: Callees, first: int) -> list[CallSite]:
    """The call sites of a function, whose numbers start at ``first``.

    A call is one if it may lead to a function with probes and comes back to this one: no call in tail
    position, none that returns twice, and none in front of a dead end.
    """
    found: list[CallSite] = []
    for block, call in read.recording_calls.items():
        if read.leaves(block) or block in read.returns_twice:
            continue
        callee = read.ir.blocks[block].terminator.callee if call is None else call.callee
        if callee is not None and not callees.may_have_probes(unquote(callee)):
            continue
        edges = read.graph.out_edges[block]
        ways = tuple(edge for edge in edges if call is not None or read.positions[edge] == (0,))
        found.append(CallSite(first + len(found), block, ways))
    return found


def with_calls(
    plan: Plan,
    read: FunctionCfg,
    weights: Sequence[float],
    options: Options,
    sites: Sequence[CallSite],
) -> Plan:
    """The plan of a function that also counts paths over its calls and its own."""
    assert plan.paths is not None
    if not _can_be_told(read):
        return plan
    numbering = numbering_of_plan(read.graph, plan)
    if options.pairs and plan.overlaps is None:
        return with_call_pairs(plan, numbering, sites)
    degree = degree_of_calls(numbering, options.overlap)
    plan, _ = with_entries(plan, numbering, weights, sites, degree)
    return with_returns(plan, numbering, weights, sites, degree)[0]


def _can_be_told(read: FunctionCfg) -> bool:
    """Whether there is room for code on every edge: behind a computed goto there may be none."""
    return all(read.needs_no_block(edge) or read.splittable(edge) for edge in range(len(read.positions)))


def degree_of_calls(numbering: Numbering, asked: int | str) -> int | None:
    """The degree of overlaps over calls; ``None`` for the largest, where no predicate has to be counted."""
    dag = plain_dag(numbering)
    largest = largest_degree(Ways(dag), Owner(dag.graph.root, 1, None, lambda _: True))
    if asked == "max":
        return None
    degree = -(-largest // AUTO_SHARE) if asked == "auto" else int(asked)
    return None if degree >= largest else degree
