"""What a conditional branch of LLVM IR compares, as a clue about where it goes (WL94 §3.1).

The condition is followed back through what a compiler puts between a comparison and its branch: widening and
narrowing, ``llvm.expect``, comparing a truth value with zero.  Comparisons that an optimiser has
rewritten are read as they were meant: ``x < 1`` is ``x <= 0``, and ``x > -1`` is ``x >= 0``.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, replace

from trodden.native.ir.function import IRFunction
from trodden.native.ir.grammar import NAME
from trodden.native.ir.names import unquote
from trodden.weigh.features.clues import Against, Origin, Relation, Sort, Test

_DEFINITION = re.compile(rf"^  %({NAME}) = (.*)$", re.MULTILINE)
_BRANCH = re.compile(rf"  br i1 %({NAME}),")
_OPERAND = rf"(%{NAME}|@{NAME}|[^\s,()]+)"
_COMPARE = re.compile(rf"[if]cmp (?:\w+ )*?([ousi]?\w+) (\S+|<[^>]*>|\{{[^}}]*\}}) {_OPERAND}, {_OPERAND}")
_CAST = re.compile(rf"(?:sext|zext|trunc|freeze|bitcast|ptrtoint)(?: \w+)* (\S+) %({NAME})(?: to|,|$)")
_LOAD = re.compile(rf"load (?:volatile |atomic )?[^,]+, ptr ([%@]{NAME})")
_CALL = re.compile(rf"(?:(?:tail|musttail|notail) )?call .*?@({NAME})\(|invoke .*?@({NAME})\(")
_EXPECT = re.compile(
    rf"(?:tail )?call \w+ @llvm\.expect(?:\.with\.probability)?\.i\d+\(\w+ (?:noundef )?%({NAME}), "
    r"\w+ (-?\d+|true|false)(?:, double (\S+))?\)"
)
_NEGATED = re.compile(rf"xor i1 %({NAME}), true")

_RELATIONS = {
    "ord": Relation.UNEQUAL,
    "uno": Relation.EQUAL,
    "eq": Relation.EQUAL,
    "ne": Relation.UNEQUAL,
    "lt": Relation.LESS,
    "le": Relation.AT_MOST,
    "gt": Relation.MORE,
    "ge": Relation.AT_LEAST,
}
_TURNED = {
    Relation.LESS: Relation.MORE,
    Relation.AT_MOST: Relation.AT_LEAST,
    Relation.MORE: Relation.LESS,
    Relation.AT_LEAST: Relation.AT_MOST,
}
_OPPOSITE = {
    Relation.EQUAL: Relation.UNEQUAL,
    Relation.UNEQUAL: Relation.EQUAL,
    Relation.LESS: Relation.AT_LEAST,
    Relation.AT_LEAST: Relation.LESS,
    Relation.MORE: Relation.AT_MOST,
    Relation.AT_MOST: Relation.MORE,
}
_ORIGINS = {
    "load": Origin.LOAD,
    "phi": Origin.MEETING,
    "select": Origin.MEETING,
    "and": Origin.BITS,
    "call": Origin.CALL,
    "tail": Origin.CALL,
    "invoke": Origin.CALL,
    "musttail": Origin.CALL,
    "notail": Origin.CALL,
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
    """A test, the registers and memory cells it looks at, and what the source says of its outcome."""

    test: Test
    values: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    said: tuple[int, int] | None = None


class Values:
    """The values of a function by name, each with the instruction that makes it."""

    def __init__(self, ir: IRFunction) -> None:
        self._made: dict[str, str] = {
            name: line for block in ir.blocks for name, line in _DEFINITION.findall(block.text)
        }

    def condition(self, terminator: str) -> Condition | None:
        """What decides the branch that a block ends in; ``None`` if it has but one way."""
        match = _BRANCH.match(terminator)
        return None if match is None else self._condition(match.group(1))

    def made(self, name: str) -> str:
        """The instruction that makes a value; empty for a parameter."""
        return self._made.get(name, "")

    def _condition(self, name: str) -> Condition:
        """Follow a truth value back to the comparison it comes from."""
        flipped, said = False, None
        for _ in range(_MOST_STEPS):
            line = self.made(name)
            if (negated := _NEGATED.match(line)) is not None:
                name, flipped = negated.group(1), not flipped
            elif (expected := _EXPECT.match(line)) is not None:
                name = expected.group(1)
                likely = expected.group(2) not in ("0", "false")
                said = _said(likely != flipped, expected.group(3))
            elif (cast := _CAST.match(line)) is not None:
                name = cast.group(2)
            elif (compared := _COMPARE.match(line)) is not None and self._tests_truth(compared):
                name = compared.group(3)[1:]
                flipped ^= compared.group(1) == "eq"
            else:
                break
        found = self._test(name)
        if flipped:
            found = replace(found, test=replace(found.test, relation=_OPPOSITE[found.test.relation]))
        if said is None and found.said is not None:
            said = found.said[::-1] if flipped else found.said
        return replace(found, said=said)

    def _tests_truth(self, compared: re.Match[str]) -> bool:
        """Whether a comparison only asks if a truth value, widened perhaps, is zero."""
        relation, _, left, right = compared.groups()
        if relation not in ("eq", "ne") or right not in ("0", "false") or not left.startswith("%"):
            return False
        name = left[1:]
        for _ in range(_MOST_STEPS):
            line = self.made(name)
            if line.startswith(("icmp", "fcmp")):
                return True
            inner = _EXPECT.match(line) or _NEGATED.match(line)
            cast = _CAST.match(line)
            if inner is not None:
                name = inner.group(1)
            elif cast is not None:
                name = cast.group(2)
            else:
                return False
        return False

    def _test(self, name: str) -> Condition:
        line = self.made(name)
        compared = _COMPARE.match(line)
        relation = _relation(compared.group(1)) if compared is not None else None
        if compared is None or relation is None:
            origin, callee = self._origin(name)
            return Condition(
                Test(Relation.UNEQUAL, Sort.FLAG, Against.ZERO, origin, callee=callee), *self._looked_at(name)
            )
        word, kind, left, right = compared.groups()
        if _is_constant(left) and not _is_constant(right):
            left, right, relation = right, left, _TURNED.get(relation, relation)
        sort = _sort(kind)
        origin, callee = Origin.OTHER, ""
        values: tuple[str, ...] = ()
        cells: tuple[str, ...] = ()
        said = None
        if left.startswith("%"):
            expected = _EXPECT.match(self.made(left[1:]))
            if expected is not None:
                said = _said(_holds(relation, expected.group(2), right), expected.group(3))
                left = f"%{expected.group(1)}"
            left, narrow = self._uncast(left[1:])
            if sort is Sort.INTEGER and narrow == "i8":
                sort = Sort.CHARACTER
            origin, callee = self._origin(left)
        for operand in (left, right[1:]) if right.startswith("%") else (left,):
            more_values, more_cells = self._looked_at(operand)
            values, cells = values + more_values, cells + more_cells
        unsigned = word.startswith("u") and line.startswith("icmp")
        relation, against = _meant(relation, right, unsigned)
        return Condition(Test(relation, sort, against, origin, unsigned, callee), values, cells, said)

    def _uncast(self, name: str) -> tuple[str, str]:
        """What a value was before it was widened or narrowed, and of which type."""
        narrow = ""
        for _ in range(_MOST_STEPS):
            cast = _CAST.match(self.made(name))
            if cast is None:
                break
            narrow, name = cast.groups()
        return name, narrow

    def _origin(self, name: str) -> tuple[Origin, str]:
        line = self.made(name)
        if not line:
            return Origin.GIVEN, ""
        origin = _ORIGINS.get(line.partition(" ")[0], Origin.OTHER)
        callee = _CALL.match(line) if origin is Origin.CALL else None
        return origin, unquote(callee.group(1) or callee.group(2)) if callee is not None else ""

    def _looked_at(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The value itself, and the cell of memory that it was loaded from, if that has a name."""
        load = _LOAD.match(self.made(name))
        if load is None:
            return (name,), ()
        place = load.group(1)
        named = place.startswith("@") or self.made(place[1:]).startswith("alloca")
        return (name,), (place,) if named else ()


def _relation(word: str) -> Relation | None:
    """What a predicate of LLVM asks; ``None`` if it asks nothing.

    That numbers can be ordered says that neither is no number at all, which is what goes without saying.
    """
    return _RELATIONS.get(word) or _RELATIONS.get(word[-2:])


def _holds(relation: Relation, likely: str, right: str) -> bool:
    """Whether a comparison holds of the value that the source expects."""
    value = int(likely) if likely not in ("true", "false") else int(likely == "true")
    other = int(right) if re.fullmatch(r"-?\d+", right) else 0
    return {
        Relation.EQUAL: value == other,
        Relation.UNEQUAL: value != other,
        Relation.LESS: value < other,
        Relation.AT_MOST: value <= other,
        Relation.MORE: value > other,
        Relation.AT_LEAST: value >= other,
    }[relation]


def _said(first: bool, probability: str | None) -> tuple[int, int]:
    """The weights of the edges if the source says which is the likely one, and how likely."""
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


def _sort(kind: str) -> Sort:
    if kind == "ptr":
        return Sort.POINTER
    if kind == "i1":
        return Sort.FLAG
    if kind == "i8":
        return Sort.CHARACTER
    return Sort.INTEGER if kind.startswith("i") else Sort.FLOAT


def _meant(relation: Relation, right: str, unsigned: bool) -> tuple[Relation, Against]:
    """The relation and the right operand as the source will have had them."""
    if not _is_constant(right):
        return relation, Against.VARIABLE
    if right in ("null", "false", "zeroinitializer", "0"):
        if unsigned and relation in (Relation.MORE, Relation.AT_MOST):
            relation = Relation.UNEQUAL if relation is Relation.MORE else Relation.EQUAL
        return relation, Against.ZERO
    if right in ("1", "true"):
        if relation in (Relation.LESS, Relation.AT_LEAST):
            near = Relation.AT_MOST if relation is Relation.LESS else Relation.MORE
            if unsigned:
                near = Relation.EQUAL if relation is Relation.LESS else Relation.UNEQUAL
            return near, Against.ZERO
        return relation, Against.ONE
    if right == "-1" and not unsigned and relation in (Relation.MORE, Relation.AT_MOST):
        return Relation.AT_LEAST if relation is Relation.MORE else Relation.LESS, Against.ZERO
    if right.startswith("-"):
        return relation, Against.NEGATIVE
    if "0.000000e+00" in right:
        return relation, Against.ZERO
    return relation, Against.POSITIVE
