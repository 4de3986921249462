"""What the counters of a path profile did: the columns of BL96 Table 1, from the profile itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from trodden.plan.probes import Add, AddTrips, Count, Probe, Restore, Set
from trodden.plan.routes import PathEnd
from trodden.profile.model import FunctionProfile, Profile

# BL96 §6 and Table 1, means over SPEC95: added time of paths and edges; edge increments for each of paths.
PAPER_PATHS = "+30.9%"
PAPER_EDGES = "+16.1%"
PAPER_EDGE_INCREMENTS = "1.3"
PAPER_HASHED = "28.4%"


@dataclass(frozen=True)
class PathIncrements:
    """How often memory was incremented, and why.

    ``ended`` are paths that came to their end, ``loops`` the counters of self loops, ``register`` the changes
    of the path register.  Of the paths that ended, ``cut`` did so on a cut edge and ``hashed`` are those of
    functions with too many paths for a table.  ``walked`` of the ``possible`` paths were ever taken.
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

    @property
    def cut_share(self) -> float:
        """The part of the increments that there would not be without cuts."""
        return self.cut / self.increments if self.increments else 0.0

    @property
    def hashed_share(self) -> float:
        """The part of the increments that goes to a hash table (BL96's *Hash Inc*)."""
        return self.hashed / self.increments if self.increments else 0.0

    def as_json(self) -> dict[str, int]:
        """For the file of results."""
        return {**asdict(self), "increments": self.increments}


def path_increments(profile: Profile) -> PathIncrements:
    """What a profile of paths says of its own making."""
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
    for probe, times in _executed(function):
        loops += times * isinstance(probe, Count | AddTrips)
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


def _executed(function: FunctionProfile) -> Iterator[tuple[Probe, int]]:
    """Every probe and how often it was carried out."""
    plan = function.facts.plan
    for probe in plan.on_entry:
        yield probe, int(function.entries)
    for edge, probes in plan.on_edges.items():
        for probe in probes:
            yield probe, function.counted_edges[edge] or 0
    for block, probes in plan.on_blocks.items():
        for probe in probes:
            yield probe, function.counted_blocks[block]
