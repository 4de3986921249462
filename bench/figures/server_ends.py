"""What is left of a server's profile however it ends, beside what the server says of itself."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.build.compile import Way
from bench.build.redis import built
from bench.run.redis_server import TESTS, Server
from bench.support.directories import WORK
from bench.support.errors import BenchError
from bench.support.statistics import table
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile

ENDS = ("kill", "kill under load", "shutdown", "segfault", "panic")
"""How a server ends: by SIGKILL, idle or with requests under way, by itself, by its own crash commands."""

_OPTIONS = (
    *("--io-threads", "3", "--io-threads-do-reads", "yes", "--save", ""),
    *("--appendonly", "yes", "--appendfsync", "everysec", "--enable-debug-command", "yes"),
)
_REQUESTS = 4_000
_SCRIPT = (
    "for i = 1, 20 do redis.pcall('INCR', KEYS[1]); pcall(error, 'again') end "
    "return redis.pcall('LPUSH', KEYS[1], 1)"
)
# The first of these functions that a process has entered and left tells what it is.
_SERVER = {"server": "initServer"}
_CHILDREN = {"BGSAVE": "rdbSave", "BGREWRITEAOF": "rewriteAppendOnlyFile"}


@dataclass(frozen=True)
class Process:
    """One process of the server, by its raw file: what it was, and what its counts admit of themselves."""

    role: str
    walked: int
    violations: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Ended:
    """A server that has ended: its processes, and its commands as it has counted them and as we have."""

    status: int
    processes: tuple[Process, ...]
    commands: dict[str, tuple[int, int]]

    @property
    def wrong(self) -> dict[str, tuple[int, int]]:
        """Commands of which the two counts differ."""
        return {name: pair for name, pair in self.commands.items() if pair[0] != pair[1]}

    def as_json(self) -> dict[str, Any]:
        """For the file of results."""
        return asdict(self)


def measure(way: Way, driver: Path, end: str) -> Ended:
    """Run a server through everything it has threads and children for, end it, look at what is left."""
    place = WORK / "run" / "redis" / f"{way.name}-{end.replace(' ', '-')}"
    with Server(built(way), place, _OPTIONS) as server:
        server.load(driver, _REQUESTS)
        server.ask("EVAL", _SCRIPT, "1", "counter")
        server.ask("EVAL", "return redis.call('NOSUCH')", "0")
        for child, done in (
            ("BGSAVE", "rdb_bgsave_in_progress"),
            ("BGREWRITEAOF", "aof_rewrite_in_progress"),
        ):
            server.ask(child)
            server.wait_until("persistence", done, "0")
        server.ask("FLUSHALL", "ASYNC")
        server.wait_until("memory", "lazyfree_pending_objects", "0")
        said = _commands(server)
        status = _end(server, driver, end)
    profiles = [collect([raw]) for raw in sorted(place.glob("counts.*.raw"))]
    processes = tuple(_process(profile) for profile in profiles)
    if end == "kill under load":
        said = {}
    return Ended(status, processes, _compared(said, profiles))


def _end(server: Server, driver: Path, end: str) -> int:
    if end == "shutdown":
        return server.shut_down()
    if end in ("segfault", "panic"):
        return server.crash(end.upper())
    if end == "kill":
        return server.kill()
    load = subprocess.Popen(
        server.driving(driver, 10**7),
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


def _commands(server: Server) -> dict[str, int]:
    """How often the server has executed each command of the load, scripts included, by its own account."""
    said = server.told("commandstats")
    names = {name.partition("_")[0] for name in TESTS.split(",")} | {
        "eval",
        "bgsave",
        "bgrewriteaof",
        "flushall",
    }
    counts = {}
    for name in sorted(names):
        fields = dict(field.split("=") for field in said[f"cmdstat_{name}"].split(","))
        counts[name] = int(fields["calls"])
    return counts


def _compared(said: dict[str, int], profiles: Sequence[Profile]) -> dict[str, tuple[int, int]]:
    """Each command has a function of its name, which nothing else calls."""
    found = {}
    for name, count in said.items():
        entries = [profile.functions.get(f"{name}Command") for profile in profiles]
        found[name] = (count, sum(int(function.entries) for function in entries if function is not None))
    return found


def _process(profile: Profile) -> Process:
    entered = {name for name, function in profile.functions.items() if function.entries > 0}
    known = {**_SERVER, **_CHILDREN}
    role = next((role for role, mark in known.items() if mark in entered), "unknown")
    violations = tuple(
        f"{function.name}: {each}" for function in profile.functions.values() for each in function.violations
    )
    return Process(role, len(entered), violations, tuple(profile.notes))


def ends_table(found: dict[tuple[str, str], Ended]) -> str:
    """A row for each profile and each end."""
    rows = []
    for (way, end), ended in found.items():
        roles = [process.role for process in ended.processes]
        children = [f"{roles.count(child)} {child}" for child in _CHILDREN if child in roles]
        checked = (
            f"{len(ended.commands) - len(ended.wrong)} of {len(ended.commands)}" if ended.commands else "-"
        )
        rows.append(
            [
                f"{way}, {end}",
                str(ended.status),
                "yes" if "server" in roles else "no",
                ", ".join(children) or "none",
                str(sum(len(process.violations) for process in ended.processes)),
                str(sum(len(process.notes) for process in ended.processes)),
                checked,
            ]
        )
    head = ("redis: end", "status", "profile", "children's", "violations", "notes", "commands counted right")
    return table(head, rows)


def check(name: str, ended: Ended) -> list[str]:
    """What is not as it should be, in words."""
    wrong = [
        f"{name}: {command}: {said} calls, {ours} counted" for command, (said, ours) in ended.wrong.items()
    ]
    roles = [process.role for process in ended.processes]
    if sorted(roles) != sorted([*_SERVER, *_CHILDREN]):
        wrong.append(f"{name}: processes that left a profile: {', '.join(roles) or 'none'}")
    for process in ended.processes:
        wrong += [f"{name}: {process.role}: {violation}" for violation in process.violations]
    return wrong


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """Some of the ends, all if none is named."""
    for name in names:
        if name not in ENDS:
            raise BenchError(f"no end {name}; there are {', '.join(ENDS)}")
    return tuple(names) or ENDS
