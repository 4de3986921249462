"""The probes for overlapping paths (TZG04 §2.3, §3.3), and what decoding their numbers takes.

An *overlap* is the part of a path that is counted together with what was executed before it: behind a back
edge, at the start of a callee, or behind a call.  While one is active the second register ``ro`` holds its
number, and the predicate counter ``ol`` how many predicates it has passed.  An overlap that has passed enough
of them does not change any more, but it is counted only where it could not go on anyway: that is where a loop
is left or a path ends.  TZG04 marks a register that is not in use by a number that is not positive, but 0 is
the number of a path.  So a channel has the *depth* of its overlap beside ``ro``: 0 if there is none,
otherwise the depth of the loop that it belongs to, which tells an inner loop's exit whose overlap it ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Channel(Enum):
    """What an overlap continues; each channel has a register, a predicate counter and a depth of its own.

    LOOP: a path that has ended on a back edge (§2).  ENTERED: the path of a caller up to a call (type I, §3).
    RETURNED: the path with which a callee has returned (type II, §3).
    """

    LOOP = "loop"
    ENTERED = "entered"
    RETURNED = "returned"


@dataclass(frozen=True, slots=True)
class StartOverlap:
    """The path of the path register has ended on a back edge and its overlap begins: ``ro = r + add``.

    ``ol`` starts at ``passed``, so that one limit serves loops of different degrees.
    """

    add: int
    passed: int
    depth: int


@dataclass(frozen=True, slots=True)
class StartOverlapAt:
    """The same where the path register is known: ``ro = number``."""

    number: int
    passed: int
    depth: int


@dataclass(frozen=True, slots=True)
class CountPredicate:
    """The overlap has passed a predicate: ``ol += 1``."""

    channel: Channel


@dataclass(frozen=True, slots=True)
class AddOverlap:
    """``ro += value``; with a ``limit``, only if no more predicates have been passed: ``ol <= limit``."""

    channel: Channel
    value: int
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class BumpOverlap:
    """The overlap has ended here: ``count[ro]++``, and none is active any more.

    Only if the depth of the active one is greater than ``above``: 0 asks whether there is one at all.
    """

    channel: Channel
    above: int = 0


@dataclass(frozen=True, slots=True)
class ClearOverlap:
    """No overlap is active (TZG04: ``ro = -∞``)."""

    channel: Channel


@dataclass(frozen=True, slots=True)
class PublishCall:
    """A call follows: tell the callee the call site, the prefix ``r + add`` and whom it is meant for."""

    site: int
    add: int


@dataclass(frozen=True, slots=True)
class PublishCallAt:
    """The same where the block has a single prefix, whose number is known."""

    site: int
    number: int


@dataclass(frozen=True, slots=True)
class TakeCall:
    """The procedure is entered: if a call meant for it was published, an overlap begins with ``ro = start``.

    Otherwise there is none.  What was published for this procedure is forgotten, so that no other takes it.
    Without a ``start`` there is no register: the overlap is the present path (PairOverlap).
    """

    start: int | None


@dataclass(frozen=True, slots=True)
class PublishReturn:
    """Tell the caller the procedure and its last path, whose number is ``r + add``."""

    add: int


@dataclass(frozen=True, slots=True)
class PublishReturnAt:
    """The same where the path is known."""

    path: int


@dataclass(frozen=True, slots=True)
class TakeReturn:
    """The call of a site has returned: if its callee published a path, an overlap begins with ``ro = start``.

    Without a ``start`` it is as with TakeCall.
    """

    site: int
    start: int | None


@dataclass(frozen=True, slots=True)
class PairOverlap:
    """If an overlap is active it has ended with the path ``r + add``: count the pair."""

    channel: Channel
    add: int


@dataclass(frozen=True, slots=True)
class PairOverlapAt:
    """The same where the path is known."""

    channel: Channel
    path: int


@dataclass(frozen=True, slots=True)
class ChainPath:
    """The path ``r + add`` has ended: count it with up to ``length - 1`` before it, if there are any.

    It is remembered for those behind it.
    """

    add: int
    length: int


@dataclass(frozen=True, slots=True)
class ChainPathAt:
    """The same where the path is known."""

    path: int
    length: int


@dataclass(frozen=True, slots=True)
class ForgetPaths:
    """The next path continues none: what it is counted with begins with itself."""


OverlapProbe = (
    StartOverlap
    | StartOverlapAt
    | CountPredicate
    | AddOverlap
    | BumpOverlap
    | ClearOverlap
    | PublishCall
    | PublishCallAt
    | TakeCall
    | PublishReturn
    | PublishReturnAt
    | TakeReturn
    | PairOverlap
    | PairOverlapAt
    | ChainPath
    | ChainPathAt
    | ForgetPaths
)


class CallSite(NamedTuple):
    """A call at the end of a block: the number of its site, and the edges on which it may return."""

    site: int
    block: int
    ways: tuple[int, ...]


@dataclass(frozen=True)
class CallOverlaps:
    """What is counted over the calls of a procedure and its own: all that decoding the numbers needs.

    ``extended``: overlaps are counted, those from its entry on of degree ``entered``, those behind its calls
    of degree ``returned``, ``None`` for the maximum; they may also end in the blocks of ``stops``.
    ``paired``: pairs of whole paths are counted.
    """

    sites: tuple[CallSite, ...] = ()
    extended: bool = False
    entered: int | None = 0
    returned: int | None = 0
    stops: tuple[int, ...] = ()
    paired: bool = False


@dataclass(frozen=True)
class Overlaps:
    """How the overlapping paths of loops are numbered, beside ``Paths``: all that decoding them needs.

    ``number`` is that of the overlapping paths and of those that are not extended.  ``degrees`` has the
    headers whose paths are extended, each with its degree, ``None`` for the maximum.
    """

    degrees: tuple[tuple[int, int | None], ...]
    number: int = 0


@dataclass(frozen=True, slots=True)
class Tuples:
    """Paths are counted in tuples of up to ``length``; ``dense``: each possible tuple has a counter."""

    length: int
    dense: bool = False
