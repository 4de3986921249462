"""``python -m tests.fuzz.counting``: try random programs that count themselves, or one of them again."""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tests.fuzz.campaign import memory_folder
from tests.fuzz.counting.campaign import WAYS, Outcome, campaign, differences_of
from tests.fuzz.counting.configuration import random_configuration
from tests.fuzz.counting.program import random_program
from tests.fuzz.counting.trial import Trial, Unusable

KEPT = Path("build") / "fuzz" / "programs"
_SAYS_EVERY = 60.0
"""Seconds between two lines of progress where there is no terminal."""


def main() -> int:
    """Try programs, and fail if the counts of any differ from its own."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.counting", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600, help="how long in all (default 3600)")
    parser.add_argument("--seed", type=int, help="repeat what another run has done (default: the time)")
    parser.add_argument(
        "--kept", type=Path, default=KEPT, help=f"where programs that differ are kept ({KEPT})"
    )
    parser.add_argument("--repeat", type=int, metavar="N", help="the program N only, in all its ways")
    parser.add_argument(
        "--folder", type=Path, default=Path("repeated"), help="where it is built, with --repeat"
    )
    given = parser.parse_args()
    console = Console(stderr=True)
    if given.repeat is not None:
        return _repeat(given.repeat, given.folder, console)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    seed = int(time.time()) if given.seed is None else given.seed
    console.print(f"seed {seed}; programs whose counts differ are kept in {given.kept}")
    start = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with (
        tempfile.TemporaryDirectory(prefix="trodden-fuzz-", dir=memory_folder()) as work,
        Progress(*columns, console=console) as progress,
    ):
        task = progress.add_task("", total=given.seconds)
        outcome, last = Outcome(), start

        def told(so_far: Outcome) -> None:
            nonlocal outcome, last
            outcome, now = so_far, time.monotonic()
            words = f"{outcome.programs:,} programs, {outcome.builds:,} builds, {_amounts(outcome)} compared"
            text = f"{words}, {len(outcome.found)} differ"
            progress.update(task, completed=now - start, description=text)
            if not console.is_terminal and now > last + _SAYS_EVERY:
                last = now
                console.print(f"{now - start:.0f} s: {text}", markup=False, soft_wrap=True)

        with contextlib.suppress(KeyboardInterrupt):
            campaign(Path(work), given.kept, given.seconds, seed, told=told)
    _show(outcome, time.monotonic() - start, console)
    return 1 if outcome.found else 0


def _amounts(outcome: Outcome) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in outcome.compared.items()) or "nothing"


def _show(outcome: Outcome, seconds: float, console: Console) -> None:
    table = Table("built or run with", "times")
    for what, times in sorted(outcome.tried.items()):
        table.add_row(what, f"{times:,}")
    console.print(table)
    for reason, times in outcome.unusable.items():
        console.print(f"{times:,} not compared: {reason}", markup=False)
    words = f"{outcome.programs:,} programs, {outcome.builds:,} builds in {seconds:.0f} s"
    console.print(
        f"{words}; {_amounts(outcome)} compared; {len(outcome.found)} programs differ", markup=False
    )
    for found in outcome.found:
        console.print(f"{found.folder}: {found.what}", markup=False, style="red", soft_wrap=True)
        for each in found.differences[:5]:
            console.print(f"  {each}", markup=False, soft_wrap=True)


def _repeat(number: int, folder: Path, console: Console) -> int:
    program = random_program(number)
    chance = random.Random(number)
    console.print(program.describe(), markup=False)
    differ = 0
    for way in range(WAYS):
        configuration = random_configuration(chance, program)
        try:
            _, differences = differences_of(Trial(folder / f"way-{way}", program, configuration))
        except Unusable as error:
            differences = []
            console.print(f"not compared: {error}", markup=False)
        console.print(f"{configuration.describe()}: {len(differences)} differences", markup=False)
        for each in differences:
            console.print(f"  {each}", markup=False, soft_wrap=True)
        differ += bool(differences)
    return min(differ, 1)


if __name__ == "__main__":
    sys.exit(main())
