"""The probes for interprocedural paths (MR98 §5.5, §6.3), and the plan of a procedure that counts them.

An activation has the number with which its path came to it, ``base``, the number of paths from its exit,
``completions`` (numValidCompsFromExit), and two sums ``t1`` and ``t2`` (§5.5.1): the number of its path is
``base + t1 * completions + t2``.  So edges add constants, and there is one multiplication where a number is
needed: at the end of a path, at a call, and at the exit.

MR98 passes the number by reference and ``completions`` by value.  Here caller and callee exchange both where
a thread keeps them, so that signatures stay as they are and calls of code without probes, and through
pointers, work.  Whoever is entered takes what was published only if it was meant for it, and starts as a
root otherwise. For pieces there is also ``open`` (cntOpenLfParens): how many calls of the path have not
returned.  Each number is that of a path in some table, which is the procedure in which the path starts; who
counts a path has to know it, so ``table`` goes along with the number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trodden.plan.probes import Count, Measure


@dataclass(frozen=True, slots=True)
class EnterProcedure:
    """The procedure is entered: take what was published for it, or start as a root with the number 0.

    ``t1 = a``, ``t2 = b``.  What ``base`` is now is kept for StartInContext.
    """

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class AddSums:
    """``t1 += a``, ``t2 += b``."""

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class CountPath:
    """A path has ended: count the number with ``a`` added to ``t1`` and ``b`` to ``t2``."""

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class StartInContext:
    """A path starts in the context in which the procedure was entered (§5.5, item 9).

    ``base`` is what it was then, ``t1 = a``, ``t2 = b``.
    """

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class StartPiece:
    """A piece starts inside of the procedure: everything is known, and no call is open (Figure 16).

    ``base = number``, ``t1 = t2 = 0``; the table is the procedure's own.
    """

    number: int
    completions: int


@dataclass(frozen=True, slots=True)
class PublishPath:
    """A kept call follows: tell ``callee`` the number and ``c * completions + d``, which is ψ of the return.

    ``a`` and ``b`` are added to the sums for it.  The caller keeps what it has, for landing pads.
    """

    callee: int
    a: int
    b: int
    c: int
    d: int


@dataclass(frozen=True, slots=True)
class TakePath:
    """A kept call has returned: ``base`` is the number with which its callee left, ``t1 = a``, ``t2 = b``."""

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class TakePiece:
    """The same for pieces.  One that has started in the callee goes on in the caller (Figure 17).

    Then ``base`` is ``value`` more and the number of paths from the exit is ``completions``.
    """

    a: int
    b: int
    value: int
    completions: int


@dataclass(frozen=True, slots=True)
class LeaveProcedure:
    """The procedure returns: add to the sums, and give the number to whom it was called by.

    A root counts it; a piece that did not start with the root is then ``at_end`` more.
    """

    a: int
    b: int
    at_end: int


InterproceduralProbe = (
    EnterProcedure
    | AddSums
    | CountPath
    | StartInContext
    | StartPiece
    | PublishPath
    | TakePath
    | TakePiece
    | LeaveProcedure
    | Count
)

Probes = Sequence[InterproceduralProbe]


@dataclass(frozen=True)
class ProcedurePlan:
    """The probes of a procedure.

    Those of ``before_calls`` and ``after_calls`` are by block and index of the call; after a call only if it
    has returned.  ``on_jumps`` are executed instead of ``on_edges`` where control arrives behind a call that
    returns twice by a jump.  ``pending`` is, for each point, what has to be added to ``t1`` and ``t2`` for
    the number of the path up to there: what a frame keeps for the case that its path is cut short.
    """

    measures: tuple[Measure, ...]
    on_entry: Probes
    on_edges: Mapping[int, Probes]
    before_calls: Mapping[tuple[int, int], Probes]
    after_calls: Mapping[tuple[int, int], Probes]
    on_jumps: Mapping[int, Probes] = field(default_factory=dict)
    pending: Sequence[tuple[int, int]] = ()
