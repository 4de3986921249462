"""What was counted in one unit, before anything is recovered from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reading:
    """What the counters of one unit held at the end, and which of its calls were still active then.

    ``unit`` is the unit's id; ``active[function, block]`` is how many frames of that function (its index)
    had not come back from a call in that block, less those that came back to it twice.

    Of functions with a path plan, ``active`` is only what came back twice (never positive), and
    ``prefixes[function, block, cell]`` is how often a path was cut short in a block, with what the frame's
    cell held then (``None`` where it has none).  ``sparse[function, path]`` is the count and the
    time of a path that has no counter of its own.
    """

    unit: str
    counts: Sequence[int]
    active: Mapping[tuple[int, int], int] = field(default_factory=dict)
    prefixes: Mapping[tuple[int, int, int | None], int] = field(default_factory=dict)
    sparse: Mapping[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
