"""From a function in LLVM IR to its graph, with facts about its blocks.

The ground's half of the bargain: the stations that weigh and plan see only the graph; what they need to
know of the machine below (which edges cannot carry code of their own, which loops tell their trips) is
answered here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from trodden.graph.cfg import Graph, build
from trodden.graph.loops import LoopForest, find_loops
from trodden.native.analysis.call_effects import Attributes, Call
from trodden.native.analysis.induction import Induction, find_induction, own_induction
from trodden.native.analysis.tail_calls import Tails
from trodden.native.ir.block import IRBlock
from trodden.native.ir.debug_info import FunctionLines
from trodden.native.ir.function import IRFunction
from trodden.program.facts import BlockFacts, BranchKind

TIGHT = 12
"""How many instructions a loop may have that would wait for a counter in memory."""

_SPLITTABLE = frozenset({"br", "switch"})
_MERGED = frozenset({"indirectbr", "callbr"})
_KINDS = {
    "switch": BranchKind.SWITCH,
    "indirectbr": BranchKind.INDIRECT,
    "callbr": BranchKind.INDIRECT,
    "invoke": BranchKind.CALL,
    "ret": BranchKind.RETURN,
    "unreachable": BranchKind.DEAD_END,
    "resume": BranchKind.UNWIND,
    "cleanupret": BranchKind.UNWIND,
    "catchswitch": BranchKind.UNWIND,
}


@dataclass
class FunctionRead:
    """A function together with its graph.

    ``positions[e]`` are the places among the targets of the source block's terminator that edge ``e``
    stands for: one, except that a computed goto may name the same target twice.  Edges to EXIT have none.
    ``resuming`` are the blocks that end in a call which may return twice.
    """

    ir: IRFunction
    graph: Graph
    positions: list[tuple[int, ...]]
    calls: list[list[Call]]
    nounwind: bool
    tails: Tails
    resuming: frozenset[int] = frozenset()
    loops: LoopForest = field(init=False)
    arrivals: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.loops = find_loops(self.graph)
        self.arrivals = [0] * len(self.graph.labels)
        for edge, places in zip(self.graph.edges, self.positions, strict=False):
            self.arrivals[edge.dst] += len(places)

    def arriving(self, block: int) -> list[int]:
        """The edges over which control really comes to a block, the virtual ones left out."""
        return [edge for edge in self.graph.in_edges[block] if edge < len(self.positions)]

    def single_entry(self, edge: int) -> bool:
        """Whether the edge is the only way into its target."""
        target = self.graph.edges[edge].dst
        return self.arrivals[target] == 1 and target != self.graph.root

    def jumps(self, edge: int) -> bool:
        """Whether nothing else can follow its source, so that the edge's code may stand there."""
        block = self.ir.blocks[self.graph.edges[edge].src]
        return block.opcode == "br" and len(block.successors) == 1

    def splittable(self, edge: int) -> bool:
        """Whether a block of its own can be put on the edge."""
        opcode = self.ir.blocks[self.graph.edges[edge].src].opcode
        return opcode in _SPLITTABLE or (opcode == "invoke" and self.positions[edge] == (0,))

    def carries_freely(self, edge: int) -> bool:
        """Whether code on the edge needs no block of its own: its source or its target has room for it."""
        return self.graph.edges[edge].dst == self.graph.exit or self.single_entry(edge) or self.jumps(edge)

    def induction(self, loop: int) -> Induction | None:
        """What tells the trips of a loop, if something does and nothing else can leave the loop."""
        found = self.loops.loops[loop]
        if len(found.back_edges) != 1 or not self.loops.reducible or not found.exits:
            return None
        if not all(self.carries_freely(e) or self.splittable(e) for e in found.exits):
            return None
        members = list(self.loops.members(loop))
        if any(self.ir.blocks[member].opcode in ("invoke", "callbr") for member in members):
            return None
        if any(call.may_stay_away or call.asm for member in members for call in self.calls[member]):
            return None
        latch = self.graph.edges[found.back_edges[0]].src
        kept = find_induction(self.ir, found.header, latch, members)
        if kept is None and latch == found.header and self.ir.blocks[latch].size <= TIGHT:
            return own_induction(found.header)
        return kept


def read_function(ir: IRFunction, attributes: Attributes, optimised: bool = True) -> FunctionRead:
    """Build the graph of a function.  Blocks are called b0, b1, ... in the order of the IR."""
    number = {block.label: index for index, block in enumerate(ir.blocks)}
    exit_vertex = len(ir.blocks)
    flow: list[tuple[int, int]] = []
    positions: list[tuple[int, ...]] = []
    for source, block in enumerate(ir.blocks):
        if block.opcode in _MERGED:
            places: dict[int, list[int]] = {}
            for position, target in enumerate(block.successors):
                places.setdefault(number[target], []).append(position)
            for target_number, at in places.items():
                flow.append((source, target_number))
                positions.append(tuple(at))
        else:
            for position, target in enumerate(block.successors):
                flow.append((source, number[target]))
                positions.append((position,))
        if block.exits:
            flow.append((source, exit_vertex))
            positions.append(())
    labels = [f"b{index}" for index in range(exit_vertex)] + ["EXIT"]
    graph = build(ir.symbol, labels, flow)
    calls = [list(attributes.calls(block)) for block in ir.blocks]
    nounwind = "nounwind" in attributes.of_header(ir.header)
    resuming = frozenset(
        source
        for source, block in enumerate(ir.blocks)
        if any(call.returns_twice for call in calls[source]) or attributes.ends_in_second_return(block)
    )
    return FunctionRead(ir, graph, positions, calls, nounwind, Tails(ir, calls, optimised), resuming)


def block_facts(read: FunctionRead, lines: FunctionLines) -> tuple[BlockFacts, ...]:
    """Lines, kind and size of each block."""
    return tuple(_facts(block, read.calls[v], lines) for v, block in enumerate(read.ir.blocks))


def _facts(block: IRBlock, calls: list[Call], lines: FunctionLines) -> BlockFacts:
    at = block.text.rfind("!dbg !", block.terminator_start)
    branch = lines.lines_of(block.text[at:]) if at >= 0 else []
    kind = _KINDS.get(block.opcode, BranchKind.JUMP)
    if block.opcode == "br" and len(block.successors) > 1:
        kind = BranchKind.IF
    return BlockFacts(
        tuple(lines.lines_of(block.text)),
        branch[0] if branch else None,
        kind,
        sum(call.may_stay_away for call in calls),
        block.size,
    )


def fingerprint(graph: Graph, blocks: tuple[BlockFacts, ...]) -> str:
    """A hash of a function's shape, to tell whether two builds of it are the same."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(repr([(e.src, e.dst, e.kind.value) for e in graph.edges]).encode())
    digest.update(repr([(block.kind.value, block.size, block.calls) for block in blocks]).encode())
    return digest.hexdigest()
