"""Integer programs that choose the cheapest edges such that every set of some sets has one of them.

What has to be covered are cycles, far too many to list; so those that the present answer leaves uncovered are
added, and the program is solved again until none is left.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any

from trodden.errors import TroddenError, UsageError

_LARGEST_COST = 1e5
"""The solver works with absolute tolerances around a millionth; costs are scaled to lie well above."""


class OptimumError(TroddenError):
    """No proven optimum within the time given."""


def finite(costs: Sequence[float], candidates: Iterable[int]) -> dict[int, float]:
    """Costs in which infinity is replaced by a number larger than the sum of all others."""
    chosen = {index: costs[index] for index in candidates}
    largest = sum(cost for cost in chosen.values() if math.isfinite(cost)) + 1.0
    return {index: cost if math.isfinite(cost) else largest for index, cost in chosen.items()}


class CoveringProgram:
    """A covering program in zeros and ones that grows by rows and is solved anew, with HiGHS."""

    def __init__(self, name: str, finite_costs: Sequence[float], deadline: float) -> None:
        try:
            import highspy
        except ImportError:
            raise UsageError(
                "an optimal placement needs HiGHS; install it with: pip install 'trodden[optimum]'"
            ) from None
        self._name = name
        self._deadline = deadline
        self._infinity = highspy.kHighsInf
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._columns = len(finite_costs)
        make_model: Any = highspy.Highs
        self._model = make_model()
        options = {"output_flag": False, "mip_rel_gap": 0.0, "mip_abs_gap": 0.0, "threads": 1}
        for option, value in options.items():
            self._model.setOptionValue(option, value)
        scale = _LARGEST_COST / max([*finite_costs, math.ulp(0.0)])
        for position, cost in enumerate(finite_costs):
            self._model.addCol(cost * scale, 0.0, 1.0, 0, [], [])
            self._model.changeColIntegrality(position, highspy.HighsVarType.kInteger)

    def require_one_of(self, columns: Iterable[int]) -> None:
        """At least one of these columns is to be 1."""
        chosen = sorted(columns)
        self._model.addRow(1.0, self._infinity, len(chosen), chosen, [1.0] * len(chosen))

    def minimise(self) -> list[int]:
        """The columns that are 1 in a cheapest answer."""
        left = self._deadline - time.monotonic()
        self._model.setOptionValue("time_limit", self._model.getRunTime() + max(left, 0.0))
        self._model.run()
        if left <= 0.0 or self._model.getModelStatus() != self._optimal:
            raise OptimumError(
                f"{self._name}: no proven optimum in the time allowed; allow more, or take the heuristic"
            )
        values = self._model.getSolution().col_value
        return [column for column in range(self._columns) if values[column] > 0.5]
