"""Functions with copies of their hot blocks, in which the path register is known.

Which blocks are copied is decided in :mod:`trodden.native.clone.choose`, what becomes of the graph and its
plan in :mod:`trodden.plan.paths.block_cloning`, of the text in :mod:`trodden.native.clone.clone_text`.  Here
these are put together, with what is expected of the code that comes of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from trodden.graph.cfg import EdgeKind
from trodden.native.analysis.function_cfg import FunctionRead, read_function
from trodden.native.analysis.induction import Induction, find_induction, own_induction
from trodden.native.clone.choose import chosen
from trodden.native.clone.clone_text import with_clones
from trodden.native.ir.attributes import Attributes
from trodden.native.planning.plan_function import Planned
from trodden.native.planning.register_slots import block_frequencies
from trodden.plan.paths.block_cloning import Copied, Copy, copied
from trodden.plan.paths.path_register import track
from trodden.plan.probes import AddTrips

MOST_BLOCKS = 5_000
"""Functions with more blocks are left as they are."""


@dataclass(frozen=True)
class Shaped:
    """A function as it is to be lowered, and the copies that it has got."""

    read: FunctionRead
    planned: Planned
    copies: tuple[Copy, ...] = ()


def with_hot_copies(
    read: FunctionRead, planned: Planned, attributes: Attributes, types: Collection[str]
) -> Shaped:
    """The function with copies of the blocks where that saves most; as it is where it saves nothing."""
    plan, weights = planned.plan, planned.weights
    if plan.paths is None or plan.paths.context or len(read.graph.labels) > MOST_BLOCKS:
        return Shaped(read, planned)
    register = track(read.graph, plan)
    expected = chosen(read, planned, register, attributes)
    if not expected:
        return Shaped(read, planned)
    made = copied(read.graph, plan, list(expected), register)
    ir = with_clones(read.ir, made.origins[read.graph.exit :], _targets(read, made), types)
    if ir is None:
        return Shaped(read, planned)
    shaped = read_function(ir, attributes)
    assert shaped.graph.edges == made.graph.edges, f"{ir.symbol}: copies of blocks lead elsewhere"
    often = _often(read, weights, expected)
    new_weights = _weights(read, made, weights, often)
    inductions = _inductions(shaped, made, planned.inductions)
    if inductions is None:
        return Shaped(read, planned)
    ambiguous = frozenset(v for v, origin in enumerate(made.origins) if origin in planned.ambiguous)
    changed = replace(
        planned,
        plan=made.plan,
        weights=new_weights,
        inductions=inductions,
        ambiguous=ambiguous,
    )
    return Shaped(shaped, changed, tuple(expected))


def _targets(read: FunctionRead, made: Copied) -> list[list[int] | None]:
    """Where each target of each block's terminator leads now."""
    found: list[list[int] | None] = [
        [0] * len(read.ir.blocks[origin].successors) if vertex in made.reached else None
        for vertex, origin in enumerate(made.origins)
    ]
    for index, edge in enumerate(made.edges):
        source, target, _ = made.graph.edges[index]
        ways = found[source]
        if edge is not None and ways is not None:
            for position in read.positions[edge]:
                ways[position] = target
    return found


def _often(
    read: FunctionRead, weights: Sequence[float], expected: Mapping[Copy, float]
) -> list[float]:
    """How often each block of the code is expected to run."""
    often = block_frequencies(read, weights)[: read.graph.exit]
    for (block, _), walked in expected.items():
        share = min(walked, often[block])
        often[block] -= share
        often.append(share)
    return often


def _weights(
    read: FunctionRead, made: Copied, weights: Sequence[float], often: Sequence[float]
) -> list[float]:
    """What is expected of the edges of the code: each block goes on as it did before it had copies."""
    going = [
        sum(weights[edge] for edge in leaving if read.graph.edges[edge].kind is EdgeKind.FLOW)
        for leaving in read.graph.out_edges
    ]
    found = [0.0] * len(made.graph.edges)
    for index, edge in enumerate(made.edges):
        if edge is not None and going[read.graph.edges[edge].src] > 0:
            source = made.graph.edges[index].src
            found[index] = often[source] * weights[edge] / going[read.graph.edges[edge].src]
    found[made.graph.closing] = weights[read.graph.closing]
    return found


def _inductions(
    shaped: FunctionRead, made: Copied, known: Mapping[int, Induction]
) -> dict[int, Induction] | None:
    """What tells the trips of loops in the code, by back edge; None if one of them is told no longer."""
    found: dict[int, Induction] = {}
    for probe in chain(*made.plan.on_edges.values()):
        if isinstance(probe, AddTrips):
            block, _, _ = made.graph.edges[probe.back_edge]
            before = known[made.edges[probe.back_edge] or 0]
            after = own_induction(block) if before.own else find_induction(shaped.ir, block, block, [block])
            if after is None:
                return None
            found[probe.back_edge] = after
    return found
