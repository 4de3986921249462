"""Which parts of a condition are certain to have been evaluated, and to which value.

What is known of an evaluation are the values of some tests, and perhaps the value of the whole condition.
Evaluations that agree with that are paths through the tests.  A test was evaluated for certain if all of
these paths lead through it, and its value is certain if all leave it on the same side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trodden.report.narrate.conditions import TRUE, Condition, Node, Operator


class Certainty:
    """What is certain of one evaluation of a condition.

    ``values`` are known values of tests by their number, ``whole`` the value of the condition, None if that
    is not known.  The evaluation is one that begins with the test ``start``.
    """

    def __init__(
        self, condition: Condition, values: Mapping[int, bool], whole: bool | None, start: int = 0
    ) -> None:
        self._condition, self._values, self._whole = condition, values, whole
        self._start = start
        tests = condition.tests
        self._before = [0] * len(tests)
        self._after = [0] * len(tests)
        for number in range(len(tests) - 1, start - 1, -1):
            self._after[number] = self._leading_on(number, True) + self._leading_on(number, False)
        self._before[start] = 1
        for number in range(start, len(tests)):
            for value in (True, False):
                target = self._target(number, value)
                if target >= 0 and self._allowed(number, value):
                    self._before[target] += self._before[number]
        self._total = self._after[start]

    def parts(self) -> Iterator[tuple[str, bool]]:
        """The parts with their values in the order of evaluation, as small as they are certain.

        Without any evaluation that agrees with what is known, nothing is certain.
        """
        if self._total:
            yield from self._parts(self._condition.root)

    def _target(self, number: int, value: bool) -> int:
        test = self._condition.tests[number]
        return test.on_true if value else test.on_false

    def _allowed(self, number: int, value: bool) -> bool:
        """Whether a test can have had a value, and no test that is known to be evaluated is left out then."""
        if self._values.get(number, value) is not value:
            return False
        target = self._target(number, value)
        if target < 0:
            return self._whole in (None, target == TRUE) and not any(each > number for each in self._values)
        return not any(number < each < target for each in self._values)

    def _leading_on(self, number: int, value: bool) -> int:
        """How many evaluations go on like this."""
        if not self._allowed(number, value):
            return 0
        target = self._target(number, value)
        return 1 if target < 0 else self._after[target]

    def _begun(self, node: Node) -> bool:
        """Whether the evaluation of a part is certain to have begun, here or before ``start``."""
        if node.first < self._start:
            return True
        return self._before[node.first] * self._after[node.first] == self._total

    def _value(self, node: Node) -> bool | None:
        """The value of a part that was evaluated, if it is certain."""
        ends = {
            self._target(number, value)
            for number in range(max(node.first, self._start), node.last + 1)
            for value in (True, False)
            if self._before[number] and self._leading_on(number, value)
        }
        known = node.on_true in ends, node.on_false in ends
        return None if known[0] == known[1] else known[0]

    def _certain(self, node: Node) -> bool:
        return node.last < self._start or (self._begun(node) and self._value(node) is not None)

    def _parts(self, root: Node) -> Iterator[tuple[str, bool]]:
        stack = [root]
        while stack:
            node = stack.pop()
            if node.last < self._start or not self._begun(node):
                continue
            value = self._value(node)
            if node.operator is Operator.NOT:
                stack += node.operands
            elif node.operator in (Operator.AND, Operator.OR):
                stack += reversed(self._operands(node))
            elif node.operator is Operator.CHOOSE:
                chosen = self._certain(node.operands[0])
                stack += reversed(node.operands) if chosen else [_joined(node, [node]), node.operands[0]]
            elif value is not None:
                yield self._condition.text(node.span), value

    def _operands(self, node: Node) -> list[Node]:
        """The operands up to the first whose value is not certain, and with that the rest as one part."""
        known = 0
        while known < len(node.operands) and self._certain(node.operands[known]):
            known += 1
        rest = node.operands[known:]
        return [*node.operands[: known + 1], *([_joined(node, rest)] if rest else [])]


def _joined(node: Node, rest: list[Node]) -> Node:
    """The last operands of a node as a part that is not taken apart."""
    return Node(
        Operator.TEST,
        rest[0].span if len(rest) == 1 else (rest[0].outer[0], rest[-1].outer[1]),
        first=rest[0].first,
        last=rest[-1].last,
        on_true=node.on_true,
        on_false=node.on_false,
    )
