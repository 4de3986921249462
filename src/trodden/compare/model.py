"""One difference between two runs of a function, and which differences matter most.

Runs differ in length, and hot loops differ a little whenever their data do, so raw counts say nothing: shares
are compared.  Significance alone is not enough either.  The wrong branch that one input in a thousand takes
is rarer than any noise, but unlike noise it executes what was never executed before.  So differences are
ranked

1. by what they are (:class:`Kind`);
2. by the strength of the evidence, in steps of doubling: what may well be chance is all one step;
3. within a step by where a cause is likelier to be than its consequences: first where the other run executed
   the branch often enough to be conclusive; then at the finest decision, in the function that is called most
   often for each time that it happens (what reads a character before what reads a line, that before what
   reads a file), and in it at the branch that is executed most often; then where fewest calls come before it,
   in which the runs might have diverged already; then by how few times it happened, for one cause can have
   many consequences; then nearest to the entry.

Paths that both runs executed have no such structure, and are ranked by evidence alone.  Where an estimate has
other shares, they are ranked by the number of executions that were predicted wrongly.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from trodden.compare.evidence import level, rarity
from trodden.plan.routes import PathCount
from trodden.profile.model import Count, FunctionProfile

CONCLUSIVE = 10
"""A run that executed a branch fewer times, always with the same outcome, does not show much by that."""


class Kind(IntEnum):
    """What a difference is; the most telling come first."""

    PARTS = 0
    """One run took an edge that the other never took, though it executed the branch."""
    COMBINES = 1
    """One run executed a path that the other did not, though it took every edge of it."""
    FOLLOWS = 2
    """One run executed what follows a block that the other never executed."""
    SHIFTS = 3
    """Both did it, in different shares."""
    EXPECTS = 4
    """An estimate expects another share than a run had, or than another estimate expects."""


@dataclass(frozen=True, slots=True)
class Shares:
    """How often something happened in two runs, and out of how many times that it could have."""

    first: Count
    first_of: Count
    second: Count
    second_of: Count

    @property
    def first_share(self) -> float:
        """In the first run."""
        return self.first / self.first_of if self.first_of else 0.0

    @property
    def second_share(self) -> float:
        """In the second run."""
        return self.second / self.second_of if self.second_of else 0.0

    @property
    def equal(self) -> bool:
        """Whether the shares are exactly the same."""
        return self.first * self.second_of == self.second * self.first_of


@dataclass(frozen=True, slots=True)
class Branching:
    """The decision at which a difference shows: ``block`` was left by ``edge``.

    ``shares`` is how often each run took that edge of the times that it executed the block: in all, or, if
    ``along`` a path, after the same beginning of it.  ``edges`` are all that were taken, with the counts
    of both runs; the branchings of one block share them.
    """

    block: int
    edge: int
    shares: Shares
    edges: tuple[tuple[int, Count, Count], ...]
    along: bool

    @property
    def others(self) -> tuple[tuple[int, Count, Count], ...]:
        """The other edges."""
        return tuple(each for each in self.edges if each[0] != self.edge)


@dataclass(frozen=True)
class Difference:
    """Something that the two runs of a function did differently.

    ``what`` is how often they did it, out of how many times that they could have: took an edge (PARTS),
    entered a function that the other never entered (FOLLOWS), else executed a path.  ``path`` is the path
    that it is about, the most frequent one if there are ``more`` of the same kind; in a profile without paths
    it is ``edge`` or ``block``; blocks with the same ``representative`` say the same.  ``evidence`` is
    positive if the second run did it more.  ``entries`` is how often each run called the function,
    ``calls_before`` how many calls come before it, ``position`` the position of its block in reverse
    postorder.  ``off`` is, against an estimate, how many more times the second took the edge than the first
    predicts.
    """

    name: str
    function: FunctionProfile
    kind: Kind
    what: Shares
    evidence: float
    branching: Branching | None = None
    path: PathCount | None = None
    edge: int | None = None
    block: int | None = None
    representative: int | None = None
    more: tuple[PathCount, ...] = ()
    entries: tuple[Count, Count] = (0, 0)
    calls_before: int = 0
    position: int = 0
    off: float = 0.0

    @property
    def fact(self) -> object:
        """What it says: differences that say the same have the same fact.

        Where two edges were taken, the share of one follows from that of the other, unless one of the runs
        took neither.
        """
        branching = self.branching
        if self.representative is not None:
            return self.name, id(self.function), self.representative
        if branching is None or len(branching.edges) > 2 or self.kind not in (Kind.PARTS, Kind.SHIFTS):
            return id(self)
        if len(branching.others) != 1:
            return id(self)
        [(_, first, second)] = branching.others
        shares = branching.shares
        if not (shares.first or first) or not (shares.second or second):
            return id(self)
        beginning: tuple[int, ...] = ()
        if branching.along and self.path is not None:
            beginning = self.path.edges[: self.path.blocks.index(branching.block, self.path.context)]
        return self.name, id(self.function), branching.block, branching.along, beginning

    @property
    def only_second(self) -> bool:
        """Whether the second run alone did it."""
        return not self.what.first

    @property
    def rank(self) -> tuple[object, ...]:
        """What matters most is smallest."""
        where = (self.function.file, self.function.line, self.name, self.position)
        number = -1 if self.path is None else self.path.id
        if self.kind is Kind.SHIFTS:
            return self.kind, -abs(self.evidence), *where, number
        if self.kind is Kind.EXPECTS:
            return self.kind, -abs(self.off), *where, number
        if self.kind is Kind.FOLLOWS:
            return self.kind, not self.only_second, -max(self.what.first, self.what.second), *where, number
        what = self.what
        sides = (what.first, what.first_of, self.entries[0]), (what.second, what.second_of, self.entries[1])
        times, out_of, calls = max(sides)
        passed = what.second_of if what.first else what.first_of
        return (
            self.kind,
            -level(self.evidence),
            passed < CONCLUSIVE,
            rarity(min(times, calls), calls),
            rarity(times, out_of),
            not self.only_second,
            self.calls_before,
            times,
            *where,
            number,
        )
