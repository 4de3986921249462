"""A grammar stands for its sequence, and has the two properties of Sequitur."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from trodden.profile.trace.grammar import Grammar, grammar_of


def expanded(grammar: Grammar, number: int = 0) -> list[int]:
    found: list[int] = []
    for part in grammar.rules[number]:
        one = expanded(grammar, part.rule) if part.rule is not None else [part.terminal or 0]
        found += one * part.times
    return found


@settings(max_examples=300)
@given(st.lists(st.integers(0, 3), max_size=200))
def test_the_sequence_follows_from_its_grammar(sequence: list[int]) -> None:
    grammar = grammar_of(sequence)
    assert expanded(grammar) == sequence
    assert grammar.lengths[0] == len(sequence)
    used = Counter(part.rule for parts in grammar.rules.values() for part in parts for _ in range(part.times))
    for number in grammar.rules:
        assert number == 0 or used[number] >= 2
        assert grammar.lengths[number] == len(expanded(grammar, number))


def test_what_is_repeated_is_a_rule() -> None:
    grammar = grammar_of([1, 2, 3] * 64)
    assert len(grammar.rules) <= 8
    assert grammar.lengths[0] == 192
    assert max(grammar.uses[number] for number in grammar.rules if grammar.lengths[number] == 3) == 64
