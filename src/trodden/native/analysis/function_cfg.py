"""The control-flow graph of a function in LLVM IR.

Weighing and planning see the graph alone; what they have to know of the code below (which edges cannot be
split, which loops have a trip count that the program computes anyway) is answered here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from trodden.graph.cfg import Graph, build
from trodden.graph.loops import LoopForest, find_loops
from trodden.native.analysis.call_effects import Call, calls_of, invokes_returning_twice
from trodden.native.analysis.induction import Induction, find_induction, own_induction
from trodden.native.analysis.tail_calls import TailCalls
from trodden.native.ir.attributes import Attributes
from trodden.native.ir.function import IRFunction
from trodden.program.facts import BlockFacts

TIGHT = 12
"""How many instructions a loop may have that would wait for a counter in memory."""

_SPLITTABLE = frozenset({"br", "switch"})
_MERGED = frozenset({"indirectbr", "callbr"})


@dataclass
class FunctionCfg:
    """A function together with its graph.

    ``positions[e]`` are the positions among the successors of the source block that edge ``e`` represents:
    one, except that a computed goto may name the same successor twice.  Edges to EXIT have none.
    ``returns_twice`` are the blocks that end in a call which may return twice.  ``divided``: every recording
    call ends its block, because its execution is recorded or paths are counted over calls.
    """

    ir: IRFunction
    graph: Graph
    positions: list[tuple[int, ...]]
    calls: list[list[Call]]
    nounwind: bool
    tail_calls: TailCalls
    returns_twice: frozenset[int] = frozenset()
    divided: bool = False
    loops: LoopForest = field(init=False)
    predecessor_counts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.loops = find_loops(self.graph)
        self.predecessor_counts = [0] * len(self.graph.labels)
        for edge, positions in zip(self.graph.edges, self.positions, strict=False):
            self.predecessor_counts[edge.dst] += len(positions)

    def in_edges(self, block: int) -> list[int]:
        """The edges into a block, the virtual ones left out."""
        return [edge for edge in self.graph.in_edges[block] if edge < len(self.positions)]

    def single_predecessor(self, edge: int) -> bool:
        """Whether the target of the edge has no other predecessor, so that code of the edge may be there."""
        target = self.graph.edges[edge].dst
        return self.predecessor_counts[target] == 1 and target != self.graph.root

    def single_successor(self, edge: int) -> bool:
        """Whether the source of the edge has no other successor, so that code of the edge may be there."""
        block = self.ir.blocks[self.graph.edges[edge].src]
        return block.opcode == "br" and len(block.successors) == 1

    def splittable(self, edge: int) -> bool:
        """Whether the edge can be split by a new block."""
        opcode = self.ir.blocks[self.graph.edges[edge].src].opcode
        return opcode in _SPLITTABLE or (opcode == "invoke" and self.positions[edge] == (0,))

    def needs_no_block(self, edge: int) -> bool:
        """Whether the edge is not critical, so that its code may be in its source or in its target."""
        leaves = self.graph.edges[edge].dst == self.graph.exit
        return leaves or self.single_predecessor(edge) or self.single_successor(edge)

    @cached_property
    def recording_calls(self) -> Mapping[int, Call | None]:
        """The blocks of a divided function that end in a recording call, with that call; None: an invoke."""
        found: dict[int, Call | None] = {}
        for number, block in enumerate(self.ir.blocks if self.divided else ()):
            if block.opcode == "invoke":
                found[number] = None
            elif self.calls[number] and self.calls[number][-1].records:
                found[number] = self.calls[number][-1]
        return found

    def leaves(self, block: int) -> bool:
        """Whether a call in tail position ends a block, so that its callee takes the function's place."""
        return self.tail_calls.by_block[block] is not None

    @property
    def landing_pads(self) -> frozenset[int]:
        """The blocks that begin with a landing pad."""
        return frozenset(number for number, block in enumerate(self.ir.blocks) if block.is_landing_pad)

    def induction(self, loop: int) -> Induction | None:
        """What gives the trip count of a loop, if something does and no call can leave or resume the loop."""
        found = self.loops.loops[loop]
        if len(found.back_edges) != 1 or not self.loops.reducible or not found.exits:
            return None
        if not all(self.needs_no_block(e) or self.splittable(e) for e in found.exits):
            return None
        members = list(self.loops.members(loop))
        if any(self.ir.blocks[member].opcode in ("invoke", "callbr") for member in members):
            return None
        if any(call.needs_site or call.is_assembly for member in members for call in self.calls[member]):
            return None
        latch = self.graph.edges[found.back_edges[0]].src
        induction = find_induction(self.ir, found.header, latch, members)
        if induction is None and latch == found.header and self.ir.blocks[latch].size <= TIGHT:
            return own_induction(found.header)
        return induction


def read_function(
    ir: IRFunction,
    attributes: Attributes,
    optimised: bool = True,
    divided: bool = False,
    traced: bool = False,
) -> FunctionCfg:
    """Build the graph of a function.  Blocks are called b0, b1, ... in the order of the IR.

    Where the execution is recorded (``traced``), a last call in front of a dead end is like any other.
    """
    number = {block.label: index for index, block in enumerate(ir.blocks)}
    exit_vertex = len(ir.blocks)
    flow: list[tuple[int, int]] = []
    positions: list[tuple[int, ...]] = []
    for source, block in enumerate(ir.blocks):
        if block.opcode in _MERGED:
            merged: dict[int, list[int]] = {}
            for position, label in enumerate(block.successors):
                merged.setdefault(number[label], []).append(position)
            for target, at in merged.items():
                flow.append((source, target))
                positions.append(tuple(at))
        else:
            for position, label in enumerate(block.successors):
                flow.append((source, number[label]))
                positions.append((position,))
        if block.exits:
            flow.append((source, exit_vertex))
            positions.append(())
    labels = [f"b{index}" for index in range(exit_vertex)] + ["EXIT"]
    graph = build(ir.symbol, labels, flow)
    calls = [calls_of(block, attributes, divided, divided and not traced) for block in ir.blocks]
    nounwind = "nounwind" in attributes.of_header(ir.header)
    returns_twice = frozenset(
        source
        for source, block in enumerate(ir.blocks)
        if any(call.returns_twice for call in calls[source]) or invokes_returning_twice(block, attributes)
    )
    tail_calls = TailCalls(ir, calls, optimised, dead_ends=not traced)
    return FunctionCfg(ir, graph, positions, calls, nounwind, tail_calls, returns_twice, divided)


def fingerprint(graph: Graph, blocks: tuple[BlockFacts, ...]) -> str:
    """A hash of a function's shape, to recognise the same function in two builds."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(repr([(e.src, e.dst, e.kind.value) for e in graph.edges]).encode())
    digest.update(repr([(block.kind.value, block.size, block.calls) for block in blocks]).encode())
    return digest.hexdigest()
