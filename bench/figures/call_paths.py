"""How many calls a program makes, and on how many different call paths."""

from __future__ import annotations

from trodden.profile.model import Profile


def call_path_figures(profile: Profile) -> dict[str, int]:
    """Of a profile with call paths."""
    return {"calls": sum(path.count for path in profile.call_paths), "paths": len(profile.call_paths)}
