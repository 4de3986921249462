"""The condition of a statement as a tree of ``&&``, ``||``, ``!`` and ``?:`` over its tests.

The tests are the operands that hold no such operator themselves.  They are numbered from left to right, the
order of evaluation, and each knows what is evaluated next when it holds and when it does not: another test,
or nothing because the value of the condition is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from trodden.report.narrate.comparisons import Comparison, comparison_of, is_negated
from trodden.report.narrate.tokens import Tokens

TRUE, FALSE = -1, -2
"""What follows a test when the value of the condition is known."""

TRUTH = "true", "false"
ELEMENTS = "next element", "no more elements"
_SPELLED = {"and": "&&", "or": "||", "not": "!"}
_DEEPEST = 40
"""Brackets within brackets beyond this depth are not taken apart."""


class Operator(Enum):
    """How the operands of a node make its value."""

    TEST = "test"
    AND = "&&"
    OR = "||"
    NOT = "!"
    CHOOSE = "?:"


@dataclass
class Node:
    """A part of a condition: its text, and the numbers ``first .. last`` of its tests.

    ``on_true`` and ``on_false`` are what is evaluated after it, by its value.  ``span`` are its tokens from
    the first to the one after the last, without brackets around them, ``outer`` with these.
    """

    operator: Operator
    span: tuple[int, int]
    outer: tuple[int, int] = (0, 0)
    operands: list[Node] = field(default_factory=list)
    first: int = 0
    last: int = 0
    on_true: int = TRUE
    on_false: int = FALSE


@dataclass(frozen=True)
class Test:
    """An operand that is evaluated as a whole; ``called`` are the names that it calls.

    ``hides``: its code may hold branches of its own, for it holds such operators in its arguments, a lambda,
    or what may be a macro that does.  ``expands``: it is but a name, and that may be a macro.  ``negated``:
    an odd number of ``!`` is in front of all of it.
    """

    node: Node
    text: str
    comparison: Comparison
    called: frozenset[str]
    hides: bool
    expands: bool
    negated: bool = False

    def calls(self, callee: str) -> bool:
        """Whether it calls a function by name; ``callee`` is a symbol, of C++ a mangled one."""
        return any(callee == name or f"{len(name)}{name}" in callee for name in self.called)

    @property
    def on_true(self) -> int:
        """What is evaluated next if it holds."""
        return self.node.on_true

    @property
    def on_false(self) -> int:
        """What is evaluated next if it does not hold."""
        return self.node.on_false

    @property
    def decisive(self) -> bool:
        """Whether the value of the condition is known after it in either case."""
        return self.on_true < 0 and self.on_false < 0


class Condition:
    """A condition: its tree, its tests in the order of evaluation, and how its values are called."""

    def __init__(
        self, tokens: Tokens, root: Node, values: tuple[str, str] = TRUTH, beside: bool = False
    ) -> None:
        self._tokens, self.root, self.values, self._beside = tokens, root, values, beside
        _number(root)
        _link(root)
        self.tests = [
            Test(
                leaf,
                self.text(leaf.span),
                comparison_of(tokens, *leaf.span),
                frozenset(tokens.texts[at] for at in range(*leaf.span) if tokens.text(at + 1) == "("),
                tokens.may_branch(*leaf.span),
                _is_macro(tokens, *leaf.span),
                is_negated(tokens, *leaf.span),
            )
            for leaf in _leaves(root)
        ]

    def text(self, span: tuple[int, int]) -> str:
        """A part as the source has it, on one line and without comments."""
        return self._tokens.code(*span)

    @property
    def hides(self) -> bool:
        """Whether the code of its lines may hold branches beside those of its tests."""
        return self._beside or any(test.hides for test in self.tests)


def condition_of(tokens: Tokens, begin: int, end: int, beside: bool = False) -> Condition | None:
    """The condition that the tokens ``begin .. end - 1`` make.

    None if it has no value that could change: there is nothing, or a constant.  ``beside``: what belongs to
    the same statement may branch too.
    """
    begin, end = _stripped(tokens, begin, end)
    if begin >= end or (end - begin == 1 and _constant(tokens, begin)):
        return None
    if tokens.has_directive(begin, end):
        return Condition(tokens, Node(Operator.TEST, (begin, end)), beside=True)
    return Condition(tokens, _parse(tokens, begin, end), beside=beside)


def elements_of(tokens: Tokens, begin: int, end: int) -> Condition:
    """The condition of a loop over the elements of a range, which has no text but that of the loop."""
    return Condition(tokens, Node(Operator.TEST, (begin, end)), ELEMENTS)


def _constant(tokens: Tokens, token: int) -> bool:
    text = tokens.source[tokens.starts[token] : tokens.ends[token]]
    return text in ("true", "false") or text[:1].isdigit()


def _is_macro(tokens: Tokens, begin: int, end: int) -> bool:
    """Whether tokens are a name that may be a macro, apart from brackets and negations."""
    names = [text for text in tokens.texts[begin:end] if text not in ("(", ")", "!", "not")]
    return len(names) == 1 and tokens.macros.may_define(names[0])


def _stripped(tokens: Tokens, begin: int, end: int) -> tuple[int, int]:
    """Without the brackets around."""
    while end - begin >= 2 and tokens.text(begin) == "(" and tokens.partner[begin] == end - 1:
        begin, end = begin + 1, end - 1
    return begin, end


def _parse(tokens: Tokens, begin: int, end: int, depth: int = 0) -> Node:
    outer = begin, end
    begin, end = _stripped(tokens, begin, end)
    operator, cuts = (Operator.TEST, []) if depth >= _DEEPEST else _split(tokens, begin, end)
    operands: list[Node] = []
    if operator is Operator.NOT:
        operands = [_parse(tokens, begin + 1, end, depth + 1)]
    elif operator is not Operator.TEST:
        parts = list(zip([begin, *(cut + 1 for cut in cuts)], [*cuts, end], strict=True))
        if all(first < last for first, last in parts):
            operands = [_parse(tokens, *part, depth + 1) for part in parts]
    if not operands or (operator is Operator.NOT and operands[0].operator is Operator.TEST):
        operator, operands = Operator.TEST, []
    return Node(operator, (begin, end), outer, operands)


def _split(tokens: Tokens, begin: int, end: int) -> tuple[Operator, list[int]]:
    """The operator that is evaluated last, and its tokens."""
    outer = list(_outer(tokens, begin, end))
    texts = [_SPELLED.get(tokens.texts[token], tokens.texts[token]) for token in outer]
    if "," in texts or "{" in texts or any(tokens.assigns(token) for token in outer):
        return Operator.TEST, []
    if "?" in texts:
        return _split_choice(outer, texts)
    for operator in (Operator.OR, Operator.AND):
        if operator.value in texts:
            return operator, [at for at, text in zip(outer, texts, strict=True) if text == operator.value]
    negated = len(texts) > 1 and texts[-1] == "(" and all(text == "!" for text in texts[:-1])
    return Operator.NOT if negated else Operator.TEST, []


def _split_choice(outer: Sequence[int], texts: Sequence[str]) -> tuple[Operator, list[int]]:
    first = texts.index("?")
    open_choices = 0
    for at in range(first, len(outer)):
        open_choices += {"?": 1, ":": -1}.get(texts[at], 0)
        if not open_choices:
            return Operator.CHOOSE, [outer[first], outer[at]]
    return Operator.TEST, []


def _outer(tokens: Tokens, begin: int, end: int) -> Iterator[int]:
    """The tokens that are not within brackets, an opening one representing all that it holds."""
    token = begin
    while token < end:
        yield token
        token = tokens.partner[token] + 1 if tokens.texts[token] in ("(", "[", "{") else token + 1


def _leaves(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.operator is Operator.TEST:
            yield node
        stack += reversed(node.operands)


def _number(root: Node) -> None:
    """Number the tests; the depth of the tree is bounded."""
    count = 0

    def visit(node: Node) -> None:
        nonlocal count
        node.first = count
        for operand in node.operands:
            visit(operand)
        count += node.operator is Operator.TEST
        node.last = count - 1

    visit(root)


def _link(root: Node) -> None:
    """Link each part to what is evaluated after it."""
    stack = [root]
    while stack:
        node = stack.pop()
        for position, operand in enumerate(node.operands):
            operand.on_true, operand.on_false = node.on_true, node.on_false
            following = node.operands[position + 1] if position + 1 < len(node.operands) else None
            if node.operator is Operator.NOT:
                operand.on_true, operand.on_false = node.on_false, node.on_true
            elif node.operator is Operator.CHOOSE and position == 0:
                operand.on_true, operand.on_false = (each.first for each in node.operands[1:])
            elif node.operator is Operator.AND and following is not None:
                operand.on_true = following.first
            elif node.operator is Operator.OR and following is not None:
                operand.on_false = following.first
        stack += node.operands
