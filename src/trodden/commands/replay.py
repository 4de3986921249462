"""``trodden replay``: what every thread has executed, in the order in which it did."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from trodden.commands.click_options import Number, file_argument, function_option
from trodden.commands.output import flush
from trodden.errors import UsageError
from trodden.visible_text import visible

if TYPE_CHECKING:
    from trodden.profile.trace.executed import Executed, Place
    from trodden.profile.trace.reading import Position, ProgramTrace, ThreadEvent
    from trodden.profile.trace.threads import ThreadTrace

_MANY = 4096
_POSITION = re.compile(r"(?P<share>[\d.]+)%|(?P<time>[\d.]+)s|(?P<block>\d+)")


@click.command()
@file_argument
@click.option("--blocks", is_flag=True, help="Blocks, not the source lines that they consist of.")
@click.option("--repeats", is_flag=True, help="Only calls, and what is repeated once: as a grammar.")
@click.option("--backwards", is_flag=True, help="What was executed last comes first.")
@click.option(
    "--from", "start", metavar="POSITION", help="Start there: the number of a block, as 50% or as 1.5s."
)
@click.option("--to", "stop", metavar="POSITION", help="Stop there.")
@click.option("--last", metavar="N", type=Number(1), help="Only the last N, in the order of execution.")
@function_option
@click.option("--line", metavar="[FILE:]N", help="Only this line of the source.")
@click.option("--thread", metavar="N", type=Number(0), help="Only the thread with this number.")
@click.option("--process", metavar="PID", type=Number(0), help="Only this process.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="Text for people, or JSON: one object a line.",
)  # fmt: skip
def replay(
    file: str,
    blocks: bool,
    repeats: bool,
    backwards: bool,
    start: str | None,
    stop: str | None,
    last: int | None,
    function: str | None,
    line: str | None,
    thread: int | None,
    process: int | None,
    form: str,
) -> None:
    """Show what the threads in the trace of the profile FILE have executed, line by line.

    Each line of the output has the process, the thread, how many blocks it had executed before, and,
    indented by the depth of calls, the function and the line.  Several threads follow one another by the
    times of the parts that their traces were written in; with a position, one after another.  In a large
    trace of which only a part is read, blocks before are not counted.
    """
    from trodden.api.traces import load_trace
    from trodden.profile.trace.executed import executed, threads_of

    trace = load_trace(file)
    chosen = threads_of(trace, process, thread)
    if not chosen:
        raise UsageError(f"{file}: has no such thread; leave --thread and --process out for all of them")
    if repeats:
        _put(_repeats(trace, chosen, position(start), position(stop)))
        return
    place = None if line is None else place_in(line)
    lasting = last is not None
    events = _events(trace, chosen, position(start), position(stop), backwards or lasting)
    # By default threads are read from their beginnings, so that positions are known.
    middle = start is not None or stop is not None or backwards or lasting
    known = [each.know_positions() for each in chosen] if middle else []
    placed = all(known)
    rows = executed(events, not blocks, function, place, backwards or lasting, placed)
    if last is not None:
        kept = deque(islice(rows, last))
        rows = iter(kept if backwards else reversed(kept))
    write = _as_json if form == "json" else _as_text
    _put(map(write, rows))


def _repeats(
    trace: ProgramTrace,
    threads: list[ThreadTrace],
    start: Position | None,
    stop: Position | None,
) -> Iterator[str]:
    from trodden.profile.trace.repeats import calls_only, repeats

    for thread in threads:
        yield f"process {thread.process.pid}, thread {thread.number}"
        yield from map(visible, repeats(thread, trace.events(calls_only(thread), start, stop)))


def _events(
    trace: ProgramTrace,
    threads: list[ThreadTrace],
    start: Position | None,
    stop: Position | None,
    backwards: bool,
) -> Iterator[ThreadEvent]:
    from trodden.profile.trace.reading import ThreadEvent

    if start is None and stop is None and not backwards:
        wanted = set(map(id, threads))
        return (each for each in trace.merged() if id(each.thread) in wanted)
    return chain.from_iterable(
        (ThreadEvent(thread, event) for event in trace.events(thread, start, stop, backwards))
        for thread in (reversed(threads) if backwards else threads)
    )


def position(text: str | None) -> Position | None:
    """A position as it is given on a command line."""
    from trodden.profile.trace.reading import Position

    if text is None:
        return None
    match = _POSITION.fullmatch(text)
    try:
        if match and match["share"]:
            return Position("share", float(match["share"]) / 100)
        if match and match["time"]:
            return Position("time", float(match["time"]) * 1e9)
        if match:
            return Position("block", int(match["block"]))
    except ValueError:
        pass
    raise UsageError(f"{text}: is no position; give the number of a block, a share as 50% or a time as 1.5s")


def place_in(text: str) -> Place:
    """A line as it is given on a command line."""
    from trodden.profile.trace.executed import Place

    file, _, number = text.rpartition(":")
    if not number.isdecimal():
        raise UsageError(f"{text}: is no line; give its number, or a file and the number as main.c:17")
    return Place(file, int(number))


def _as_text(row: Executed) -> str:
    where = f"{row.file}:{row.line}" if row.line else "no line"
    again = f" ({row.again + 1:,} times)" if row.again else ""
    position = "" if row.position is None else row.position
    indented = "  " * min(row.depth, 40)
    return visible(
        f"{row.process}.{row.thread} {position:>12} {indented}{row.function} {row.block} {where}{again}"
    )


def _as_json(row: Executed) -> str:
    return json.dumps(row._asdict())


def _put(lines: Iterable[str]) -> None:
    """Write lines as they come, many at once."""
    left = iter(lines)
    while some := list(islice(left, _MANY)):
        flush("\n".join(some) + "\n")
