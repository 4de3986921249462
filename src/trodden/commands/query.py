"""``trodden query``: questions about what a trace has executed."""

from __future__ import annotations

import json
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from trodden.commands.click_options import Number
from trodden.commands.replay import put, say, say_what_is_missing, saying_once
from trodden.visible_text import visible
from trodden.waiting import waiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trodden.profile.trace.query import Answer


@click.command()
@click.argument("file", metavar="FILE", type=click.Path())
@click.argument("question", metavar="EXPR")
@click.option("--thread", metavar="N", type=Number(0), help="Only the thread with this number.")
@click.option("--process", metavar="PID", type=Number(0), help="Only this process.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="Text for people, or JSON: one object a line.",
)  # fmt: skip
def query(file: str, question: str, thread: int | None, process: int | None, form: str) -> None:
    """Ask the trace in the profile FILE the question EXPR.

    \b
    last A                     when A happened last, before the end
    first A                    when A happened first
    count A                    how often A happened
    count A between B and C    how often from each B to the next C
    between A and B            what happened from the first A to the next B
    calls F through LINE       which calls of F executed LINE and returned

    A, B and C are a line ([FILE:]N), "enter F", "leave F" or "signal".  Functions may have wildcards.
    """
    from trodden.api.traces import load
    from trodden.profile.meant import Meant
    from trodden.profile.select import why_there_is_none
    from trodden.profile.trace.executed import threads_of
    from trodden.profile.trace.query import answer, asked_about
    from trodden.profile.trace.questions import parse

    asked = parse(question)
    profile = load(file)
    trace = profile.trace
    threads = threads_of(trace, process, thread)
    say_what_is_missing(file, trace, threads, process)
    meant = Meant(threads)
    answers = answer(asked.with_places(meant.place), threads, meant.functions, saying_once())
    with waiting(f"reading {file}"):
        first = list(islice(answers, 1))
    write, times = _as_json if form == "json" else partial(_as_text, asked.verb == "count"), 0

    def rows() -> Iterator[str]:
        nonlocal times
        for row in chain(first, answers):
            times += row.times
            yield write(row)

    put(rows())
    if not times:
        unknown = list(meant.unknown(*asked_about(asked), partial(why_there_is_none, profile)))
        for reason in unknown or ["that has not happened in this trace"]:
            say(f"{file}: {reason}")


def _as_text(counts: bool, row: Answer) -> str:
    where = "" if row.position is None else f" block {row.position:,}"
    until = "" if row.until is None else f" to {row.until:,}"
    times = f" {row.times:,} time{'' if row.times == 1 else 's'}" if counts or row.times != 1 else ""
    return visible(f"{row.process}.{row.thread}{where}{until}: {row.text}{times}")


def _as_json(row: Answer) -> str:
    return json.dumps(row._asdict())
