"""The grammar that C makes is the one that Python makes."""

from __future__ import annotations

import ctypes

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.trace.test_grammar import sequences
from tests.recover.trace.programs import library
from trodden.profile.trace.grammar_in_c import CompiledGrammar, EventGrammar, What, meaning, symbol
from trodden.recover.trace.events import Event, Kind
from trodden.recover.trace.library import EventRow


def _events(sequence: list[int]) -> list[Event]:
    """Blocks, some of them executed again at once, in between calls and returns."""
    kinds = (Kind.BLOCK, Kind.ENTER, Kind.LEAVE, Kind.BLOCK)
    return [
        Event(kinds[each], 0, each % 2, 7 * each, each if kinds[each] == Kind.BLOCK else 0, position)
        for position, each in enumerate(sequence)
    ]


def _packed(events: list[Event]) -> bytes:
    return bytes((EventRow * len(events))(*(EventRow(*event) for event in events)))


@settings(max_examples=500)
@given(sequences(), st.integers(1, 50), st.integers(0, 20), st.integers(0, 100))
def test_both_make_the_same_grammar(sequence: list[int], batch: int, low: int, length: int) -> None:
    events = _events(sequence)
    reference, compiled = EventGrammar(low, low + length), CompiledGrammar(library(), low, low + length)
    one_by_one = CompiledGrammar(library(), low, low + length)
    for event in events:
        reference.add(event)
        one_by_one.add(event)
    for start in range(0, len(events), batch):
        compiled.append(_packed(events[start : start + batch]))
    assert compiled.grammar() == reference.grammar() == one_by_one.grammar()


@settings(max_examples=200)
@given(st.lists(st.integers(0, 3), max_size=200), st.integers(2, 12))
def test_both_stop_where_a_grammar_is_full(sequence: list[int], most: int) -> None:
    events = _events(sequence)
    reference, compiled = EventGrammar(most=most), CompiledGrammar(library(), most=most)
    for event in events:
        reference.add(event)
    compiled.append(_packed(events))
    assert compiled.stopped_at == reference.stopped_at
    assert compiled.grammar() == reference.grammar()


def test_a_long_sequence_without_repetition_grows_the_tables() -> None:
    state, sequence = 1, []
    for _ in range(60_000):
        state = state * 1664525 + 1013904223 & 0xFFFFFFFF
        sequence.append(Event(Kind.ENTER, 0, state >> 27, 0, 0, 0))
    reference, compiled = EventGrammar(), CompiledGrammar(library())
    for event in sequence:
        reference.add(event)
    compiled.append(_packed(sequence))
    assert compiled.grammar() == reference.grammar()


def test_symbols_say_what_they_stand_for() -> None:
    assert ctypes.sizeof(EventRow) == 32
    for what in What:
        assert meaning(symbol(what, (1 << 24) - 1, (1 << 32) - 1)) == (what, (1 << 24) - 1, (1 << 32) - 1)
