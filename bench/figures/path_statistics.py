"""Statistics of executed paths: BL96 Table 2, and how few paths are hot."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from trodden.profile.analysis.stats import stats, stats_together
from trodden.profile.model import Profile

HOT = 0.001
"""A path with at least this share of all instructions is hot."""
MOST = 0.99
"""The share of all path executions that the most frequent paths together have to cover."""


def path_statistics(profile: Profile) -> dict[str, Any]:
    """The figures of ``trodden stats`` for the whole program, and its hot paths."""
    figures: dict[str, Any] = asdict(stats_together(stats(profile.functions).values()))
    counts: list[int] = []
    instructions: list[int] = []
    for function in profile.functions.values():
        for path in function.paths or ():
            if path.count > 0:
                counts.append(path.count)
                instructions.append(round(path.count * function.instructions_along(path)))
    hot = [each for each in instructions if each >= HOT * sum(instructions) > 0]
    return {**figures, "most_walks": _fewest(counts, MOST), "hot": len(hot), "hot_instructions": sum(hot)}


def _fewest(counts: list[int], share: float) -> int:
    """The smallest number of counts whose sum is a share of the total."""
    wanted = share * sum(counts)
    found = reached = 0
    for count in sorted(counts, reverse=True):
        if reached >= wanted:
            break
        reached += count
        found += 1
    return found
