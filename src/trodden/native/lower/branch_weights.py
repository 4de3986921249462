"""What an earlier run has measured of branches, told to the code generator as LLVM's own ``branch_weights``.

It lays out blocks so that the usual way needs no jumps, and keeps values in registers where code is hot.
Probes profit most: a block of its own on a hot edge would otherwise often end in a jump.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trodden.native.analysis.function_cfg import FunctionRead

_PROF = re.compile(r", !prof !\d+")
_BRANCHES = frozenset({"br", "switch"})
_MOST = (1 << 31) - 1


@dataclass
class Odds:
    """The metadata of one module; ``fresh`` answers numbers that no other node has."""

    fresh: Callable[[], int]
    nodes: list[str] = field(default_factory=list)
    _known: dict[tuple[int, ...], int] = field(default_factory=dict)

    def told(self, read: FunctionRead, weights: Sequence[float], block: int, terminator: str) -> str:
        """A terminator with what was measured of its targets, if it has several and ever ran."""
        ir = read.ir.blocks[block]
        if ir.opcode not in _BRANCHES or len(ir.successors) < 2:
            return terminator
        counts = [0.0] * len(ir.successors)
        for edge in read.graph.out_edges[block]:
            places = read.positions[edge] if edge < len(read.positions) else ()
            for place in places:
                counts[place] = weights[edge] / len(places)
        most = max(counts)
        if most <= 0:
            return terminator
        scaled = tuple(round(count * min(1.0, _MOST / most)) for count in counts)
        return f"{_PROF.sub('', terminator)}, !prof !{self._node(scaled)}"

    def _node(self, counts: tuple[int, ...]) -> int:
        if counts not in self._known:
            self._known[counts] = self.fresh()
            listed = ", ".join(f"i32 {count}" for count in counts)
            self.nodes.append(f'!{self._known[counts]} = !{{!"branch_weights", {listed}}}')
        return self._known[counts]
