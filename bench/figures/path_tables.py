"""How much memory the tables of a path profile take: SQLite over a script of ten thousand statements."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.build.compile import Way, build
from bench.build.configurations import known
from bench.run.callgrind import runner
from bench.run.process_memory import Watcher
from bench.suite.inputs import small as inputs
from bench.suite.programs import chosen
from bench.support.directories import WORK
from bench.support.errors import BenchError
from bench.support.statistics import table
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile

MOST = 64 * 1024 * 1024
"""What the tables may take."""

PLAIN, EDGES, PATHS = "clang", "edges", "paths"


@dataclass(frozen=True)
class Memory:
    """Bytes resident when the program ended and at most; counters of all kinds, and those of paths."""

    resident: int
    most: int
    counters: int = 0
    paths: int = 0


def measure() -> dict[str, Memory]:
    """The memory of SQLite, plain, counting edges and counting paths."""
    program = chosen(["sqlite"])[0]
    script = WORK / "inputs" / "sqlite-long.in"
    script.parent.mkdir(parents=True, exist_ok=True)
    inputs.long_sql(script)
    found = {}
    for name in (PLAIN, EDGES, PATHS):
        way = known(name).way
        command = program.command(build(program, way).executable, script)
        found[name] = _run(command, program.name, way)
    return found


def _run(command: Sequence[str], program: str, way: Way) -> Memory:
    here = runner(program, f"{way.name}-memory")
    here.directory.mkdir(parents=True, exist_ok=True)
    here.raw.unlink(missing_ok=True)
    resident, most = at_the_end(command, here.directory, here.environment())
    if not way.trodden:
        return Memory(resident, most)
    profile = collect([here.raw])
    return Memory(resident, most, 8 * sum(unit.slots for unit in profile.units), 8 * _dense(profile))


def _dense(profile: Profile) -> int:
    plans = (function.facts.plan.paths for function in profile.functions.values())
    return sum(paths.number for paths in plans if paths is not None and paths.dense)


def at_the_end(command: Sequence[str], directory: Path, environment: Mapping[str, str]) -> tuple[int, int]:
    """Run a program; what was resident when it ended, its profile written, and the most that ever was."""
    watcher = Watcher()
    words = [*watcher.before, *command]
    with (directory / "stdout").open("wb") as out:
        process = subprocess.Popen(words, stdout=out, cwd=directory, env=dict(environment))
    watcher.started(process.pid)
    status, _ = watcher.ended(process.pid)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise BenchError(f"{command[0]} ended with status {process.returncode}")
    return watcher.resident, watcher.most


def memory_table(found: Mapping[str, Memory]) -> str:
    """What each profile takes more than the plain build."""
    plain = found[PLAIN]
    rows = [
        [
            name,
            _mebi(each.resident),
            _mebi(each.most),
            _mebi(each.resident - plain.resident),
            _mebi(each.most - plain.most),
            _mebi(each.counters),
            _mebi(each.paths),
        ]
        for name, each in found.items()
    ]
    head = (f"SQLite, {inputs.LONG_SCRIPT:,} statements", "resident at the end", "at most")
    return table((*head, "more than plain", "at most more", "counters", "of these paths"), rows)


def within_bounds(found: Mapping[str, Memory]) -> bool:
    """Whether a path profile takes no more memory than it may."""
    return found[PATHS].most - found[PLAIN].most <= MOST


def as_json(found: Mapping[str, Memory]) -> dict[str, Any]:
    """For the file of results."""
    return {name: asdict(each) for name, each in found.items()}


def _mebi(number: int) -> str:
    return f"{number / 1048576:.2f} MiB"
