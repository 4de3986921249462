"""The source lines that a thread executed last, from its trace: only as much of that is read as is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from trodden.profile.trace.threads import ThreadTrace
from trodden.recover.trace.events import Event, Kind
from trodden.report.narrate.source_index import SourceIndex

MOST_BLOCKS = 1 << 17
"""So many blocks are looked at, even if they are all of one line."""


@dataclass(frozen=True)
class LineRow:
    """A line that was executed ``times`` times in a row; ``exact`` is false if that may be more.

    ``depth`` is the number of active functions with probes below its own.  ``text`` is ``None`` if the source
    is not available.
    """

    function: str
    depth: int
    file: str
    line: int
    text: str | None
    times: int
    exact: bool = True

    def to_document(self) -> dict[str, Any]:
        """The row as dictionaries and lists."""
        return dict(vars(self))


def last_lines(
    thread: ThreadTrace, index: SourceIndex, most: int, reached: int | None
) -> tuple[LineRow, ...]:
    """At most so many lines, the oldest first; of the last block only the first ``reached``, if given."""
    found: list[LineRow] = []
    blocks = (event for event in thread.backwards() if event.kind == Kind.BLOCK)
    for event in islice(blocks, MOST_BLOCKS):
        for row in _backwards(thread, event, index, reached):
            if found and replace(row, times=found[-1].times) == found[-1]:
                found[-1] = replace(row, times=row.times + found[-1].times)
            elif len(found) == most:
                return tuple(reversed(found))
            else:
                found.append(row)
        reached = None
    if found and next(blocks, None) is not None:
        found[-1] = replace(found[-1], exact=False)
    return tuple(reversed(found))


def _backwards(
    thread: ThreadTrace, event: Event, index: SourceIndex, reached: int | None
) -> Iterator[LineRow]:
    facts, files = thread.program.facts(event.function), thread.program.unit(event.function).files
    for ref in reversed(facts.blocks[event.block].lines[:reached]):
        if ref.line > 0:
            path = files[ref.file].path
            text = index.text(path, ref.line)
            yield LineRow(facts.name, event.depth, path, ref.line, text, 1 + event.value)
