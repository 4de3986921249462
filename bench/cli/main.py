"""``trodden-bench``: measures tables of programs, keeps their figures, and generates the page from them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType

import click

from bench import suite
from bench.build.machine import identity
from bench.build.toolchain import CLANG, require
from bench.cli.failures import Failures
from bench.cli.gather import gather_results
from bench.cli.leftover_processes import kill_children, kill_leftovers
from bench.cli.progress import progress_display
from bench.cli.required_tools import required_tools
from bench.cli.schedule import Schedule, merge_measures
from bench.cli.text import text_of
from bench.measures.model import Measure
from bench.measures.store import Store
from bench.measures.times import FEWEST, ROUNDS, Times
from bench.page.write import write_page
from bench.suite.model import SuiteProgram
from bench.support.directories import RESULTS, WORK
from bench.support.errors import BenchError
from bench.support.locking import locked, try_locked
from bench.tables import registry
from bench.tables.layout.model import Table
from bench.tables.results import Results

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
def main(names: tuple[str, ...], programs: tuple[str, ...], jobs: int, rounds: int, no_time: bool) -> None:
    """Measure TABLEs, or all of them, and generate docs/benchmarks.md from the results.

    Without a TABLE it lists them. "page" only generates the page. Figures are kept as soon as they are
    measured: started again after an interruption, it continues where it was.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        if not names:
            _list()
        elif names == (PAGE,):
            with locked(_FIGURES / "results.lock"):
                write_page()
        else:
            tables, selected = _select(names, programs)
            sys.exit(_measure(tables, selected, jobs, rounds, no_time))
    except BenchError as error:
        click.echo(f"trodden-bench: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        kill_children()
        click.echo("trodden-bench: interrupted; start it again to continue", err=True)
        # Threads may still wait for processes; everything that was measured is kept already.
        os._exit(_INTERRUPTED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _list() -> None:
    for table in registry.tables():
        click.echo(f"{table.name:12} {table.title}")
    click.echo(f"\nprograms: {' '.join(program.name for program in suite.SUITE)}")
    click.echo(f"\n{ALL} measures everything; {PAGE} generates docs/benchmarks.md again")


def _select(names: Sequence[str], programs: Sequence[str]) -> tuple[list[Table], list[SuiteProgram]]:
    """The requested tables and programs; an unknown name is a usage error."""
    try:
        tables = list(registry.tables()) if ALL in names else registry.select(names)
        return tables, _select_programs(tables, programs)
    except BenchError as error:
        raise click.UsageError(str(error)) from error


def _select_programs(tables: Sequence[Table], names: Sequence[str]) -> list[SuiteProgram]:
    """The programs of these names, all if none is named: those of the suite, and those of single tables."""
    extra = {program.name: program for table in tables for program in table.extra_programs}
    of_suite = [name for name in names if name not in extra]
    found = suite.select(of_suite) if of_suite or not names else []
    return found + [program for program in extra.values() if not names or program.name in names]


def _measure(
    tables: Sequence[Table], programs: Sequence[SuiteProgram], jobs: int, rounds: int, no_time: bool
) -> int:
    requests = [(program, _measures(tables, program, rounds, no_time)) for program in programs]
    # The versions of these are part of a machine's identity: without one, all kept figures would be lost.
    always = {CLANG, "gcc", "valgrind"}
    measures = [measure for _, each in requests for measure in each]
    require(sorted(always | required_tools(measures, programs)))
    for table in tables:
        # Errors in existing results should appear before hours of work.
        Results.load(RESULTS, table.name)
    store = Store(_FIGURES, identity())
    with try_locked(_FIGURES / "bench.lock") as alone:
        if not alone:
            raise BenchError("another trodden-bench is running in this checkout; wait for it")
        kill_leftovers()
        with progress_display() as progress:
            schedule = Schedule(store, progress, jobs)
            schedule.execute(requests)
        with locked(_FIGURES / "results.lock"):
            for table in tables:
                _finish(table, programs, store, schedule.failures)
            write_page()
    return _report(schedule.failures)


def _measures(tables: Sequence[Table], program: SuiteProgram, rounds: int, no_time: bool) -> list[Measure]:
    """All measures that the tables need of a program, each once."""
    every = [measure for table in tables if table.covers(program) for measure in table.measures]
    timed = [replace(each, rounds=rounds) if isinstance(each, Times) else each for each in every]
    return merge_measures([measure for measure in timed if not (no_time and measure.exclusive)])


def _finish(table: Table, programs: Sequence[SuiteProgram], store: Store, failures: Failures) -> None:
    """Save the results of a table and print them."""
    covered = [program for program in programs if table.covers(program)]
    results = gather_results(table, covered, store, failures, Results.load(RESULTS, table.name))
    if results.programs or results.failed:
        results.save(RESULTS)
        click.echo(text_of(table, results.only({program.name for program in covered})))


def _report(failures: Failures) -> int:
    for program in failures.found:
        for reason in failures.reasons(program):
            click.echo(f"trodden-bench: {reason}", err=True)
    if failures.found:
        click.echo(f"trodden-bench: failed: {', '.join(failures.found)}", err=True)
    return 1 if failures.found else 0


if __name__ == "__main__":
    main()
