"""The profile of a server however it ends, compared with the statistics of the server itself."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from bench.build.builders import builder
from bench.build.configurations import config_of
from bench.measures.model import BuildMeasure, Json
from bench.run.executables import executable
from bench.run.redis_server import TESTS, Server
from bench.suite.model import SuiteProgram
from bench.suite.redis import LOAD_GENERATOR
from bench.support.directories import WORK
from bench.support.errors import BenchError
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile

KILL, KILL_UNDER_LOAD, SHUTDOWN, SEGFAULT, PANIC = "kill", "kill under load", "shutdown", "segfault", "panic"
ENDS = (KILL, KILL_UNDER_LOAD, SHUTDOWN, SEGFAULT, PANIC)
"""By SIGKILL, idle or with requests in flight, by a regular shutdown, by Redis' own crash commands."""

_OPTIONS = (
    *("--io-threads", "3", "--io-threads-do-reads", "yes", "--save", ""),
    *("--appendonly", "yes", "--appendfsync", "everysec", "--enable-debug-command", "yes"),
)
_REQUESTS = 4_000
_SCRIPT = (
    "for i = 1, 20 do redis.pcall('INCR', KEYS[1]); pcall(error, 'again') end "
    "return redis.pcall('LPUSH', KEYS[1], 1)"
)
# The first of these functions that a process has entered determines its role.
_ROLES = {"server": "initServer", "BGSAVE": "rdbSave", "BGREWRITEAOF": "rewriteAppendOnlyFile"}


@dataclass(frozen=True)
class Process:
    """One process of the server, by its raw file: its role, and what is wrong with its counts."""

    role: str
    functions: int
    violations: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Ended:
    """A server that has ended: its processes, and for each command its own count and ours."""

    status: int
    processes: tuple[Process, ...]
    commands: dict[str, tuple[int, int]]

    def problems(self) -> list[str]:
        """Everything that is not as it should be, in words."""
        found = [
            f"{command}: {count} calls, {ours} counted"
            for command, (count, ours) in self.commands.items()
            if count != ours
        ]
        roles = [process.role for process in self.processes]
        if sorted(roles) != sorted(_ROLES):
            found.append(f"processes that left a profile: {', '.join(roles) or 'none'}")
        for process in self.processes:
            found += [f"{process.role}: {violation}" for violation in process.violations]
        return found


@dataclass(frozen=True)
class ServerEnd(BuildMeasure):
    """Runs a server with all its threads and child processes, ends it, and checks its profile."""

    end: str
    kind: ClassVar[str] = "server end"

    @property
    def key(self) -> str:
        """By configuration and end."""
        return f"{self.kind}/{self.config}/{self.end}"

    def measure(self, program: SuiteProgram) -> Json:
        """Start, load, end and check."""
        directory = WORK / "run" / program.name / f"{self.config}-{self.end.replace(' ', '-')}"
        generator = builder(LOAD_GENERATOR).executable(config_of("clang"))
        with Server(executable(program, self.config), directory, _OPTIONS) as server:
            _exercise(server, generator)
            commands = _command_counts(server)
            status = _end(server, generator, self.end)
        profiles = [collect([raw]) for raw in sorted(directory.glob("counts.*.raw"))]
        if self.end == KILL_UNDER_LOAD:
            # The statistics are those of before the load.
            commands = {}
        ended = Ended(status, tuple(map(process_of, profiles)), compare(commands, profiles))
        if problems := ended.problems():
            raise BenchError(f"{program.name}, {self.config}, {self.end}: {'; '.join(problems)}")
        return asdict(ended)


def _exercise(server: Server, generator: Path) -> None:
    """Use everything that the server has threads and child processes for."""
    server.load(generator, _REQUESTS)
    server.command("EVAL", _SCRIPT, "1", "counter")
    server.command("EVAL", "return redis.call('NOSUCH')", "0")
    for child, field in (
        ("BGSAVE", "rdb_bgsave_in_progress"),
        ("BGREWRITEAOF", "aof_rewrite_in_progress"),
    ):
        server.command(child)
        server.wait_until("persistence", field, "0")
    server.command("FLUSHALL", "ASYNC")
    server.wait_until("memory", "lazyfree_pending_objects", "0")


def _end(server: Server, generator: Path, end: str) -> int:
    if end == SHUTDOWN:
        return server.shut_down()
    if end in (SEGFAULT, PANIC):
        return server.crash(end.upper())
    if end == KILL:
        return server.kill()
    load = subprocess.Popen(
        server.load_command(generator, 10**7),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(1.5)
        return server.kill()
    finally:
        load.kill()
        load.wait()


def _command_counts(server: Server) -> dict[str, int]:
    """How often the server has executed each command of the load, scripts included, by its statistics."""
    statistics = server.info("commandstats")
    names = {name.partition("_")[0] for name in TESTS.split(",")} | {
        *("eval", "bgsave", "bgrewriteaof", "flushall"),
    }
    counts = {}
    for name in sorted(names):
        fields = dict(field.split("=") for field in statistics[f"cmdstat_{name}"].split(","))
        counts[name] = int(fields["calls"])
    return counts


def compare(commands: dict[str, int], profiles: Sequence[Profile]) -> dict[str, tuple[int, int]]:
    """The server's count and ours; each command has a function of its name, which nothing else calls."""
    found = {}
    for name, count in commands.items():
        entries = [profile.functions.get(f"{name}Command") for profile in profiles]
        found[name] = (count, sum(int(function.entries) for function in entries if function is not None))
    return found


def process_of(profile: Profile) -> Process:
    """What the profile of one process says about it."""
    entered = {name for name, function in profile.functions.items() if function.entries > 0}
    role = next((role for role, mark in _ROLES.items() if mark in entered), "unknown")
    violations = tuple(
        f"{function.name}: {each}" for function in profile.functions.values() for each in function.violations
    )
    return Process(role, len(entered), violations, tuple(profile.messages))
