"""A sequence as a grammar in which what is repeated is a rule (whole program paths, Larus 1999).

Sequitur (Nevill-Manning and Witten 1997) reads the sequence once, in linear time, and keeps two properties:
no two neighbours occur twice in the grammar, and every rule is used at least twice.  Here a symbol has the
number of times that it follows itself, so that a loop is one symbol, however often it iterates, and not
a rule for each power of two.

:mod:`trodden.profile.trace.grammar_in_c` makes the same grammar faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class _Node:
    """A symbol in the body of a rule, ``times`` in a row: a terminal, or the use of a ``rule``.

    The guard of a body, between its last symbol and its first, ``guards`` its rule.  A node that was removed
    has no ``times``.
    """

    __slots__ = ("after", "before", "guards", "rule", "terminal", "times")

    def __init__(self, terminal: int, times: int, rule: _Rule | None = None) -> None:
        self.terminal = terminal
        self.times = times
        self.rule = rule
        self.guards: _Rule | None = None
        self.before = self
        self.after = self

    @property
    def symbol(self) -> int:
        return self.terminal if self.rule is None else -1 - self.rule.number

    def follows_itself(self) -> bool:
        return self.guards is None and self.after.guards is None and self.symbol == self.after.symbol


class _Rule:
    __slots__ = ("guard", "number", "uses")

    def __init__(self, number: int) -> None:
        self.number = number
        self.uses = 0
        self.guard = _Node(0, 1)
        self.guard.guards = self

    def nodes(self) -> Iterator[_Node]:
        node = self.guard.after
        while node is not self.guard:
            yield node
            node = node.after


class Part(NamedTuple):
    """A symbol of a rule: a terminal, or a rule by its number, ``times`` in a row."""

    terminal: int | None
    rule: int | None
    times: int


Rules = dict[int, tuple[Part, ...]]


class Grammar(NamedTuple):
    """The rules by their numbers, 0 is the whole; and how many terminals each stands for, and how often."""

    rules: Rules
    lengths: dict[int, int]
    uses: dict[int, int]


def grammar_of(terminals: Iterable[int]) -> Grammar:
    """The grammar of a sequence of numbers, which are not negative."""
    sequitur = Sequitur()
    for terminal in terminals:
        sequitur.append(terminal)
    return sequitur.grammar()


class Sequitur:
    """A grammar that grows with its sequence."""

    def __init__(self, most: int | None = None) -> None:
        """It is full when it has ``most`` symbols."""
        self._most = most
        self._size = 0
        self._whole = _Rule(0)
        self._made = 0
        self._run: _Node | None = None
        self._digrams: dict[tuple[int, int, int, int], _Node] = {}
        self._unchecked: list[_Node] = []

    def append(self, terminal: int, times: int = 1) -> bool:
        """Read the next symbol, so many times, unless the grammar is full.

        What follows itself is not part of the grammar before its number is known.
        """
        if self._run is not None and self._run.terminal == terminal:
            self._run.times += times
            return True
        if self._most is not None and self._size >= self._most:
            return False
        self._end_run()
        self._run = _Node(terminal, times)
        return True

    def _end_run(self) -> None:
        if self._run is None:
            return
        last = self._whole.guard.before
        self._insert(last, self._run)
        self._run = None
        self._unchecked.append(last)
        while self._unchecked:
            self._check(self._unchecked.pop())

    def _insert(self, place: _Node, node: _Node) -> None:
        """Behind ``place``, whose digram is not known any more."""
        if node.rule is not None:
            node.rule.uses += 1
        self._size += 1
        _link(node, place.after)
        _link(place, node)

    def _remove(self, node: _Node) -> None:
        if node.rule is not None:
            node.rule.uses -= 1
        self._size -= 1
        node.times = 0
        _link(node.before, node.after)

    def _forget(self, node: _Node) -> None:
        """The digram that starts at a node is taken apart."""
        if node.guards is None and node.after.guards is None:
            key = _digram(node)
            if self._digrams.get(key) is node:
                del self._digrams[key]

    def _check(self, node: _Node) -> None:
        """If the digram at a node occurs elsewhere, both become uses of a rule."""
        if not node.times or node.guards is not None or node.after.guards is not None:
            return
        known = self._digrams.setdefault(_digram(node), node)
        if known is not node:
            self._match(node, known)

    def _match(self, node: _Node, known: _Node) -> None:
        rule = known.before.guards
        if rule is None or rule is self._whole or known.after.after.guards is None:
            self._made += 1
            rule = _Rule(self._made)
            for each in (node, node.after):
                self._insert(rule.guard.before, _Node(each.terminal, each.times, each.rule))
            self._digrams[_digram(node)] = rule.guard.after
            self._replace(known, rule)
        self._replace(node, rule)
        for at_end in (rule.guard.after, rule.guard.before):
            if at_end.times == 1 and at_end.rule is not None and at_end.rule.uses == 1:
                self._expand(at_end)

    def _replace(self, node: _Node, rule: _Rule) -> None:
        """The digram at a node becomes a use of the rule."""
        place = node.before
        for each in (place, node, node.after):
            self._forget(each)
        self._remove(node.after)
        self._remove(node)
        self._insert(place, _Node(0, 1, rule))
        self._join(place.after)
        self._join(place)

    def _join(self, node: _Node) -> None:
        """A node and the one behind it become one, if their symbol is the same; their digrams are checked."""
        if node.follows_itself():
            following = node.after
            for each in (node.before, node, following):
                self._forget(each)
            node.times += following.times
            self._remove(following)
            self._unchecked.append(node.before)
        self._unchecked.append(node)

    def _expand(self, node: _Node) -> None:
        """A rule that is used once is replaced by its body."""
        rule = node.rule
        assert rule is not None
        left, right = node.before, node.after
        first, last = rule.guard.after, rule.guard.before
        self._forget(left)
        self._forget(node)
        self._remove(node)
        _link(left, first)
        _link(last, right)
        self._join(last)
        self._join(left)

    def grammar(self) -> Grammar:
        """The rules that are left, numbered from the top."""
        self._end_run()
        numbers: dict[int, int] = {0: 0}
        rules: Rules = {}
        pending = [self._whole]
        for rule in pending:
            parts: list[Part] = []
            for node in rule.nodes():
                number = None
                if node.rule is not None:
                    if node.rule.number not in numbers:
                        numbers[node.rule.number] = len(numbers)
                        pending.append(node.rule)
                    number = numbers[node.rule.number]
                parts.append(Part(node.terminal if number is None else None, number, node.times))
            rules[numbers[rule.number]] = tuple(parts)
        return with_totals(rules)


def _link(left: _Node, right: _Node) -> None:
    left.after = right
    right.before = left


def _digram(node: _Node) -> tuple[int, int, int, int]:
    return node.symbol, node.times, node.after.symbol, node.after.times


def with_totals(rules: Rules) -> Grammar:
    """The grammar with these rules."""
    return Grammar(rules, _lengths(rules), _uses(rules))


def _inner_first(rules: Rules) -> list[int]:
    """All rules, each after those that it uses."""
    order: list[int] = []
    seen = {0}
    stack = [(0, iter(rules[0]))]
    while stack:
        number, rest = stack[-1]
        for part in rest:
            if part.rule is not None and part.rule not in seen:
                seen.add(part.rule)
                stack.append((part.rule, iter(rules[part.rule])))
                break
        else:
            order.append(number)
            stack.pop()
    return order


def _lengths(rules: Rules) -> dict[int, int]:
    lengths: dict[int, int] = {}
    for number in _inner_first(rules):
        lengths[number] = sum(
            part.times * (1 if part.rule is None else lengths[part.rule]) for part in rules[number]
        )
    return lengths


def _uses(rules: Rules) -> dict[int, int]:
    """How often each rule is repeated in the whole sequence."""
    uses = dict.fromkeys(rules, 0)
    uses[0] = 1
    for number in reversed(_inner_first(rules)):
        for part in rules[number]:
            if part.rule is not None:
                uses[part.rule] += part.times * uses[number]
    return uses
