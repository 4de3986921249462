"""The calls of a thread as a grammar, from the top down: so that a long run can be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trodden.profile.trace.grammar import Grammar, Part, grammar_of
from trodden.profile.trace.threads import ThreadTrace
from trodden.recover.trace.events import Event, Kind

_ENDS = frozenset({Kind.LEAVE, Kind.UNWOUND, Kind.SUSPENDED})
_BEGINS = frozenset({Kind.ENTER, Kind.ACTIVE})
CALL_KINDS = (*_BEGINS, *_ENDS)
_MOST_DEPTH = 40


def calls_only(thread: ThreadTrace) -> ThreadTrace:
    """The thread without its blocks, which the reader in C leaves out."""
    return thread.only(lambda number: bytes(thread.program.facts(number).graph.exit), CALL_KINDS)


def repeats(thread: ThreadTrace, events: Iterable[Event]) -> Iterator[str]:
    """The rules of the grammar of a thread's calls, line by line."""
    grammar = grammar_of(_terminals(events))
    for number, parts in grammar.rules.items():
        yield _title(grammar, number)
        depth = 1
        for part in parts:
            ends = part.terminal is not None and part.terminal % 2
            depth = max(depth - part.times, 1) if ends else depth
            yield f"{'  ' * min(depth, _MOST_DEPTH)}{_text(thread, grammar, part)}"
            begins = part.terminal is not None and not part.terminal % 2
            depth += part.times if begins else 0


def _terminals(events: Iterable[Event]) -> Iterator[int]:
    """A call of a function is an even number, the end of one an odd one."""
    for event in events:
        if event.kind in _BEGINS:
            yield 2 * event.function
        elif event.kind in _ENDS:
            yield 2 * event.function + 1


def _title(grammar: Grammar, number: int) -> str:
    if number == 0:
        return f"whole: {grammar.lengths[0]:,} calls and returns"
    return f"R{number}: {grammar.uses[number]:,} times, {grammar.lengths[number]:,} calls and returns each"


def _text(thread: ThreadTrace, grammar: Grammar, part: Part) -> str:
    times = f" x {part.times:,}" if part.times > 1 else ""
    if part.rule is not None:
        return f"R{part.rule}{times} ({part.times * grammar.lengths[part.rule]:,})"
    assert part.terminal is not None
    name = thread.program.facts(part.terminal // 2).name
    return f"{'end of ' if part.terminal % 2 else ''}{name}{times}"
