"""``trodden replay``: what every thread has executed, in the order in which it did."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from trodden.commands.click_options import Number, file_argument, function_option
from trodden.commands.output import flush
from trodden.commands.positions import nothing_between, place_in, position
from trodden.errors import InputMissing, UsageError
from trodden.visible_text import visible
from trodden.waiting import waiting

if TYPE_CHECKING:
    from trodden.profile.trace.executed import Executed
    from trodden.profile.trace.reading import Position, ProgramTrace, ThreadEvent
    from trodden.profile.trace.threads import ThreadTrace
    from trodden.source.texts import Sources

_MANY = 4096
_MOST_DEPTH = 40


@click.command()
@file_argument
@click.option("--blocks", is_flag=True, help="Blocks, not the source lines that they consist of.")
@click.option("--repeats", is_flag=True, help="Calls, with --blocks also blocks; what is repeated once.")
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

    Each line of the output has the process, the thread, how many blocks it had executed before, the line, the
    function and the block, and, indented by the depth of calls, the source.  Several threads follow one
    another by the times of the parts that their traces were written in; with a position, one after another.
    In a large trace of which only a part is read, blocks before are not counted.
    """
    from trodden.api.traces import load
    from trodden.profile.meant import Meant
    from trodden.profile.select import why_there_is_none
    from trodden.profile.trace.executed import Selection, executed, threads_of
    from trodden.source.texts import Sources

    others = {
        "--backwards": backwards,
        "--last": last is not None,
        "--function": function is not None,
        "--line": line is not None,
        "--format json": form == "json",
    }
    if repeats and any(others.values()):
        given = ", ".join(name for name, there in others.items() if there)
        raise UsageError(f"--repeats shows whole calls as text; it cannot be combined with {given}")
    first, end, reverse = position(start), position(stop), backwards or last is not None
    asked = None if line is None else place_in(line)
    profile = load(file)
    trace = profile.trace
    chosen = threads_of(trace, process, thread)
    say_what_is_missing(file, trace, chosen, process)
    if repeats:
        empty = nothing_between(chosen, first, end)
        if empty is not None:
            say(f"{file}: {empty}")
        put(_repeats(trace, chosen, first, end, blocks))
        return
    meant = Meant(chosen)
    selection = Selection(
        not blocks,
        None if function is None else meant.functions(function),
        None if asked is None else meant.place(asked),
    )
    chosen = [selection.of(each) for each in chosen]
    # By default threads are read from their beginnings, so that positions are known.
    middle = first is not None or end is not None or reverse
    with waiting(f"reading {file}"):
        known = [each.know_positions() for each in chosen] if middle else []
        rows = executed(_telling(_events(trace, chosen, first, end, reverse)), selection, reverse, all(known))
        if last is not None:
            kept = list(islice(rows, last))
            rows = iter(kept if backwards else reversed(kept))
        some = list(islice(rows, _MANY))
    write = _as_json if form == "json" else _Text(Sources(profile)).line
    put(map(write, chain(some, rows)))
    if not some:
        unknown = meant.unknown(
            [asked] if asked else [], [function] if function else [], partial(why_there_is_none, profile)
        )
        for reason in list(unknown) or [
            nothing_between(chosen, first, end) or "nothing like that was executed"
        ]:
            say(f"{file}: {reason}")


def _repeats(
    trace: ProgramTrace,
    threads: list[ThreadTrace],
    start: Position | None,
    stop: Position | None,
    blocks: bool,
) -> Iterator[str]:
    from trodden.profile.trace.repeats import Repeats, calls_only

    counted = "calls, returns and blocks" if blocks else "calls and returns"
    for thread in threads:
        yield f"process {thread.process.pid}, thread {thread.number}"
        with waiting("looking for what is repeated"):
            found = trace.grammar(thread if blocks else calls_only(thread), start, stop)
            lines = Repeats(thread, found.grammar(), counted).lines()
        for message in dict.fromkeys(thread.damages(found.damaged)):
            say(message)
        if found.stopped_at is not None:
            say(
                f"thread {thread.number}: too little is repeated for a longer grammar: it goes up to"
                f" block {found.stopped_at:,}; --from {found.stopped_at} shows what follows"
            )
        yield from map(visible, lines)


def _events(
    trace: ProgramTrace,
    threads: list[ThreadTrace],
    start: Position | None,
    stop: Position | None,
    backwards: bool,
) -> Iterator[ThreadEvent]:
    from trodden.profile.trace.reading import ThreadEvent

    if start is None and stop is None and not backwards:
        return trace.merged(threads)
    return chain.from_iterable(
        (ThreadEvent(thread, event) for event in trace.events(thread, start, stop, backwards))
        for thread in (reversed(threads) if backwards else threads)
    )


def say_what_is_missing(
    file: str, trace: ProgramTrace, threads: Sequence[ThreadTrace], process: int | None
) -> None:
    """On standard error, since what follows may be for another program; an error if there is nothing."""
    lost = [each for each in trace.traces.processes if each.missing and process in (None, each.pid)]
    if lost and not threads:
        raise InputMissing(f"{file}: {lost[0].messages[0]}")
    if not threads:
        raise UsageError(f"{file}: has no such thread; leave --thread and --process out for all of them")
    for each in {id(each): each for each in (*lost, *(thread.process for thread in threads))}.values():
        for message in each.messages:
            say(message)


def say(message: str) -> None:
    """On standard error, since what follows may be for another program."""
    click.echo(f"trodden: {visible(message)}", err=True)


def saying_once() -> Callable[[str], None]:
    """What says a message that it has not said yet."""
    return cache(say)


def _telling(events: Iterable[ThreadEvent]) -> Iterator[ThreadEvent]:
    """The same events; where a trace is damaged is said when they are read."""
    from trodden.recover.trace.events import Kind

    tell = saying_once()
    for each in events:
        if each.event.kind == Kind.DAMAGED:
            for message in each.thread.damages([each.event]):
                tell(message)
        yield each


class _Text:
    """Rows as text, with the source if it is there; what is the same each time is made once."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._places: dict[tuple[str, str, str, int], tuple[str, str]] = {}

    def line(self, row: Executed) -> str:
        """A row as text."""
        process, thread, position, depth, *_, again = row
        key = row[4:8]
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = self._place(*key)
        where, source = found
        times = f" ({again + 1:,} times)" if again else ""
        at = "" if position is None else position
        return (
            f"{process}.{thread} {at:>12} {where}{times}  {'  ' * min(depth, _MOST_DEPTH)}{source}".rstrip()
        )

    def _place(self, function: str, block: str, file: str, line: int) -> tuple[str, str]:
        place = f"{file.rpartition('/')[2]}:{line}" if line else "no line"
        lines = self._sources.lines(file) if line else None
        source = lines[line - 1].strip() if lines is not None and line <= len(lines) else ""
        return f"{visible(f'{place} {function} {block}'):<36}", visible(source.replace("\t", " "))


@cache
def _json_of(function: str, block: str, file: str, line: int) -> str:
    fields = {"function": function, "block": block, "file": file, "line": line}
    return json.dumps(fields)[1:-1]


def _as_json(row: Executed) -> str:
    process, thread, position, depth, *place, again = row
    at = "null" if position is None else position
    return (
        f'{{"process": {process}, "thread": {thread}, "position": {at}, "depth": {depth},'
        f' {_json_of(*place)}, "again": {again}}}'
    )


def put(lines: Iterable[str]) -> None:
    """Write lines as they come, many at once."""
    left = iter(lines)
    while some := list(islice(left, _MANY)):
        flush("\n".join(some) + "\n")
