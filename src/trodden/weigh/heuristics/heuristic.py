"""What a heuristic is: a row of a table, with the scope of branches that it is about (WL94 §3.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Flag, auto

from trodden.weigh.features.branch import Branch, EdgePositions


class Scope(Flag):
    """Which branches a heuristic predicts: Algorithm 1 distinguishes them."""

    LOOP = auto()
    """Of two edges one is a back edge."""
    ROUND = auto()
    """Of two edges both are back edges."""
    PLAIN = auto()
    """Of two edges none is a back edge."""
    MANY_LOOP = auto()
    """Of more than two edges some are back edges."""
    SWITCHES = auto()
    """Of more than two edges all or none are back edges."""

    TWO = LOOP | ROUND | PLAIN
    ANY = TWO | MANY_LOOP | SWITCHES


@dataclass(frozen=True)
class Heuristic:
    """A rule of thumb: its key in a table of rates, the paper's abbreviation if it is one of the nine, what
    it predicts in words, for which branches, and along which edges.

    ``strength`` is for those whose feature determines a probability by itself, of which the rate is only the
    upper bound.  If one that is ``decisive`` applies, the others are not used.
    """

    key: str
    short: str
    says: str
    scope: Scope
    predicts: Callable[[Branch], EdgePositions]
    strength: Callable[[Branch], float] | None = None
    decisive: bool = False

    def mass(self, branch: Branch, rate: float) -> float:
        """The mass of its evidence for a branch to which it applies."""
        return rate if self.strength is None else min(rate, self.strength(branch))


def scope_of(branch: Branch) -> Scope:
    """Which of the cases of Algorithm 1 a branch is."""
    edges, back = branch.edges, branch.context.back
    if len(edges) == 2:
        first, second = edges[0] in back, edges[1] in back
        return Scope.LOOP if first != second else Scope.ROUND if first else Scope.PLAIN
    return Scope.MANY_LOOP if 0 < sum(edge in back for edge in edges) < len(edges) else Scope.SWITCHES
