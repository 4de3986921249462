"""``trodden query``: questions about what a trace has executed."""

from __future__ import annotations

import json
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from trodden.commands.click_options import Number
from trodden.commands.replay import put, say_what_is_missing
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
    from trodden.api.traces import load_trace
    from trodden.profile.trace.executed import threads_of
    from trodden.profile.trace.query import answer, unknown
    from trodden.profile.trace.questions import parse

    asked = parse(question)
    trace = load_trace(file)
    threads = threads_of(trace, process, thread)
    say_what_is_missing(file, trace, threads, process)
    answers = answer(asked, threads, say)
    with waiting(f"reading {file}"):
        first = list(islice(answers, 1))
    write, times = _as_json if form == "json" else _as_text, 0

    def rows() -> Iterator[str]:
        nonlocal times
        for row in chain(first, answers):
            times += row.times
            yield write(row)

    put(rows())
    if not times:
        reasons = list(unknown(asked, threads)) or ["that has not happened in this trace"]
        for reason in reasons:
            say(f"{file}: {reason}")


def say(message: str) -> None:
    """On standard error, since what follows may be for another program."""
    click.echo(f"trodden: {visible(message)}", err=True)


def _as_text(row: Answer) -> str:
    where = "" if row.position is None else f" block {row.position:,}"
    until = "" if row.until is None else f" to {row.until:,}"
    times = f" {row.times:,} times" if row.times != 1 or row.position is None else ""
    return visible(f"{row.process}.{row.thread}{where}{until}: {row.text}{times}")


def _as_json(row: Answer) -> str:
    return json.dumps(row._asdict())
