"""ψ of a procedure for one choice of call sites after the other (MR98 §5.2), without laying it out anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trodden.plan.interprocedural.linear import IDENTITY, ZERO, Linear
from trodden.plan.interprocedural.points import Points
from trodden.plan.interprocedural.program import Site


class Evaluation:
    """ψ of the nodes of a procedure and, once asked for, how many paths lead to each of them (``before``).

    ``points`` has a CALL arc for each site that may be kept.  As long as it is cut the identity stands for
    its callee, which is what passing it amounts to.  Where pieces start behind the exceptions of kept calls
    that is not so: ``caught`` are the sites of such calls that are kept in ``points``.
    """

    def __init__(
        self,
        points: Points,
        onward: Sequence[Sequence[int]],
        caught: frozenset[Site],
        through: Mapping[int, Linear],
    ) -> None:
        """``onward`` are the nodes behind each node; ``through`` is ψ of the entry of the callee of each kept
        call, by the point before it.
        """
        self.points, self.onward, self.caught = points, onward, caught
        self.before: list[int] | None = None
        self._a = [0] * len(onward)
        self._b = [1] * len(onward)
        self._a[points.exit], self._b[points.exit] = IDENTITY
        self._evaluate(through)

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
        return Linear(self._a[node], self._b[node])

    def _evaluate(self, through: Mapping[int, Linear]) -> None:
        """As :func:`~trodden.plan.interprocedural.numbering.assign`, without ρ and as fast as possible."""
        onward, a, b = self.onward, self._a, self._b
        for node in reversed(self.points.order):
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
