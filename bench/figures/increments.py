"""Increments of a path profile, computed from the profile itself: the columns of BL96 Table 1."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from bench.figures.probe_executions import probe_executions
from trodden.plan.probes import Add, AddTripCount, Count, Restore, Set
from trodden.plan.routes import PathEnd
from trodden.profile.model import FunctionProfile, Profile


@dataclass(frozen=True)
class PathIncrements:
    """How often memory was incremented, and why.

    ``ended`` are the paths that were completed, ``loops`` the counters of loops of one block, ``register``
    the changes of the path register.  Of the completed paths, ``cut`` ended on a cut edge and ``hashed`` are
    those of functions with too many paths for a table.  ``walked`` of the ``possible`` paths were executed.
    """

    functions: int = 0
    functions_cut: int = 0
    possible: int = 0
    walked: int = 0
    ended: int = 0
    cut: int = 0
    hashed: int = 0
    loops: int = 0
    register: int = 0

    @property
    def increments(self) -> int:
        """All of them."""
        return self.ended + self.loops


def increment_figures(profile: Profile) -> dict[str, int]:
    """Of a path profile, as plain numbers."""
    found = path_increments(profile)
    return {**asdict(found), "increments": found.increments}


def path_increments(profile: Profile) -> PathIncrements:
    """Of all functions of a path profile together."""
    found = [_of_function(function) for function in profile.functions.values()]
    columns = zip(*(asdict(each).values() for each in found), strict=True)
    return PathIncrements(*map(sum, columns)) if found else PathIncrements()


def _of_function(function: FunctionProfile) -> PathIncrements:
    paths = function.facts.plan.paths
    if paths is None:
        return PathIncrements(1)
    walked = function.paths or ()
    ended = sum(path.count for path in walked if path.ends is not PathEnd.UNWOUND)
    loops = register = 0
    for probe, times in probe_executions(function.facts.plan, function):
        loops += times * isinstance(probe, Count | AddTripCount)
        register += times * isinstance(probe, Set | Add | Restore)
    return PathIncrements(
        functions=1,
        functions_cut=bool(paths.cuts),
        possible=paths.number,
        walked=len(walked),
        ended=ended,
        cut=sum(function.counted_edges[edge] or 0 for edge in paths.cuts),
        hashed=0 if paths.dense else ended,
        loops=loops,
        register=register,
    )
