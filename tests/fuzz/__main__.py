"""``python -m tests.fuzz``: fuzz the readers for some time, or read one file again."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from tests.fuzz.campaign import Outcome, campaign, memory_folder
from tests.fuzz.seeds import make_seeds
from tests.fuzz.targets import TARGETS, target_named
from tests.fuzz.trial import Room, limit_memory

CRASHES = Path("build") / "fuzz"


def main() -> int:
    """Fuzz, and fail if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600, help="how long in all (default 3600)")
    parser.add_argument("--seed", type=int, help="repeat what another run has done (default: the time)")
    parser.add_argument("--crashes", type=Path, default=CRASHES, help=f"where bugs are kept ({CRASHES})")
    parser.add_argument("--seeds", type=Path, help="start from what is there, and make it if it is not")
    parser.add_argument(
        "--reader", action="append", default=[], help=", ".join(each.name for each in TARGETS)
    )
    parser.add_argument(
        "--repeat", type=Path, nargs="+", metavar="FILE", help="read these files only, and show what happens"
    )
    given = parser.parse_args()
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="trodden-fuzz-", dir=memory_folder()) as scratch:
        seeds = given.seeds or Path(scratch) / "seeds"
        if not seeds.exists():
            make_seeds(seeds)
        if given.repeat is not None:
            return _repeat(given.repeat, given.reader, seeds, Path(scratch), console)
        seed = int(time.time()) if given.seed is None else given.seed
        console.print(f"seed {seed}; whatever is found is kept in {given.crashes}")
        start = time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("", total=given.seconds)

            def told(outcome: Outcome) -> None:
                spent = time.monotonic() - start
                words = (
                    f"{outcome.runs:,} inputs, {outcome.runs / spent:,.0f} a second, {outcome.lines:,} lines"
                )
                found = f"{len(outcome.failures)} bugs"
                progress.update(task, completed=spent, description=f"{words}, {found}")

            outcome = campaign(
                seeds, Path(scratch) / "work", given.crashes, given.seconds, seed, given.reader, told
            )
        _show(outcome, time.monotonic() - start, console)
    return 1 if outcome.failures else 0


def _show(outcome: Outcome, seconds: float, console: Console) -> None:
    table = Table("reader", "inputs read", "kept")
    for name, (runs, kept) in outcome.counted.items():
        table.add_row(name, f"{runs:,}", f"{kept:,}")
    console.print(table)
    console.print(f"{outcome.runs:,} inputs in {seconds:.0f} s, {outcome.lines:,} lines of trodden reached")
    for failure in outcome.failures:
        console.print(f"{failure['kind']}\n{failure['details']}", markup=False, style="red")
        reader = failure["kind"].partition(":")[0]
        again = f"python -m tests.fuzz --reader {reader} --repeat {failure['path']}"
        console.print(f"to repeat it: {again}", markup=False, soft_wrap=True)


def _repeat(files: Sequence[Path], names: Sequence[str], seeds: Path, scratch: Path, console: Console) -> int:
    """Read files, with the readers that are named or that the files' own names begin with."""
    room = Room(scratch / "room", seeds)
    limit_memory()
    failed = 0
    for path in files:
        own = [each.name for each in TARGETS if path.name.startswith(f"{each.name}-")]
        for name in names or [max(own, key=len)]:
            failure, said = room.attempt(target_named(name), path.read_bytes())
            console.print(f"{path.name}: {failure.details if failure else said}", markup=False)
            failed += failure is not None
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
