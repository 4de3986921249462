"""A whole trace as a grammar in which what is repeated is a rule (whole program paths, Larus 1999).

Sequitur (Nevill-Manning and Witten 1997) reads the sequence once, in linear time, and keeps two properties:
no two neighbours occur twice in the grammar, and every rule is used at least twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class _Node:
    """A symbol in the body of a rule: a terminal, the use of a ``rule``, or the guard of a rule's body."""

    __slots__ = ("after", "before", "guards", "rule", "terminal")

    def __init__(self, terminal: int, rule: _Rule | None = None) -> None:
        self.terminal = terminal
        self.rule = rule
        self.guards: _Rule | None = None
        self.before = self
        self.after = self

    @property
    def key(self) -> int:
        return self.terminal if self.rule is None else -1 - self.rule.number


class _Rule:
    __slots__ = ("guard", "number", "uses")

    def __init__(self, number: int) -> None:
        self.number = number
        self.uses = 0
        self.guard = _Node(0)
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


class Grammar(NamedTuple):
    """The rules by their numbers, 0 is the whole; and how many terminals each stands for, and how often."""

    rules: dict[int, tuple[Part, ...]]
    lengths: dict[int, int]
    uses: dict[int, int]


def grammar_of(terminals: Iterable[int]) -> Grammar:
    """The grammar of a sequence of numbers, which are not negative."""
    sequitur = _Sequitur()
    for terminal in terminals:
        sequitur.append(terminal)
    return sequitur.grammar()


class _Sequitur:
    def __init__(self) -> None:
        self._whole = _Rule(0)
        self._made = 0
        self._digrams: dict[tuple[int, int], _Node] = {}

    def append(self, terminal: int) -> None:
        """Read the next symbol."""
        node = _Node(terminal)
        self._insert(self._whole.guard.before, node)
        if node.before is not self._whole.guard:
            self._check(node.before)

    def _insert(self, place: _Node, node: _Node) -> None:
        if node.rule is not None:
            node.rule.uses += 1
        following = place.after
        node.after = following
        following.before = node
        self._join(place, node, following)

    def _join(self, left: _Node, right: _Node, formerly: _Node) -> None:
        """Link two symbols; so far ``formerly`` has followed the left one."""
        self._forget(left, formerly)
        # Of three equal symbols in a row only one digram is known: the other takes its place.
        if right.before is not right and _are_alike(right.before, right, right.after):
            self._digrams[right.key, right.after.key] = right
        if _are_alike(left.before, left, formerly):
            self._digrams[left.before.key, left.key] = left.before
        left.after = right
        right.before = left

    def _forget(self, node: _Node, following: _Node) -> None:
        """The digram of two nodes is taken apart."""
        if node.guards is None and following.guards is None:
            key = node.key, following.key
            if self._digrams.get(key) is node:
                del self._digrams[key]

    def _remove(self, node: _Node) -> None:
        self._join(node.before, node.after, node)
        self._forget(node, node.after)
        if node.rule is not None:
            node.rule.uses -= 1

    def _check(self, node: _Node) -> bool:
        """Whether the digram at a node occurs elsewhere; then both become uses of a rule."""
        if node.guards is not None or node.after.guards is not None:
            return False
        key = node.key, node.after.key
        known = self._digrams.get(key)
        if known is None:
            self._digrams[key] = node
            return False
        if known.after is not node:
            self._match(node, known)
        return True

    def _match(self, node: _Node, known: _Node) -> None:
        if known.before.guards is not None and known.after.after.guards is not None:
            rule = known.before.guards
            self._replace(node, rule)
        else:
            self._made += 1
            rule = _Rule(self._made)
            for each in (node, node.after):
                self._insert(rule.guard.before, _Node(each.terminal, each.rule))
            self._replace(known, rule)
            self._replace(node, rule)
            self._digrams[rule.guard.after.key, rule.guard.after.after.key] = rule.guard.after
        first = rule.guard.after
        if first.rule is not None and first.rule.uses == 1:
            self._expand(first)

    def _replace(self, node: _Node, rule: _Rule) -> None:
        """The digram at a node becomes a use of the rule."""
        place = node.before
        self._remove(place.after)
        self._remove(place.after)
        self._insert(place, _Node(0, rule))
        if not self._check(place):
            self._check(place.after)

    def _expand(self, node: _Node) -> None:
        """A rule that is used once is replaced by its body."""
        rule = node.rule
        assert rule is not None
        left, right = node.before, node.after
        first, last = rule.guard.after, rule.guard.before
        self._forget(node, right)
        self._join(left, first, node)
        self._join(last, right, rule.guard)
        if right.guards is None:
            self._digrams[last.key, right.key] = last

    def grammar(self) -> Grammar:
        """The rules that are left, numbered from the top."""
        numbers: dict[int, int] = {0: 0}
        rules: dict[int, tuple[Part, ...]] = {}
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
                part = Part(node.terminal if number is None else None, number, 1)
                if parts and parts[-1][:2] == part[:2]:
                    parts[-1] = part._replace(times=parts[-1].times + 1)
                else:
                    parts.append(part)
            rules[numbers[rule.number]] = tuple(parts)
        return Grammar(rules, _lengths(rules), _uses(rules))


def _are_alike(before: _Node, node: _Node, after: _Node) -> bool:
    if before.guards is not None or node.guards is not None or after.guards is not None:
        return False
    return before.key == node.key == after.key


def _inner_first(rules: dict[int, tuple[Part, ...]]) -> list[int]:
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


def _lengths(rules: dict[int, tuple[Part, ...]]) -> dict[int, int]:
    lengths: dict[int, int] = {}
    for number in _inner_first(rules):
        lengths[number] = sum(
            part.times * (1 if part.rule is None else lengths[part.rule]) for part in rules[number]
        )
    return lengths


def _uses(rules: dict[int, tuple[Part, ...]]) -> dict[int, int]:
    """How often each rule is repeated in the whole sequence."""
    uses = dict.fromkeys(rules, 0)
    uses[0] = 1
    for number in reversed(_inner_first(rules)):
        for part in rules[number]:
            if part.rule is not None:
                uses[part.rule] += part.times * uses[number]
    return uses
