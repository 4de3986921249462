"""What a test of the source compares, to be matched with what a compiled branch compares.

A compiler may invert a comparison and swap the successors of its branch.  Where both compare what was
loaded, passed or returned with the same sort of constant, the direction of the compiled comparison still says
which successor is taken if the test holds.  In all other cases nothing is said: ``(x & 4) == 4`` may have
become ``(x & 4) != 0``, ``10 - x > 3`` has become ``x < 7``, ``table[x] == 0`` a look at a bit of a constant,
and operands that are both variable may have changed sides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trodden.report.narrate.tokens import Tokens
from trodden.weigh.features.block_features import Comparison as Compiled
from trodden.weigh.features.block_features import OperandType, Origin, Relation, RightOperand

_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlLzZ]*")
_CHARACTER = re.compile(r"'([^\\']|\\[abefnrtv\\'\"?])'")
_RELATIONS = {
    "==": Relation.EQUAL,
    "!=": Relation.UNEQUAL,
    "<": Relation.LESS,
    "<=": Relation.AT_MOST,
    ">": Relation.GREATER,
    ">=": Relation.AT_LEAST,
}
_EQUALITY = frozenset({Relation.EQUAL, Relation.UNEQUAL})
_DOWN = frozenset({Relation.LESS, Relation.AT_MOST})
_SIGNS = frozenset("=!<>-+")
_LONG = frozenset({"==", "!=", "<=", ">=", "<=>", "<<", ">>", "<<=", ">>=", "->", "--", "++"})
_ARITHMETIC = frozenset({*"+-*/%~&|^!", "<<", ">>"})
_JOINED = frozenset({Origin.BITS, Origin.ARITHMETIC, Origin.PHI})
_UNCHANGED = frozenset({Origin.LOAD, Origin.CALL, Origin.PARAMETER})


@dataclass(frozen=True)
class Comparison:
    """A test: ``relation`` of something to the constant ``constant``, None if that is not known.

    ``relation`` is None if the value itself is tested; with ``negated``, that it is zero.  ``flipped`` if the
    constant is the left operand.  ``known`` is false if the form of the test is not understood.
    """

    relation: Relation | None = None
    constant: RightOperand | None = None
    negated: bool = False
    flipped: bool = False
    known: bool = True

    def on_first(self, compiled: Compiled | None) -> bool | None:
        """Whether the first successor of the compiled branch is taken if the test holds; None if unknown."""
        if compiled is None or not self.known or compiled.operand_type is OperandType.FLAG:
            return None
        shifted = compiled.origin is Origin.ARITHMETIC and compiled.right is not RightOperand.ZERO
        if compiled.origin not in _UNCHANGED and not (shifted and self.relation in _EQUALITY):
            return None
        if self.relation is None:
            if compiled.relation in _EQUALITY and compiled.right is RightOperand.ZERO:
                return (compiled.relation is Relation.UNEQUAL) != self.negated
            return None
        if self.relation in _EQUALITY:
            alike = compiled.relation in _EQUALITY and self._same_constant(compiled.right)
            return (compiled.relation is self.relation) if alike else None
        ordered = compiled.relation not in _EQUALITY and compiled.right is not RightOperand.VARIABLE
        if not ordered or self.constant is None:
            return None
        return ((compiled.relation in _DOWN) == (self.relation in _DOWN)) != self.flipped

    def decided_by(self, compiled: Compiled | None) -> bool | None:
        """The same as :meth:`on_first` if the branch is certain to decide nothing else.

        Of two comparisons for equality that are joined, none is left, whereas ``x > 3`` and then ``x > 5``
        may become the latter alone.
        """
        alone = compiled is not None and compiled.relation in _EQUALITY
        return self.on_first(compiled) if alone else None

    def fits(self, compiled: Compiled | None) -> bool:
        """Whether a compiled branch may be this test in the form that it has; so may an unknown one."""
        if compiled is None:
            return True
        equality = compiled.relation in _EQUALITY
        if not self.known:
            return self.relation is not None and self.relation not in _EQUALITY and not equality
        if self.relation is None:
            return equality and compiled.right is RightOperand.ZERO
        if compiled.operand_type is OperandType.FLAG:
            return compiled.origin is Origin.CALL
        if self.relation in _EQUALITY:
            return equality and (self.constant is None or compiled.right is self.constant)
        near_zero = self.constant in (RightOperand.ZERO, RightOperand.ONE) and compiled.right is self.constant
        return not equality or near_zero

    def _same_constant(self, right: RightOperand) -> bool:
        return right is not RightOperand.ZERO if self.constant is None else right is self.constant


def joined(compiled: Compiled | None) -> bool:
    """Whether a compiled branch tests a truth value that several tests may have been joined into."""
    return compiled is not None and compiled.operand_type is OperandType.FLAG and compiled.origin in _JOINED


def comparison_of(tokens: Tokens, begin: int, end: int) -> Comparison:
    """What the tokens ``begin .. end - 1`` compare."""
    begin, end, negated = _without_negations(tokens, begin, end)
    operators = list(_operators(tokens, begin, end))
    words = {word for word, _, _ in operators}
    if words & {",", "?", "&&", "||", "and", "or", "<=>"}:
        return Comparison(known=False)
    compared = [each for each in operators if each[0] in _RELATIONS]
    if not compared:
        return Comparison(negated=negated)
    if len(compared) > 1 or negated or words & {"&", "|", "^", "="}:
        return Comparison(known=False)
    [(word, at, after)] = compared
    relation, left, right = _RELATIONS[word], (begin, at), (after, end)
    constants = _constant(tokens, *left), _constant(tokens, *right)
    if None not in constants:
        return Comparison(known=False)
    if relation in _EQUALITY:
        return Comparison(relation, constants[0] or constants[1])
    flipped = constants[0] is not None
    other = right if flipped else left
    known = any(constants) and not any(word in _ARITHMETIC for word, _, _ in _operators(tokens, *other))
    return Comparison(relation, constants[0] or constants[1], flipped=flipped, known=known)


def is_negated(tokens: Tokens, begin: int, end: int) -> bool:
    """Whether an odd number of ``!`` applies to all of these tokens."""
    return _without_negations(tokens, begin, end)[2]


def _without_negations(tokens: Tokens, begin: int, end: int) -> tuple[int, int, bool]:
    """The tokens without brackets and ``!`` around, and whether the number of the latter is odd."""
    negated = False
    while True:
        while end - begin >= 2 and tokens.text(begin) == "(" and tokens.partner[begin] == end - 1:
            begin, end = begin + 1, end - 1
        if tokens.text(begin) not in ("!", "not") or not _is_operand(tokens, begin + 1, end):
            return begin, end, negated
        begin, negated = begin + 1, not negated


def _is_operand(tokens: Tokens, begin: int, end: int) -> bool:
    """Whether a sign in front applies to all of it: names, members, calls and subscripts."""
    token = begin
    while token < end:
        text = tokens.texts[token]
        if text in ("(", "["):
            token = tokens.partner[token]
        elif text == "*":
            if token > begin and tokens.text(token - 1) not in ("*", "!"):
                return False
        elif not (text.isidentifier() or text in (".", "::", "!") or _arrow(tokens, token)):
            return False
        token += 1
    return begin < end


def _arrow(tokens: Tokens, token: int) -> bool:
    """Whether a token is a half of ``->``."""
    return tokens.word(token, 2) == "->" or tokens.word(token - 1, 2) == "->"


def _operators(tokens: Tokens, begin: int, end: int) -> Sequence[tuple[str, int, int]]:
    """The signs outside of brackets, those that belong together joined: text, first token, the one after."""
    found: list[tuple[str, int, int]] = []
    token = begin
    while token < end:
        text = tokens.texts[token]
        if text in ("(", "[", "{"):
            token = tokens.partner[token] + 1
            continue
        length = 1
        if text in _SIGNS:
            for longer in (3, 2):
                if token + longer <= end and tokens.word(token, longer) in _LONG:
                    length = longer
                    break
        word = tokens.word(token, length)
        if text and word not in ("->", ".", "::") and not text.isidentifier():
            unary = word in ("-", "+", "*", "&", "~", "!") and _before_operand(tokens, token, begin)
            found.append((f"unary {word}" if unary and word in ("*", "&") else word, token, token + length))
        elif text in ("and", "or"):
            found.append((text, token, token + 1))
        token += length
    return found


def _before_operand(tokens: Tokens, token: int, begin: int) -> bool:
    """Whether a sign is at the beginning of an operand, so that it is a unary operator."""
    if token == begin:
        return True
    before = tokens.text(token - 1)
    return before != "" and not before.isidentifier() and before not in (")", "]")


def _constant(tokens: Tokens, begin: int, end: int) -> RightOperand | None:
    """What sort of constant an operand is, None if it is none or not certain."""
    negative = tokens.text(begin) == "-"
    text = tokens.code(begin + negative, end)
    if text in ("NULL", "nullptr"):
        return RightOperand.ZERO
    if text == "'\\0'":
        return RightOperand.ZERO
    if _CHARACTER.fullmatch(text) is not None and text.isascii():
        return RightOperand.POSITIVE
    number = _NUMBER.fullmatch(text.replace("'", "") if text[:1].isdigit() else text)
    if number is None:
        return None
    digits = number.group(1)
    value = int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits, 8 if digits[:1] == "0" else 10)
    if value == 0:
        return RightOperand.ZERO
    if negative:
        return RightOperand.NEGATIVE
    return RightOperand.ONE if value == 1 else RightOperand.POSITIVE
