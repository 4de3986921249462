"""Which paths are hot, and which one is meant by a rank: one order for all commands that show paths.

Hot is what executes much (BL96 §1): paths are ranked by the instructions executed along them, so that a long
path that is executed seldom may come before a short one that is executed often.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from trodden.errors import UsageError
from trodden.plan.routes import PathCount
from trodden.profile.model import Count, FunctionProfile, Profile
from trodden.profile.select import select


class HotPath(NamedTuple):
    """A path with its function, and the key of that function in the profile."""

    key: str
    function: FunctionProfile
    path: PathCount


class Executed(NamedTuple):
    """How much of the program ran, in blocks and in instructions."""

    blocks: Count
    instructions: Count


def holds_paths(profile: Profile) -> bool:
    """Whether the profile holds the paths of any function."""
    return any(function.paths is not None for function in profile.functions.values())


def need_paths(profile: Profile, where: str) -> None:
    """Refuse the profile read from ``where`` if it holds no paths."""
    if not holds_paths(profile):
        raise UsageError(f"{where} holds no paths; run with --profile paths")


def hot_paths(profile: Profile, pattern: str | None = None) -> list[HotPath]:
    """The executed paths of the functions that ``pattern`` selects: most executed instructions first.

    Of two that executed the same number the more frequent one comes first; after that, names and path numbers
    decide, so that a rank always means the same path.
    """
    return hot_among(select(profile, pattern))


def hot_among(functions: Mapping[str, FunctionProfile]) -> list[HotPath]:
    """The paths of these functions, in that order."""
    found = [
        HotPath(key, function, path)
        for key, function in functions.items()
        for path in function.paths or ()
        if path.count > 0
    ]
    return sorted(found, key=_rank)


def _rank(hot: HotPath) -> tuple[Count, int, str, int]:
    executed = executed_along(hot.function, hot.path)
    return -executed.instructions, -hot.path.count, hot.key, hot.path.id


def executed_blocks(path: PathCount) -> tuple[int, ...]:
    """The blocks that were executed; those of the loop context only say how control reached the loop."""
    return path.blocks[path.context :]


def executed_along(function: FunctionProfile, path: PathCount) -> Executed:
    """What all executions of a path executed together."""
    blocks = len(executed_blocks(path))
    return Executed(path.count * blocks, path.count * function.instructions_along(path))


def executed_in_all(functions: Iterable[FunctionProfile]) -> Executed:
    """What some functions executed together."""
    blocks: Count = 0
    instructions: Count = 0
    for function in functions:
        if any(function.block_counts):
            blocks += sum(function.block_counts[: function.facts.graph.exit])
            instructions += function.executed_instructions
    return Executed(blocks, instructions)


def pick_path(profile: Profile, where: str, choice: str, pattern: str | None = None) -> tuple[int, HotPath]:
    """The path that ``choice`` means and its rank.

    It is a rank among the functions that ``pattern`` selects by name or by file, or a function and the number
    of a path of it, ``FUNCTION:ID``; ``where`` is the file of the profile.
    """
    need_paths(profile, where)
    name, colon, number = choice.rpartition(":")
    if colon and name and _is_number(number):
        return _by_id(profile, name, int(number))
    if not _is_number(choice):
        raise UsageError(
            f"--path {choice}: neither a rank in the report nor FUNCTION:ID; name a function before --path"
        )
    ranked = hot_among(_picked(profile, pattern))
    what = where if pattern is None else f"{where}: {pattern}"
    if not ranked:
        raise UsageError(f"{what}: no path was executed")
    if not 1 <= int(choice) <= len(ranked):
        raise UsageError(f"{what}: there is no path {choice}; ranks are 1 to {len(ranked)}")
    return int(choice), ranked[int(choice) - 1]


def _picked(profile: Profile, pattern: str | None) -> Mapping[str, FunctionProfile]:
    """The functions in the files that a pattern selects, or else the functions that it selects by name."""
    if pattern is None:
        return select(profile, None)
    within = {key: each for key, each in profile.functions.items() if _matches(each.file, pattern)}
    return within or select(profile, pattern)


def _matches(path: str, pattern: str) -> bool:
    return path == pattern or fnmatchcase(path, pattern) or fnmatchcase(os.path.basename(path), pattern)


def _by_id(profile: Profile, name: str, number: int) -> tuple[int, HotPath]:
    ranked = hot_paths(profile, name)
    found = [(rank, hot) for rank, hot in enumerate(ranked, 1) if hot.path.id == number]
    if not found:
        raise UsageError(f"{name}: no path with the number {number} was executed; see trodden report")
    if len(found) > 1:
        keys = ", ".join(hot.key for _, hot in found)
        raise UsageError(f"--path {name}:{number}: several functions match, name one: {keys}")
    return found[0]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
