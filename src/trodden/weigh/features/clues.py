"""What a ground knows of a block that says something about where control goes next (WL94 §3.1).

Any ground can supply these facts: they speak of comparisons, stores, calls and ends, not of instructions of
some machine.  What follows from the shape of the graph alone (loops, dominators) is not among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Relation(Enum):
    """How a comparison relates its left operand to its right one."""

    EQUAL = "eq"
    UNEQUAL = "ne"
    LESS = "lt"
    AT_MOST = "le"
    MORE = "gt"
    AT_LEAST = "ge"


class Sort(Enum):
    """What sort of values are compared.  A flag is a truth value that is tested as it is."""

    POINTER = "p"
    INTEGER = "i"
    CHARACTER = "c"
    FLOAT = "f"
    FLAG = "b"


class Against(Enum):
    """What the right operand is.  ``ZERO`` is the null pointer where pointers are compared."""

    ZERO = "0"
    ONE = "1"
    POSITIVE = "+"
    NEGATIVE = "-"
    VARIABLE = "v"


class Origin(Enum):
    """Where the left operand comes from."""

    LOAD = "l"
    CALL = "c"
    MEETING = "m"
    """Several values that meet: a variable that was set on different ways, or that changes in a loop."""
    BITS = "b"
    """Some bits of a word, picked by a mask."""
    ARITHMETIC = "a"
    GIVEN = "g"
    """A parameter of the function."""
    OTHER = "o"


@dataclass(frozen=True, slots=True)
class Test:
    """The comparison that decides a branch with two ways; if it holds, the block's first edge is taken.

    ``callee`` is whose result is tested, if the left operand is that of a direct call.
    """

    relation: Relation
    sort: Sort
    against: Against
    origin: Origin = Origin.OTHER
    unsigned: bool = False
    callee: str = ""


class Ending(Enum):
    """How a block ends, as far as it matters for where control goes."""

    GOES_ON = "g"
    RETURNS = "r"
    NEVER_RETURNS = "n"
    """It calls what does not come back, or is not meant to be reached."""
    UNWINDS = "u"


class Given(Enum):
    """What constant a function gives back if it returns right after a block."""

    NOTHING = "."
    """None, or none that is constant."""
    ZERO = "0"
    NULL = "n"
    NEGATIVE = "-"
    CONSTANT = "c"
    """Any other constant."""


@dataclass(frozen=True, slots=True)
class CallClue:
    """One call in a block.

    ``callee`` is the symbol that is called, empty for a call through a pointer, of which ``signature`` tells
    the type.  ``passes`` are the functions whose addresses are among the arguments, as ``(place, symbol)``.
    ``cold`` says that the source declares the callee as seldom called, ``complains`` that it is told to write
    where errors go, ``ends`` that it does not come back.  Where the whole program is known, these hold of
    what the callee does in the end, and ``sites`` is how many calls of the same function there are.
    """

    callee: str
    signature: str = ""
    passes: tuple[tuple[int, str], ...] = ()
    cold: bool = False
    complains: bool = False
    ends: bool = False
    sites: int = 0


@dataclass(frozen=True, slots=True)
class BlockClues:
    """What is known of one block.

    ``guarded`` are the places (among the edges out of the block) of those successors that use a compared
    value before they define it.  ``said`` are relative weights that the source (``__builtin_expect``) gives
    to the edges in their order, ``guessed`` those that a compiler has put there of its own; both are empty
    where there are none.  ``trips`` is how often the loop that the block heads turns each time it is
    entered, if that is certain, else 0.  ``cases`` are, in a branch with many ways, the constants that lead
    along each edge, ``None`` for the default.  ``gives`` is what the function returns if it does so next.
    ``may_throw`` says that it ends in a call with a second way, for exceptions.
    """

    ending: Ending = Ending.GOES_ON
    test: Test | None = None
    guarded: tuple[int, ...] = ()
    stores: int = 0
    calls: tuple[CallClue, ...] = ()
    said: tuple[int, ...] = ()
    guessed: tuple[int, ...] = ()
    trips: int = 0
    cases: tuple[int | None, ...] = ()
    gives: Given = Given.NOTHING
    may_throw: bool = False


NOTHING_KNOWN = BlockClues()


@dataclass(frozen=True)
class FunctionClues:
    """What is known of one function: ``blocks[v]`` belongs to vertex ``v`` of its graph.

    ``signature`` is its type, to find what a call through a pointer may reach; ``local`` that only its own
    unit can name it; ``cold`` that the source says it runs seldom.
    """

    blocks: tuple[BlockClues, ...] = ()
    signature: str = ""
    local: bool = False
    cold: bool = False
