"""How large the tables of a path profile are, and a bound that they must not exceed."""

from __future__ import annotations

from bench.support.errors import BenchError
from trodden.profile.model import Profile

MOST = 64 * 1024 * 1024
"""What the tables of one thread may take, in bytes."""

_COUNTER = 8


def path_tables(profile: Profile) -> dict[str, int]:
    """Bytes of all counters of a thread, and of those that are indexed by path numbers."""
    plans = (function.facts.plan.paths for function in profile.functions.values())
    dense = _COUNTER * sum(paths.number for paths in plans if paths is not None and paths.dense)
    if dense > MOST:
        raise BenchError(f"the tables of paths take {dense:,} bytes; {MOST:,} are allowed")
    return {"counters": _COUNTER * sum(unit.slots for unit in profile.units), "paths": dense}
