"""Call paths as rows of the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trodden.profile.call_paths import named_call_paths
from trodden.profile.model import FunctionProfile, Profile


@dataclass(frozen=True, slots=True)
class CallRow:
    """A path of calls from the start of a thread: its functions from the outermost inwards, and its count.

    ``recursive``: some of these calls were made by recursion.
    """

    functions: tuple[str, ...]
    count: int
    recursive: bool

    @property
    def chain(self) -> str:
        """The path in one line."""
        return " → ".join(self.functions)


def call_rows(
    profile: Profile, chosen: Mapping[str, FunctionProfile], top: int | None
) -> tuple[CallRow, ...]:
    """The most frequent call paths that lead to some functions."""
    paths = named_call_paths(profile, chosen)[:top]
    return tuple(CallRow(path.functions, path.count, path.recursive) for path in paths)
