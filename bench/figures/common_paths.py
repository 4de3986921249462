"""How many of the paths that one input executes another has executed too: BL96 Table 3."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import NamedTuple

from trodden.profile.model import Profile


class _Executions(NamedTuple):
    walks: int
    instructions: int


@dataclass(frozen=True)
class Common:
    """The paths of a *train* and a *ref* run, and those of *ref* that are in both.

    ``walks`` are executions of paths; these and ``instructions`` are those of *ref*, on all its paths and on
    the common ones.
    """

    train: int
    ref: int
    common: int
    walks: int
    common_walks: int
    instructions: int
    common_instructions: int


def common_figures(train: Profile, ref: Profile) -> dict[str, int]:
    """The comparison as plain numbers."""
    return asdict(common_paths(train, ref))


def common_paths(train: Profile, ref: Profile) -> Common:
    """Compare two runs of one build, whose paths have the same numbers in the same functions."""
    before, now = _paths(train), _paths(ref)
    both = [each for key, each in now.items() if key in before]
    return Common(
        train=len(before),
        ref=len(now),
        common=len(both),
        walks=sum(each.walks for each in now.values()),
        common_walks=sum(each.walks for each in both),
        instructions=sum(each.instructions for each in now.values()),
        common_instructions=sum(each.instructions for each in both),
    )


def _paths(profile: Profile) -> dict[tuple[str, str, int], _Executions]:
    """The executed paths, by unit, function and number."""
    return {
        (function.unit, function.facts.linkage_name, path.id): _Executions(
            path.count, round(path.count * function.instructions_along(path))
        )
        for function in profile.functions.values()
        for path in function.paths or ()
        if path.count > 0
    }
