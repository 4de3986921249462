"""trodden: exactly which blocks, edges and paths a program has executed, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trodden.version import __version__

if TYPE_CHECKING:
    from trodden.api.estimates import estimate
    from trodden.api.longer import longer_paths
    from trodden.api.profiles import merge
    from trodden.api.runs import Run, run
    from trodden.api.traces import load, profile_of
    from trodden.merging.merge import Merged
    from trodden.profile.model import Profile

__all__ = [
    "Merged",
    "Profile",
    "Run",
    "__version__",
    "estimate",
    "load",
    "longer_paths",
    "merge",
    "profile_of",
    "run",
]

_HOMES = {
    "Merged": "trodden.merging.merge",
    "Profile": "trodden.profile.model",
    "Run": "trodden.api.runs",
    "estimate": "trodden.api.estimates",
    "load": "trodden.api.traces",
    "longer_paths": "trodden.api.longer",
    "merge": "trodden.api.profiles",
    "profile_of": "trodden.api.traces",
    "run": "trodden.api.runs",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: the compiler commands must start quickly."""
    if name not in _HOMES:
        raise AttributeError(f"module 'trodden' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
