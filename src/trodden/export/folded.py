"""Call paths as folded stacks, one a line, for tools that draw flame graphs."""

from __future__ import annotations

from trodden.errors import UsageError
from trodden.profile.call_paths import named_call_paths
from trodden.profile.model import Profile
from trodden.profile.select import select
from trodden.visible_text import one_line


def to_folded(profile: Profile, pattern: str | None = None) -> str:
    """``main;parse;next 42``: functions from the outermost in, and how often the path was taken."""
    if not profile.call_paths:
        raise UsageError("the profile holds no call paths; run with --call-paths")
    picked = None if pattern is None else select(profile, pattern)
    lines = [
        f"{';'.join(name.replace(';', ':') for name in path.functions)} {path.count}"
        for path in named_call_paths(profile, picked)
    ]
    return "".join(one_line(line) + "\n" for line in sorted(lines))
