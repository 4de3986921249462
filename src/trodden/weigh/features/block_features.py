"""The features of a block that predict which successor it takes (WL94 §3.1).

Any front end can supply them: they are about comparisons, stores, calls and ends of functions, not about
instructions of some machine.  What follows from the graph alone (loops, dominators) is not among them.
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
    GREATER = "gt"
    AT_LEAST = "ge"


class OperandType(Enum):
    """The type of the compared values.  A flag is a truth value that is tested by itself."""

    POINTER = "p"
    INTEGER = "i"
    CHARACTER = "c"
    FLOAT = "f"
    FLAG = "b"


class RightOperand(Enum):
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
    PHI = "m"
    """A phi: a variable that was assigned on different paths, or that changes in a loop."""
    BITS = "b"
    """Some bits of a word, picked by a mask."""
    ARITHMETIC = "a"
    PARAMETER = "g"
    """A parameter of the function."""
    OTHER = "o"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison that decides a two-way branch; if it is true, the block's first edge is taken.

    ``callee`` is whose result is tested, if the left operand is that of a direct call.
    """

    relation: Relation
    operand_type: OperandType
    right: RightOperand
    origin: Origin = Origin.OTHER
    unsigned: bool = False
    callee: str = ""


class BlockEnding(Enum):
    """How a block ends, as far as it matters for prediction."""

    CONTINUES = "g"
    RETURNS = "r"
    NEVER_RETURNS = "n"
    """It ends in a call that does not return, or in ``unreachable``."""
    UNWINDS = "u"


class ReturnedConstant(Enum):
    """Which constant a function returns if it returns right after a block."""

    NOTHING = "."
    """No value, or none that is constant."""
    ZERO = "0"
    NULL = "n"
    NEGATIVE = "-"
    CONSTANT = "c"
    """Any other constant."""


@dataclass(frozen=True, slots=True)
class CallFeatures:
    """One call in a block.

    ``callee`` is the symbol that is called, empty for an indirect call, of which ``signature`` is the type.
    ``passes`` are the functions whose addresses are among the arguments, as ``(position, symbol)``.  ``cold``
    says that the source declares the callee cold, ``reports_error`` that the call writes to standard error,
    ``ends`` that it does not return.  Where the whole program is known, these include what the callee itself
    calls, and ``sites`` is the number of call sites of the same function.
    """

    callee: str
    signature: str = ""
    passes: tuple[tuple[int, str], ...] = ()
    cold: bool = False
    reports_error: bool = False
    ends: bool = False
    sites: int = 0


@dataclass(frozen=True, slots=True)
class BlockFeatures:
    """What is known of one block.

    ``guarded`` are the positions (among the out-edges of the block) of those successors that use a compared
    value before they define it.  ``source_weights`` are the relative weights that the source gives the edges
    (``__builtin_expect``), in their order, ``compiler_weights`` those that a compiler has added; both are
    empty where there are none.  ``trip_count`` is the trip count of the loop of which the block is the
    header, if that is known, else 0.  ``cases`` are, in a switch, the constants that select each edge,
    ``None`` for the default.  ``returned`` is what the function returns if it returns next.  ``may_throw``
    says that the block ends in an invoke, whose second edge is for exceptions.
    """

    ending: BlockEnding = BlockEnding.CONTINUES
    test: Comparison | None = None
    guarded: tuple[int, ...] = ()
    stores: int = 0
    calls: tuple[CallFeatures, ...] = ()
    source_weights: tuple[int, ...] = ()
    compiler_weights: tuple[int, ...] = ()
    trip_count: int = 0
    cases: tuple[int | None, ...] = ()
    returned: ReturnedConstant = ReturnedConstant.NOTHING
    may_throw: bool = False


NOTHING_KNOWN = BlockFeatures()


@dataclass(frozen=True)
class FunctionFeatures:
    """What is known of one function: ``blocks[v]`` belongs to vertex ``v`` of its graph.

    ``signature`` is its type, to find the possible callees of an indirect call; ``local`` says that it has
    internal linkage; ``cold`` that the source declares it cold.
    """

    blocks: tuple[BlockFeatures, ...] = ()
    signature: str = ""
    local: bool = False
    cold: bool = False
