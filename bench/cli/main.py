"""``trodden-bench``: measures tables of programs, keeps their figures, and makes the page from them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType

import click

from bench import suite
from bench.build.compile import CLANG, need
from bench.build.machine import identity
from bench.cli.leftover_processes import end_children, end_orphans
from bench.cli.progress import watched
from bench.cli.required_tools import needed
from bench.cli.schedule import Failures, Schedule, joined
from bench.cli.text import text_of
from bench.measures.model import Measure
from bench.measures.store import Store
from bench.measures.times import FEWEST, ROUNDS, Times
from bench.page.write import write_page
from bench.suite.model import SuiteProgram
from bench.support.directories import RESULTS, WORK
from bench.support.errors import BenchError
from bench.support.locking import held, held_or_not
from bench.tables import registry as known
from bench.tables.layout.model import Table
from bench.tables.results import Results, gathered

ALL, PAGE = "all", "page"
_INTERRUPTED = 130
_FIGURES = WORK / "figures"


@click.command()
@click.argument("names", metavar="[TABLE]...", nargs=-1)
@click.option("--program", "programs", multiple=True, metavar="NAME", help="Only this program (repeatable).")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Builds at a time.")
@click.option(
    "--rounds",
    type=click.IntRange(FEWEST),
    default=ROUNDS,
    show_default=True,
    help="Rounds in which builds are timed in turn.",
)
@click.option("--no-time", is_flag=True, help="Leave out everything that has to run alone.")
def main(
    names: tuple[str, ...], programs: tuple[str, ...], jobs: int, rounds: int, no_time: bool
) -> None:
    """Measure TABLEs, or all of them, and make docs/benchmarks.md from what was measured.

    Without a TABLE it lists them. "page" makes the page alone. Figures are kept as soon as they are taken:
    started again, it goes on where it was.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        if not names:
            _list()
        elif names == (PAGE,):
            with held(_FIGURES / "results.lock"):
                write_page()
        else:
            asked_tables, asked_programs = _asked(names, programs)
            sys.exit(_measure(asked_tables, asked_programs, jobs, rounds, no_time))
    except BenchError as error:
        click.echo(f"trodden-bench: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        end_children()
        click.echo("trodden-bench: interrupted; started again, it goes on from here", err=True)
        # Threads may still wait for what they have started; everything they took is kept already.
        os._exit(_INTERRUPTED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _list() -> None:
    for table in known.tables():
        click.echo(f"{table.name:12} {table.title}")
    click.echo(f"\nprograms: {' '.join(program.name for program in suite.SUITE)}")
    click.echo(f"\n{ALL} measures everything; {PAGE} makes docs/benchmarks.md anew")


def _asked(
    names: Sequence[str], programs: Sequence[str]
) -> tuple[list[Table], list[SuiteProgram]]:
    """What was asked for; a name that is not known is a mistake in the command."""
    try:
        tables = list(known.tables()) if ALL in names else known.chosen(names)
        return tables, _chosen(tables, programs)
    except BenchError as error:
        raise click.UsageError(str(error)) from error


def _chosen(tables: Sequence[Table], names: Sequence[str]) -> list[SuiteProgram]:
    """The programs of these names, all if there is none: those of the suite, and what tables have beside."""
    beside = {program.name: program for table in tables for program in table.also}
    of_suite = [name for name in names if name not in beside]
    found = suite.chosen(of_suite) if of_suite or not names else []
    return found + [program for program in beside.values() if not names or program.name in names]


def _measure(
    tables: Sequence[Table], programs: Sequence[SuiteProgram], jobs: int, rounds: int, no_time: bool
) -> int:
    wanted = [(program, _measures(tables, program, rounds, no_time)) for program in programs]
    # All that is kept was measured with these: without one of them it would be taken for another machine's.
    always = {CLANG, "gcc", "valgrind"}
    need(sorted(always | needed([measure for _, measures in wanted for measure in measures], programs)))
    for table in tables:
        # What is wrong with the results so far is better known before hours of work.
        Results.load(RESULTS, table.name)
    store = Store(_FIGURES, identity())
    with held_or_not(_FIGURES / "bench.lock") as alone:
        if not alone:
            raise BenchError("another trodden-bench is at work in this checkout; wait for it")
        end_orphans()
        with watched() as progress:
            schedule = Schedule(store, progress, jobs)
            schedule.carry_out(wanted)
        with held(_FIGURES / "results.lock"):
            for table in tables:
                _finish(table, programs, store, schedule.failures)
            write_page()
    return _report(schedule.failures)


def _measures(
    tables: Sequence[Table], program: SuiteProgram, rounds: int, no_time: bool
) -> list[Measure]:
    """All that the tables need of a program, each once."""
    every = [measure for table in tables if table.is_about(program) for measure in table.needs]
    timed = [replace(each, rounds=rounds) if isinstance(each, Times) else each for each in every]
    return joined([measure for measure in timed if not (no_time and measure.exclusive)])


def _finish(table: Table, programs: Sequence[SuiteProgram], store: Store, failures: Failures) -> None:
    """Keep the results of a table and show them."""
    about = [program for program in programs if table.is_about(program)]
    results = gathered(table, about, store, failures, Results.load(RESULTS, table.name))
    if results.programs or results.failed:
        results.save(RESULTS)
        click.echo(text_of(table, results.only({program.name for program in about})))


def _report(failures: Failures) -> int:
    for program in failures.found:
        for reason in failures.reasons(program):
            click.echo(f"trodden-bench: {reason}", err=True)
    if failures.found:
        click.echo(f"trodden-bench: failed: {', '.join(failures.found)}", err=True)
    return 1 if failures.found else 0


if __name__ == "__main__":
    main()
