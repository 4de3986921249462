"""ψ of a procedure for one choice of call sites after the other (MR98 §5.2), without laying it out anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trodden.plan.interprocedural.linear import ZERO, Linear
from trodden.plan.interprocedural.points import Points


@dataclass
class Evaluation:
    """ψ of the nodes of a procedure and, once asked for, how many paths lead to each of them.

    ``points`` has a CALL arc for each site that may be kept.  As long as it is cut the identity stands for
    its callee, which is what passing it amounts to.
    """

    points: Points
    onward: list[list[int]]
    a: list[int]
    b: list[int]
    before: list[int] | None = None

    @property
    def total(self) -> int:
        """How many paths there would be if the procedure were a root."""
        return self.psi(self.points.entry).of(1) + self.inside.of(1)

    @property
    def inside(self) -> Linear:
        """ψ of GEntry_P, if any path starts there."""
        return self.psi(self.points.inside) if self.points.outs[self.points.inside] else ZERO

    def psi(self, node: int) -> Linear:
        """ψ of a node."""
        return Linear(self.a[node], self.b[node])

    def evaluate(self, through: Mapping[int, Linear]) -> None:
        """ψ of all nodes; ``through`` is ψ of the callee's entry, by the point before the call.

        The same as :func:`~trodden.plan.interprocedural.numbering.assign`, without ρ and as fast as possible.
        """
        points, onward, a, b = self.points, self.onward, self.a, self.b
        for node in reversed(points.order):
            if not onward[node]:
                continue
            total_a = total_b = 0
            for target in onward[node]:
                total_a += a[target]
                total_b += b[target]
            if node in through:
                behind = self.psi(onward[node][0])
                more = through[node].after(behind).minus(behind)
                total_a, total_b = total_a + more.a, total_b + more.b
            a[node], b[node] = total_a, total_b
