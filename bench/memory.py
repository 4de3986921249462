"""How much memory the tables of a path profile take: SQLite over a script of ten thousand statements."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench import inputs
from bench.builds import Way, build
from bench.errors import BenchError
from bench.path_costs import EDGE_PROFILE, PATH_PROFILE, PLAIN
from bench.programs import WORK, chosen
from bench.running import runner
from bench.tables import table
from trodden.profile.collect import collect
from trodden.profile.model import Profile

MOST = 64 * 1024 * 1024
"""What the tables may take."""

# From sys/ptrace.h: attach to a process without stopping it; have it stop when it ends, memory still there.
_SEIZE, _CONTINUE, _TRACE_EXIT, _EXIT_STOP = 0x4206, 7, 0x40, 6
_RESIDENT = re.compile(r"^(VmRSS|VmHWM):\s+(\d+) kB$", re.MULTILINE)


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
    for way in (PLAIN, EDGE_PROFILE, PATH_PROFILE):
        command = program.command(build(program, way).executable, script)
        found[way.name] = _run(command, program.name, way)
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
    """Run a program; what was resident when it ended, its profile written, and the most that ever was.

    What the system says of a process that has ended goes back to before it became this program, so it is
    stopped on its way out and asked then.
    """
    system = ctypes.CDLL(None, use_errno=True)
    with (directory / "stdout").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, cwd=directory, env=dict(environment))
    if system.ptrace(_SEIZE, process.pid, None, ctypes.c_void_p(_TRACE_EXIT)) != 0:
        process.wait()
        raise BenchError(f"{command[0]} cannot be traced: {os.strerror(ctypes.get_errno())}; allow ptrace")
    status = _wait(process)
    while os.WIFSTOPPED(status) and status >> 16 != _EXIT_STOP:
        passed = 0 if status >> 16 else os.WSTOPSIG(status)
        system.ptrace(_CONTINUE, process.pid, None, ctypes.c_void_p(passed))
        status = _wait(process)
    if not os.WIFSTOPPED(status):
        raise BenchError(f"{command[0]} ended before it could be asked for its memory")
    text = Path(f"/proc/{process.pid}/status").read_text()
    system.ptrace(_CONTINUE, process.pid, None, None)
    ended = _wait(process)
    process.returncode = os.waitstatus_to_exitcode(ended)
    if process.returncode != 0:
        raise BenchError(f"{command[0]} ended with status {process.returncode}")
    figures = {name: 1024 * int(number) for name, number in _RESIDENT.findall(text)}
    return figures["VmRSS"], figures["VmHWM"]


def _wait(process: subprocess.Popen[bytes]) -> int:
    return os.waitpid(process.pid, 0)[1]


def memory_table(found: Mapping[str, Memory]) -> str:
    """What each profile takes more than the plain build."""
    plain = found[PLAIN.name]
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
    return found[PATH_PROFILE.name].most - found[PLAIN.name].most <= MOST


def as_json(found: Mapping[str, Memory]) -> dict[str, Any]:
    """For the file of results."""
    return {name: asdict(each) for name, each in found.items()}


def _mebi(number: int) -> str:
    return f"{number / 1048576:.2f} MiB"
