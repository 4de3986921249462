"""What each thread has executed line by line: as a trace says it, and as the program has recorded it.

Every line that stands alone with its ``HIT();`` is compared, at any level of optimisation.  A signal handler
is in the trace behind the last record of the code that it has interrupted, which may have executed more
blocks since.  So its lines are compared apart from those of that code, and those of the function that both
jump by apart from either.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from tests.fuzz.counting.observed import Line, Observed
from tests.fuzz.counting.program import Program
from trodden.profile.model import Profile
from trodden.profile.trace.executed import Executed, Selection, executed
from trodden.profile.trace.reading import ThreadEvent

ALONE = re.compile(r"^\s*(?:HIT|MARK)\(\);$")
_HANDLER = re.compile(r"^static .*\b(?:handled|on_signal)\(int number\) \{")
_LEFT = re.compile(r"^static .*\bleave\(int way\) \{")
_JUMPING = "#define JUMPING 1"
_SHOWN = 12
_MOST_UNKNOWN = 2000
"""Lines that a thread executes without writing a record, at most."""

Lines = tuple[Line, ...]


def compare_sequences(
    program: Program, seen: Observed, profile: Profile, compared: Counter[str]
) -> Iterator[tuple[str, object, object]]:
    """What differs: where, how it goes on in the trace, and in the program's own record."""
    yield from unequal_sequences(program, seen, _told(program, profile), compared)


def unequal_sequences(
    program: Program, seen: Observed, told: Mapping[int, Sequence[Lines]], compared: Counter[str]
) -> Iterator[tuple[str, object, object]]:
    """The same for the lines of each thread by process, however these were regenerated."""
    if seen.sequences is None:
        return
    chosen = _Chosen(program)
    for process in sorted(seen.sequences.keys() | told.keys()):
        for what, lines in chosen.kinds.items():
            own = [_only(each, lines) for each in seen.sequences.get(process, ())]
            traced = [_only(each, lines) for each in told.get(process, ())]
            compared["lines in order"] += sum(map(len, own))
            for one, other in _unmatched(program, traced, own):
                at = _common(one, other)
                yield f"{what} from line {at} on", _text(one[at:]), _text(other[at:])


def _unmatched(program: Program, traced: list[Lines], own: list[Lines]) -> Iterator[tuple[Lines, Lines]]:
    """Threads of the trace, each with the most similar one of the program, as far as they differ."""
    left = sorted(own)
    for one in sorted(traced, key=len, reverse=True):
        best = max(left, key=lambda each: (_common(one, each), -len(each)), default=())
        if best in left:
            left.remove(best)
        if not _agree(program, one, best):
            yield one, best
    for other in left:
        if not _agree(program, (), other):
            yield (), other


def _agree(program: Program, traced: Lines, own: Lines) -> bool:
    """Whether they are the same.

    One that was stopped anywhere may not have written its last record; and where the process has ended in the
    middle of a block, all of its lines belong to the trace.
    """
    if program.exact and not program.features.faults and program.end != "fault":
        return traced == own
    common = _common(traced, own)
    stopped = _MOST_UNKNOWN if not program.exact else 0
    return len(own) - common <= stopped and len(traced) - common <= _SHOWN


def _common(one: Sequence[Line], other: Sequence[Line]) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _text(lines: Lines) -> str:
    more = " …" if len(lines) > _SHOWN else ""
    return " ".join(f"{file}:{line}" for file, line in lines[:_SHOWN]) + more or "nothing"


def _only(lines: Sequence[Line], chosen: frozenset[Line]) -> Lines:
    return tuple(line for line in lines if line in chosen)


class _Chosen:
    """The lines that are compared with one another."""

    def __init__(self, program: Program) -> None:
        texts = (program.first, program.second)
        alone = {
            (number, index)
            for number, text in enumerate(texts)
            for index, line in enumerate(text.splitlines(), 1)
            if ALONE.match(line)
        }
        self.kinds = {"order": frozenset(alone)}
        if program.features.signals:
            handlers, jumps = (alone & set(_lines_of(texts, each)) for each in (_HANDLER, _LEFT))
            shared = jumps if any(_JUMPING in text for text in texts) else set()
            self.kinds = {
                "order": frozenset(alone - handlers - shared),
                "order in handlers": frozenset(handlers),
                "jumps": frozenset(shared),
            }


def _lines_of(texts: Sequence[str], header: re.Pattern[str]) -> Iterator[Line]:
    """Those of some functions."""
    for number, text in enumerate(texts):
        yield from _lines_in(number, text, header)


def _lines_in(number: int, text: str, header: re.Pattern[str]) -> Iterator[Line]:
    inside = False
    for index, line in enumerate(text.splitlines(), 1):
        inside = bool(header.match(line)) or (inside and line != "}")
        if inside:
            yield number, index


def _told(program: Program, profile: Profile) -> dict[int, list[Lines]]:
    """The lines of each thread by process, as ``trodden replay`` shows them."""
    found: dict[int, list[Lines]] = defaultdict(list)
    for thread in profile.trace.threads:
        rows = executed((ThreadEvent(thread, event) for event in thread.events()), Selection())
        found[thread.process.pid].append(tuple(lines_of(program, rows)))
    return found


def lines_of(program: Program, rows: Iterable[Executed]) -> Iterator[Line]:
    """The lines of a program's files, those of a block again for each time that it was executed again."""
    files = {f"{stem}.{program.suffix}": number for number, stem in enumerate(("first", "second"))}
    for _, rows_of_block in groupby(rows, key=lambda row: row.position):
        block = list(rows_of_block)
        numbered = [(files.get(Path(row.file).name), row.line) for row in block]
        for _ in range(1 + block[0].again):
            yield from ((number, line) for number, line in numbered if number is not None)
