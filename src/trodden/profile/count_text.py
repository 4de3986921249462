"""How a count is shown: in full if it was counted, to three digits if it was estimated."""

from __future__ import annotations

_DIGITS = 3
_LARGEST_IN_FULL = 1e12
_SMALLEST_IN_FULL = 1e-3


def amount(count: float, separator: str = ",") -> str:
    """``12,345`` of what was counted; of an estimate about three digits: ``0.052``, ``17.1``, ``1,230``.

    A ``separator`` stands between thousands, and may be empty.
    """
    if isinstance(count, int):
        return f"{count:,}".replace(",", separator)
    rounded = float(f"{count:.{_DIGITS}g}")
    if rounded and not _SMALLEST_IN_FULL <= abs(rounded) < _LARGEST_IN_FULL:
        return f"{count:.{_DIGITS - 1}g}"
    if abs(rounded) >= 10**_DIGITS:
        return f"{rounded:,.0f}".replace(",", separator)
    return f"{rounded:.{_DIGITS}g}"
