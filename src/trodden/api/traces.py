"""Traces of profiles, read by the library in C where it can be compiled."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from trodden.waiting import waiting

if TYPE_CHECKING:
    import os

    from trodden.profile.model import Profile
    from trodden.profile.trace.reading import ProgramTrace


def load(path: str | os.PathLike[str]) -> Profile:
    """Read a profile."""
    from trodden.profile.store.trod import load as read

    use()
    return read(path)


def use() -> None:
    """From now on read traces with the library in C, if it can be compiled when one is read."""
    from trodden.profile.trace.reading import use_library

    use_library(library)


def with_counts(profile: Profile) -> Profile:
    """The profile itself; of one that has a trace, the edge profile that follows from it."""
    if profile.traces is None:
        return profile
    from trodden.profile.derived import derive

    use()
    with waiting("counting what the trace says") as tell:
        counted = derive(profile, "edges", tell).profile
    return replace(counted, traces=profile.traces, traced_units=profile.units)


def load_with_counts(path: str | os.PathLike[str]) -> Profile:
    """Read a profile for its counts, which may follow from a trace."""
    return with_counts(load(path))


def profile_of(traced: Profile, kind: str = "edges") -> Profile:
    """The edge or path profile that follows from a trace, as ``trodden profile-of`` makes it."""
    from trodden.errors import UsageError
    from trodden.profile.derived import derive

    if traced.traces is None:
        raise UsageError(f'{traced.program}: it has no trace; run the program with profile="trace"')
    if kind not in ("edges", "paths"):
        raise UsageError(f"{kind}: a trace has edges or paths")
    use()
    return derive(traced, kind).profile


def load_trace(path: str | os.PathLike[str]) -> ProgramTrace:
    """The trace in a file."""
    return load(path).trace


@cache
def library() -> Path | None:
    """The reader in C, compiled if that was not done yet; ``None`` without a compiler for it."""
    from trodden.errors import CannotWrite, ToolchainMissing
    from trodden.native.driver.own_library import own_library
    from trodden.recover.trace.library import SOURCES, load_library

    try:
        path = own_library(SOURCES, "the reader of traces")
        load_library(path)
    except (ToolchainMissing, CannotWrite, OSError):
        return None
    return path
