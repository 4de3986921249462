"""The comparison that decides a conditional branch of LLVM IR, as a feature of the branch (WL94 §3.1).

The condition is followed backwards through what a compiler puts between a comparison and its branch:
conversions, ``llvm.expect``, comparing a Boolean with zero.  Comparisons that an optimiser has rewritten are
read as they were written: ``x < 1`` is ``x <= 0``, and ``x > -1`` is ``x >= 0``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import NamedTuple

from trodden.native.ir.function import IRFunction
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.syntax.names import unquote
from trodden.native.ir.syntax.operands import is_integer
from trodden.weigh.features.block_features import Comparison, OperandType, Origin, Relation, RightOperand

_CONVERSIONS = frozenset({"sext", "zext", "trunc", "freeze", "bitcast", "ptrtoint"})
_EXPECT = ("llvm.expect.i", "llvm.expect.with.probability.i")
_RELATIONS = {
    "ord": Relation.UNEQUAL,
    "uno": Relation.EQUAL,
    "eq": Relation.EQUAL,
    "ne": Relation.UNEQUAL,
    "lt": Relation.LESS,
    "le": Relation.AT_MOST,
    "gt": Relation.GREATER,
    "ge": Relation.AT_LEAST,
}
_SWAPPED = {
    Relation.LESS: Relation.GREATER,
    Relation.AT_MOST: Relation.AT_LEAST,
    Relation.GREATER: Relation.LESS,
    Relation.AT_LEAST: Relation.AT_MOST,
}
_OPPOSITE = {
    Relation.EQUAL: Relation.UNEQUAL,
    Relation.UNEQUAL: Relation.EQUAL,
    Relation.LESS: Relation.AT_LEAST,
    Relation.AT_LEAST: Relation.LESS,
    Relation.GREATER: Relation.AT_MOST,
    Relation.AT_MOST: Relation.GREATER,
}
_ORIGINS = {
    "load": Origin.LOAD,
    "phi": Origin.PHI,
    "select": Origin.PHI,
    "and": Origin.BITS,
    "call": Origin.CALL,
    "invoke": Origin.CALL,
    "getelementptr": Origin.ARITHMETIC,
    "add": Origin.ARITHMETIC,
    "sub": Origin.ARITHMETIC,
    "mul": Origin.ARITHMETIC,
    "shl": Origin.ARITHMETIC,
    "lshr": Origin.ARITHMETIC,
    "ashr": Origin.ARITHMETIC,
    "or": Origin.ARITHMETIC,
    "xor": Origin.ARITHMETIC,
    "udiv": Origin.ARITHMETIC,
    "sdiv": Origin.ARITHMETIC,
    "urem": Origin.ARITHMETIC,
    "srem": Origin.ARITHMETIC,
}
_LIKELY = 2000
_MOST_STEPS = 16
"""How far a condition is followed back; no compiler puts more between a comparison and its branch."""


@dataclass(frozen=True)
class Condition:
    """A test, the values and variables in memory it looks at, and the weights that the source states."""

    test: Comparison
    values: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    stated: tuple[int, int] | None = None


class _Expected(NamedTuple):
    """A value passed through ``llvm.expect``, the constant that is expected, and how likely it is."""

    name: str
    constant: str
    probability: str | None


class Values:
    """The values of a function by name, each with the instruction that defines it."""

    def __init__(self, ir: IRFunction) -> None:
        self._blocks = {name: block for block in ir.blocks for name in block.defined_names()}
        self._definitions: dict[str, Instruction | None] = {}

    def condition(self, terminator: Instruction) -> Condition | None:
        """What decides the branch that a block ends in; None if it is none on a value."""
        name = terminator.condition if terminator.opcode == "br" else None
        return None if name is None else self._condition(name)

    def definition(self, name: str | None) -> Instruction | None:
        """The instruction that defines a value; None for a parameter."""
        if name is None or name not in self._blocks:
            return None
        found = self._definitions.get(name)
        if found is None:
            found = self._definitions[name] = self._blocks[name].definition(name)
        return found

    def _condition(self, name: str) -> Condition:
        """Follow a Boolean value back to the comparison that defines it."""
        inverted, stated = False, None
        for _ in range(_MOST_STEPS):
            definition = self.definition(name)
            if definition is None:
                break
            if (negated := _negated(definition)) is not None:
                name, inverted = negated, not inverted
            elif (expected := _expected(definition)) is not None:
                name = expected.name
                likely = expected.constant not in ("0", "false")
                stated = _weights(likely != inverted, expected.probability)
            elif (converted := _converted(definition)) is not None:
                name = converted[1]
            elif (tested := self._tests_boolean(definition)) is not None:
                name = tested
                inverted ^= definition.predicate == "eq"
            else:
                break
        found = self._test(name)
        if inverted:
            found = replace(found, test=replace(found.test, relation=_OPPOSITE[found.test.relation]))
        if stated is None and found.stated is not None:
            stated = found.stated[::-1] if inverted else found.stated
        return found if stated == found.stated else replace(found, stated=stated)

    def _tests_boolean(self, comparison: Instruction) -> str | None:
        """What a comparison compares with zero, if that is a Boolean value, widened perhaps."""
        if comparison.predicate not in ("eq", "ne"):
            return None
        left, right = comparison.operands
        if right.value not in ("0", "false") or left.local is None:
            return None
        name = left.local
        for _ in range(_MOST_STEPS):
            definition = self.definition(name)
            if definition is None:
                return None
            if definition.opcode in ("icmp", "fcmp"):
                return left.local
            expected, converted = _expected(definition), _converted(definition)
            inner = expected.name if expected is not None else _negated(definition)
            if inner is None:
                inner = converted[1] if converted is not None else None
            if inner is None:
                return None
            name = inner
        return None

    def _test(self, name: str) -> Condition:
        definition = self.definition(name)
        predicate = "" if definition is None else definition.predicate or ""
        relation = _relation(predicate)
        if definition is None or relation is None:
            origin, callee = self._origin(name)
            return Condition(
                Comparison(Relation.UNEQUAL, OperandType.FLAG, RightOperand.ZERO, origin, callee=callee),
                *self._looked_at(name),
            )
        first, second = definition.operands
        left, right = first.value, second.value
        if _is_constant(left) and not _is_constant(right):
            left, right, relation = right, left, _SWAPPED.get(relation, relation)
        sort = _sort(first.type)
        origin, callee = Origin.OTHER, ""
        stated = None
        if left.startswith("%"):
            expected = _expected(self.definition(left[1:]))
            if expected is not None:
                stated = _weights(_is_true(relation, expected.constant, right), expected.probability)
                left = f"%{expected.name}"
            left, narrow = self._unconverted(left[1:])
            if sort is OperandType.INTEGER and narrow == "i8":
                sort = OperandType.CHARACTER
            origin, callee = self._origin(left)
        values: tuple[str, ...] = ()
        variables: tuple[str, ...] = ()
        for operand in (left, right[1:]) if right.startswith("%") else (left,):
            more_values, more_variables = self._looked_at(operand)
            values, variables = values + more_values, variables + more_variables
        unsigned = predicate.startswith("u") and definition.opcode == "icmp"
        relation, against = _as_written(relation, right, unsigned)
        return Condition(
            Comparison(relation, sort, against, origin, unsigned, callee), values, variables, stated
        )

    def _unconverted(self, name: str) -> tuple[str, str]:
        """What a value was before it was converted, and its type then."""
        narrow = ""
        for _ in range(_MOST_STEPS):
            converted = _converted(self.definition(name))
            if converted is None:
                break
            narrow, name = converted
        return name, narrow

    def _origin(self, name: str) -> tuple[Origin, str]:
        definition = self.definition(name)
        if definition is None:
            return Origin.PARAMETER, ""
        origin = _ORIGINS.get(definition.opcode, Origin.OTHER)
        callee = definition.callee if origin is Origin.CALL else None
        return origin, "" if callee is None else unquote(callee)

    def _looked_at(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The value itself, and the variable that it was loaded from, if that has a name."""
        load = self.definition(name)
        if load is None or load.opcode != "load":
            return (name,), ()
        pointer = load.operands[0]
        allocation = self.definition(pointer.local)
        named = pointer.value.startswith("@") or (allocation is not None and allocation.opcode == "alloca")
        return (name,), (pointer.value,) if named and pointer.type == "ptr" else ()


def _negated(definition: Instruction) -> str | None:
    """The Boolean value of which an instruction is the negation."""
    if definition.opcode != "xor":
        return None
    left, right = definition.operands
    return left.local if left.type == "i1" and right.value == "true" else None


def _converted(definition: Instruction | None) -> tuple[str, str] | None:
    """The type and the name of the value that an instruction converts."""
    if definition is None or definition.opcode not in _CONVERSIONS:
        return None
    (operand,) = definition.operands
    return None if operand.local is None or " " in operand.type else (operand.type, operand.local)


def _expected(definition: Instruction | None) -> _Expected | None:
    """The value, the expected constant and the probability of a call of ``llvm.expect``."""
    if definition is None or not (definition.callee or "").startswith(_EXPECT):
        return None
    value, constant, *probability = definition.arguments
    if value.local is None or not _is_truth(constant.value):
        return None
    return _Expected(value.local, constant.value, probability[0].value if probability else None)


def _is_truth(value: str) -> bool:
    return value in ("true", "false") or is_integer(value)


def _relation(word: str) -> Relation | None:
    """The relation that a predicate of LLVM tests; None if it tests none.

    ``ord`` tests that neither operand is a NaN, which is mostly true.
    """
    return _RELATIONS.get(word) or _RELATIONS.get(word[-2:])


def _is_true(relation: Relation, likely: str, right: str) -> bool:
    """Whether a comparison is true for the value that the source expects."""
    value = int(likely) if likely not in ("true", "false") else int(likely == "true")
    other = int(right) if is_integer(right) else 0
    return {
        Relation.EQUAL: value == other,
        Relation.UNEQUAL: value != other,
        Relation.LESS: value < other,
        Relation.AT_MOST: value <= other,
        Relation.GREATER: value > other,
        Relation.AT_LEAST: value >= other,
    }[relation]


def _weights(first: bool, probability: str | None) -> tuple[int, int]:
    """The weights of the edges if the source states which is the likely one, and how likely."""
    likely, other = _LIKELY, 1
    if probability is not None:
        share = _double(probability)
        likely, other = max(1, round(share * _LIKELY)), max(1, round((1 - share) * _LIKELY))
    return (likely, other) if first else (other, likely)


def _double(text: str) -> float:
    """A floating-point constant of IR, which may be written as its bits."""
    if text.startswith("0x"):
        return float(struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0])
    return float(text)


def _is_constant(operand: str) -> bool:
    return not operand.startswith(("%", "@"))


def _sort(kind: str) -> OperandType:
    if kind == "ptr":
        return OperandType.POINTER
    if kind == "i1":
        return OperandType.FLAG
    if kind == "i8":
        return OperandType.CHARACTER
    return OperandType.INTEGER if kind.startswith("i") else OperandType.FLOAT


def _as_written(relation: Relation, right: str, unsigned: bool) -> tuple[Relation, RightOperand]:
    """The relation and the right operand as the source probably has them."""
    if not _is_constant(right):
        return relation, RightOperand.VARIABLE
    if right in ("null", "false", "zeroinitializer", "0"):
        if unsigned and relation in (Relation.GREATER, Relation.AT_MOST):
            relation = Relation.UNEQUAL if relation is Relation.GREATER else Relation.EQUAL
        return relation, RightOperand.ZERO
    if right in ("1", "true"):
        if relation in (Relation.LESS, Relation.AT_LEAST):
            near = Relation.AT_MOST if relation is Relation.LESS else Relation.GREATER
            if unsigned:
                near = Relation.EQUAL if relation is Relation.LESS else Relation.UNEQUAL
            return near, RightOperand.ZERO
        return relation, RightOperand.ONE
    if right == "-1" and not unsigned and relation in (Relation.GREATER, Relation.AT_MOST):
        return Relation.AT_LEAST if relation is Relation.GREATER else Relation.LESS, RightOperand.ZERO
    if right.startswith("-"):
        return relation, RightOperand.NEGATIVE
    if "0.000000e+00" in right:
        return relation, RightOperand.ZERO
    return relation, RightOperand.POSITIVE
