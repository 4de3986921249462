"""The source lines that a thread executed last, from its trace: only as much of that is read as is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from trodden.profile.trace.executed import Selection, executed
from trodden.profile.trace.reading import ThreadEvent
from trodden.profile.trace.threads import ThreadTrace
from trodden.recover.trace.events import Kind
from trodden.report.narrate.source_index import SourceIndex

MOST_BLOCKS = 1 << 17
"""So many blocks are looked at, even if they are all of one line."""


@dataclass(frozen=True)
class LineRow:
    """A line that was executed ``times`` times in a row; ``exact`` is false if that may be more.

    It may have several blocks, so that it was executed as often as that of them that was most often.
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


@dataclass(frozen=True)
class LastLines:
    """The lines, the oldest first; ``up_to_end`` is false if the trace ends before its thread does."""

    rows: tuple[LineRow, ...] = ()
    up_to_end: bool = True


def last_lines(thread: ThreadTrace, index: SourceIndex, most: int) -> LastLines:
    """At most so many lines; of the last block only those that control had reached."""
    found: list[LineRow] = []
    by_block = Counter[str]()
    blocks = 0
    up_to_end = not thread.process.stopped

    def counted() -> Iterator[ThreadEvent]:
        nonlocal blocks, up_to_end
        for event in thread.backwards():
            if not blocks and event.kind == Kind.DAMAGED:
                up_to_end = False
            blocks += event.kind == Kind.BLOCK
            yield ThreadEvent(thread, event)

    for each in executed(counted(), Selection(), backwards=True):
        if blocks > MOST_BLOCKS:
            found[-1:] = [replace(row, exact=False) for row in found[-1:]]
            break
        if not each.line:
            continue
        text = index.text(each.file, each.line)
        row = LineRow(each.function, each.depth, each.file, each.line, text, 1 + each.again)
        if not found or replace(row, times=found[-1].times) != found[-1]:
            if len(found) == most:
                break
            found.append(row)
            by_block.clear()
        by_block[each.block] += row.times
        found[-1] = replace(row, times=max(by_block.values()))
    return LastLines(tuple(reversed(found)), up_to_end)
