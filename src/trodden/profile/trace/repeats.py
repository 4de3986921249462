"""What a thread has executed as a grammar, from the top down: so that a long run can be read.

Its symbols are calls and returns, on demand blocks too (whole program paths, Larus 1999).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from trodden.profile.trace.executed import Texts
from trodden.profile.trace.grammar import Grammar, Part
from trodden.profile.trace.grammar_in_c import CALL_KINDS, What, meaning
from trodden.profile.trace.threads import ThreadTrace

_MOST_DEPTH = 40


def calls_only(thread: ThreadTrace) -> ThreadTrace:
    """The thread without its blocks, which the reader in C leaves out."""
    return thread.only(lambda number: bytes(thread.program.facts(number).graph.exit), CALL_KINDS)


class Repeats:
    """The rules of the grammar of a thread as text; ``counted`` says what its symbols are."""

    def __init__(self, thread: ThreadTrace, grammar: Grammar, counted: str = "calls and returns") -> None:
        self._texts = Texts(thread)
        self._program = thread.program
        self._grammar = grammar
        self._counted = counted

    def lines(self) -> Iterator[str]:
        """Rule by rule, each with what it consists of, indented by the depth of calls."""
        for number, parts in self._grammar.rules.items():
            yield self._title(number)
            yield from self._body(parts)

    def _body(self, parts: Sequence[Part]) -> Iterator[str]:
        depth = 1
        returned = False
        for part, following in zip_longest(parts, parts[1:]):
            if returned:
                returned = False
                continue
            what, function, _ = _meaning(part)
            depth = max(depth - part.times, 1) if what is What.END else depth
            yield f"{'  ' * min(depth, _MOST_DEPTH)}{self._text(part)}"
            if what is What.BEGIN:
                # That nothing was called from there goes without saying.
                returned = following is not None and part.times == following.times == 1
                returned &= _meaning(following)[:2] == (What.END, function)
                depth += 0 if returned else part.times

    def _title(self, number: int) -> str:
        length = self._grammar.lengths[number]
        if number == 0:
            return f"whole: {length:,} {self._counted}"
        return f"R{number}: {self._grammar.uses[number]:,} times, {length:,} {self._counted} each"

    def _text(self, part: Part) -> str:
        times = f" x {part.times:,}" if part.times > 1 else ""
        if part.rule is not None:
            return f"R{part.rule}{times} ({part.times * self._grammar.lengths[part.rule]:,})"
        what, function, block = _meaning(part)
        if what is What.BLOCK:
            text = self._texts.of(function, block)
            lines = dict.fromkeys(f"{file.rpartition('/')[2]}:{line}" for file, line in text.lines)
            return f"{text.label} {', '.join(lines)}".rstrip() + times
        return f"{'end of ' if what is What.END else ''}{self._program.facts(function).name}{times}"


def _meaning(part: Part | None) -> tuple[What | None, int, int]:
    """What a terminal stands for, of which function, and the block."""
    return (None, 0, 0) if part is None or part.terminal is None else meaning(part.terminal)
