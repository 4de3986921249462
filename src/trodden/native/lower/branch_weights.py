"""What an earlier run has measured of branches, as LLVM's own ``branch_weights``.

The code generator lays out blocks so that the frequent path has few jumps, and keeps values in registers
where code is hot.  Probes profit most: a new block on a hot edge would otherwise often end in a jump.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.ir.rewriting import strip_attachments

_WEIGHTED = frozenset({"br", "switch"})
_LARGEST = (1 << 31) - 1


@dataclass
class BranchWeights:
    """The metadata nodes of one module; ``fresh`` returns numbers that no other node has."""

    fresh: Callable[[], int]
    nodes: list[str] = field(default_factory=list)
    _numbers: dict[tuple[int, ...], int] = field(default_factory=dict)

    def attach(self, read: FunctionCfg, weights: Sequence[float], block: int, terminator: str) -> str:
        """A block's terminator with the weights of its successors, if it has several and was executed."""
        ir = read.ir.blocks[block]
        if ir.opcode not in _WEIGHTED or len(ir.successors) < 2:
            return terminator
        counts = [0.0] * len(ir.successors)
        for edge in read.graph.out_edges[block]:
            positions = read.positions[edge] if edge < len(read.positions) else ()
            for position in positions:
                counts[position] = weights[edge] / len(positions)
        largest = max(counts)
        if largest <= 0:
            return terminator
        scaled = tuple(round(count * min(1.0, _LARGEST / largest)) for count in counts)
        return f"{strip_attachments(terminator, {'prof'})}, !prof !{self._node(scaled)}"

    def _node(self, counts: tuple[int, ...]) -> int:
        if counts not in self._numbers:
            self._numbers[counts] = self.fresh()
            listed = ", ".join(f"i32 {count}" for count in counts)
            self.nodes.append(f'!{self._numbers[counts]} = !{{!"branch_weights", {listed}}}')
        return self._numbers[counts]
