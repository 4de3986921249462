"""A grammar stands for its sequence, and has the two properties of Sequitur."""

from __future__ import annotations

from collections import Counter
from itertools import chain, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from trodden.profile.trace.grammar import Grammar, grammar_of


def expanded(grammar: Grammar, number: int = 0) -> list[int]:
    found: list[int] = []
    for part in grammar.rules[number]:
        one = expanded(grammar, part.rule) if part.rule is not None else [part.terminal or 0]
        found += one * part.times
    return found


def sequences() -> st.SearchStrategy[list[int]]:
    """Few symbols, in loops that are repeated inside of others."""
    flat = st.lists(st.integers(0, 3), max_size=12)
    return st.recursive(
        flat,
        lambda inner: st.lists(
            st.tuples(inner, st.integers(1, 5)).map(lambda repeated: repeated[0] * repeated[1]), max_size=4
        ).map(lambda parts: list(chain.from_iterable(parts))),
        max_leaves=12,
    )


@settings(max_examples=500)
@given(sequences())
def test_the_sequence_follows_from_its_grammar(sequence: list[int]) -> None:
    grammar = grammar_of(sequence)
    assert expanded(grammar) == sequence
    assert grammar.lengths[0] == len(sequence)
    used = Counter[int | None]()
    for parts in grammar.rules.values():
        for part in parts:
            used[part.rule] += part.times
    for number in grammar.rules:
        assert number == 0 or used[number] >= 2
        assert grammar.lengths[number] == len(expanded(grammar, number))


@settings(max_examples=500)
@given(sequences())
def test_nothing_occurs_twice(sequence: list[int]) -> None:
    digrams = Counter(digram for parts in grammar_of(sequence).rules.values() for digram in pairwise(parts))
    assert not digrams or max(digrams.values()) == 1
    assert all(one[:2] != other[:2] for one, other in digrams)


def test_a_loop_is_one_symbol_however_often_it_iterates() -> None:
    grammar = grammar_of([0, *[1, 2, 3] * 1000, 4, *[5] * 70])
    assert grammar.rules[0] == ((0, None, 1), (None, 1, 1000), (4, None, 1), (5, None, 70))
    assert grammar.rules[1] == ((1, None, 1), (2, None, 1), (3, None, 1))
    assert grammar.uses[1] == 1000


def test_loops_inside_of_loops() -> None:
    inner = [1, *[2, 3] * 10, 4]
    grammar = grammar_of(inner * 100)
    assert [len(parts) for parts in grammar.rules.values()] == [1, 3, 2]
    assert grammar.rules[0] == ((None, 1, 100),)
    assert grammar.uses[2] == 1000
