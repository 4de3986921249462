"""The grammar of the events of a thread, made by the library in C where that is there.

Both ways it is the one that :mod:`trodden.profile.trace.grammar` makes of the same symbols.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_uint64
from enum import IntEnum
from itertools import groupby
from pathlib import Path

from trodden.profile.trace.grammar import Grammar, Part, Rules, Sequitur, with_totals
from trodden.recover.trace.events import Event, Kind
from trodden.recover.trace.library import EventRow, load_library

MOST_SYMBOLS = 1 << 20
"""So many symbols of a grammar take some 150 MB until they are shown."""

_BEGINS = frozenset({Kind.ENTER, Kind.ACTIVE})
_ENDS = frozenset({Kind.LEAVE, Kind.UNWOUND, Kind.SUSPENDED})
CALL_KINDS = (*_BEGINS, *_ENDS)
_WHAT, _FUNCTION = 60, 32
_RULE = 1 << 63
MOST_BLOCKS = 1 << 63
"""A position that no event has."""
_EVENT_SIZE = ctypes.sizeof(EventRow)


class What(IntEnum):
    """What a symbol stands for: that a function begins or ends, or that a block was executed."""

    BEGIN = 0
    END = 1
    BLOCK = 2


def symbol(what: What, function: int, block: int = 0) -> int:
    """The symbol of an event."""
    return what << _WHAT | function << _FUNCTION | block


def meaning(terminal: int) -> tuple[What, int, int]:
    """What a symbol stands for, of which function, and the block."""
    function = terminal >> _FUNCTION & ((1 << _WHAT - _FUNCTION) - 1)
    return What(terminal >> _WHAT), function, terminal & ((1 << _FUNCTION) - 1)


class EventGrammar:
    """The grammar of the events from block ``low`` up to block ``high``.

    ``stopped_at`` is the position of the first event for which there was no room, ``damaged`` are the events
    that say where the trace is damaged.
    """

    def __init__(self, low: int = 0, high: int = MOST_BLOCKS, most: int = MOST_SYMBOLS) -> None:
        self.stopped_at: int | None = None
        self.damaged: list[Event] = []
        self._low = low
        self._high = high
        self._sequitur = Sequitur(most)

    def add(self, event: Event) -> None:
        """Read the next event."""
        if event.kind == Kind.DAMAGED:
            self.damaged.append(event)
        found = _symbol_of(event)
        if found is None or self.stopped_at is not None or not self._low <= event.position < self._high:
            return
        if not self._append(found, 1 + event.value if event.kind == Kind.BLOCK else 1):
            self.stopped_at = event.position

    def _append(self, terminal: int, times: int) -> bool:
        return self._sequitur.append(terminal, times)

    def grammar(self) -> Grammar:
        """The grammar of what was read."""
        return self._sequitur.grammar()


class CompiledGrammar(EventGrammar):
    """The same in C, which also reads batches of events as they lie in memory."""

    def __init__(
        self, library: Path, low: int = 0, high: int = MOST_BLOCKS, most: int = MOST_SYMBOLS
    ) -> None:
        super().__init__(low, high, most)
        self._c = load_library(library)
        self._grammar = self._c.trodden_trace_grammar_new(most)
        if not self._grammar:
            raise MemoryError

    def __del__(self) -> None:
        if getattr(self, "_grammar", None):
            self._c.trodden_trace_grammar_free(self._grammar)

    def append(self, packed: bytes) -> None:
        """Read a batch of events."""
        number, read = len(packed) // _EVENT_SIZE, 0
        address = ctypes.cast(ctypes.c_char_p(packed), ctypes.c_void_p).value or 0
        while self.stopped_at is None and read < number:
            read += self._c.trodden_trace_grammar_events(
                self._grammar, address + read * _EVENT_SIZE, number - read, self._low, self._high
            )
            if read < number:
                row = EventRow.from_buffer_copy(packed, read * _EVENT_SIZE)
                event = Event(row.kind, row.depth, row.function, row.block, row.value, row.position)
                if event.kind == Kind.DAMAGED:
                    self.damaged.append(event)
                    read += 1
                else:
                    self.stopped_at = event.position

    def _append(self, terminal: int, times: int) -> bool:
        return bool(self._c.trodden_trace_grammar_append(self._grammar, terminal, times))

    def grammar(self) -> Grammar:
        """The grammar of what was read."""
        size = self._c.trodden_trace_grammar_size(self._grammar)
        flat = (c_uint64 * (3 * size))()
        self._c.trodden_trace_grammar_parts(self._grammar, flat)
        rows = zip(flat[::3], flat[1::3], flat[2::3], strict=True)
        rules = groupby(rows, lambda row: row[0])
        bodies = {rule: [(one, times) for _, one, times in some] for rule, some in rules}
        return _from_the_top(bodies)


def _symbol_of(event: Event) -> int | None:
    if event.kind == Kind.BLOCK:
        return symbol(What.BLOCK, event.function, event.block)
    if event.kind in _BEGINS:
        return symbol(What.BEGIN, event.function)
    return symbol(What.END, event.function) if event.kind in _ENDS else None


def _from_the_top(bodies: dict[int, list[tuple[int, int]]]) -> Grammar:
    """The rules by numbers in the order in which they are used first."""
    numbers = {0: 0}
    rules: Rules = {}
    pending = [0]
    for rule in pending:
        rules[numbers[rule]] = tuple(_parts(bodies.get(rule, ()), numbers, pending))
    return with_totals(rules)


def _parts(body: Sequence[tuple[int, int]], numbers: dict[int, int], pending: list[int]) -> list[Part]:
    found = []
    for one, times in body:
        rule = one - _RULE if one >= _RULE else None
        if rule is not None and rule not in numbers:
            numbers[rule] = len(numbers)
            pending.append(rule)
        found.append(Part(one if rule is None else None, None if rule is None else numbers[rule], times))
    return found
