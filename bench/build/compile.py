"""Build a program in one of several ways, file by file, with the same flags each time."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.suite.programs import Sources
from bench.support.directories import PROJECT, WORK
from bench.support.errors import BenchError
from bench.support.locking import held

CLANG = "clang-22"
_TRODDEN = PROJECT / "src"
_STAMP = "stamp"
_SECONDS = "seconds"


@dataclass(frozen=True)
class Way:
    """A way to build: the driver for C and for C++, and flags that compilation and linking both get.

    ``reads`` are files that the flags name: the build is made anew when one of them has changed.
    """

    name: str
    cc: tuple[str, ...]
    cxx: tuple[str, ...]
    flags: tuple[str, ...]
    trodden: bool = False
    reads: tuple[Path, ...] = ()

    def driver(self, cxx: bool) -> tuple[str, ...]:
        """The command to compile and link with."""
        return self.cxx if cxx else self.cc


def clang(name: str, *flags: str) -> Way:
    """A build by the machine's clang."""
    return Way(name, (CLANG,), (CLANG, "--driver-mode=g++"), flags)


def gcc(name: str, *flags: str) -> Way:
    """A build by the machine's gcc."""
    return Way(name, ("gcc",), ("g++",), flags)


def trodden(name: str, *flags: str) -> Way:
    """A build by trodden, with the same clang beneath."""
    own = f"--trodden-toolchain={CLANG}"
    base = (sys.executable, "-m", "trodden")
    return Way(name, (*base, "cc", own), (*base, "c++", own), flags, trodden=True)


@dataclass(frozen=True)
class Built:
    """A build: the executable and the objects it was linked from, in the order of the sources."""

    executable: Path
    objects: tuple[Path, ...]


def build(program: Sources, way: Way) -> Built:
    """Build a program, unless the same build is there already."""
    home = home_of(program.name, way)
    with held(lock_of(home)):
        plan = Plan.of(program, way)
        if not is_there(home, plan.state):
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            what = f"{program.name}, {way.name}"
            finish(home, plan.state, sum(carry_out(command, home, what) for command in plan.commands))
    return plan.built


@dataclass(frozen=True)
class Plan:
    """What a build will come to, the commands that make it, and a hash of all that it follows from."""

    built: Built
    commands: tuple[list[str], ...]
    state: str

    @staticmethod
    def of(program: Sources, way: Way) -> Plan:
        """The plan for a program, whose sources are fetched if need be."""
        home = home_of(program.name, way)
        sources = program.files()
        objects = tuple(home / f"{number:02}-{source.stem}.o" for number, source in enumerate(sources))
        built = Built(home / program.name, objects)
        driver = [*way.driver(program.cxx), *way.flags]
        commands = [
            [*driver, "-w", *program.compile_flags(), "-c", str(source), "-o", str(target)]
            for source, target in zip(sources, objects, strict=True)
        ]
        commands.append([*driver, *map(str, objects), "-o", str(built.executable), *program.libraries])
        return Plan(built, tuple(commands), fingerprint(commands, [*sources, *program.own_headers()], way))


def home_of(name: str, way: Way) -> Path:
    """The directory in which a program is built in one way."""
    return WORK / "build" / name / way.name


def lock_of(home: Path) -> Path:
    """The lock that whoever builds there has to hold."""
    return home.with_name(f"{home.name}.lock")


def is_there(home: Path, state: str) -> bool:
    """Whether a finished build follows from the same things."""
    stamp = home / _STAMP
    return stamp.is_file() and stamp.read_text() == state and (home / _SECONDS).is_file()


def finish(home: Path, state: str, seconds: float) -> None:
    """Say that a build is finished, what it follows from, and the processor time that it took."""
    (home / _SECONDS).write_text(f"{seconds:.3f}\n")
    (home / _STAMP).write_text(state)


def seconds_of(home: Path) -> float:
    """The processor time that a finished build took."""
    return float((home / _SECONDS).read_text())


def carry_out(command: Sequence[str], directory: Path, what: str) -> float:
    """Run one command of a build, with trodden's own sources where Python finds them.

    Answers with the processor time that it took, with all that it has started and waited for.
    """
    environment = dict(os.environ, PYTHONPATH=str(_TRODDEN))
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            reason = said.read().decode(errors="replace")
            raise BenchError(f"{what}: {' '.join(command)} failed:\n{reason}".strip())
    return usage.ru_utime + usage.ru_stime


def fingerprint(commands: Sequence[Sequence[str]], sources: Sequence[Path], way: Way) -> str:
    """Everything that a build follows from, as a hash."""
    content = hashlib.sha256(repr(commands).encode())
    content.update(version_of(way.cc[0] if not way.trodden else CLANG).encode())
    inputs = [*sources, *way.reads, *(own_files() if way.trodden else [])]
    for path in inputs:
        content.update(path.read_bytes())
    return content.hexdigest()


def own_files() -> tuple[Path, ...]:
    """The files of trodden itself, its tables of rates too: builds are made anew when one has changed."""
    files = (_TRODDEN / "trodden").rglob("*")
    return tuple(sorted(path for path in files if path.suffix in (".py", ".c", ".h", ".json")))


@cache
def version_of(tool: str) -> str:
    """The first line that a tool says of itself."""
    if shutil.which(tool) is None:
        return "missing"
    done = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.strip().splitlines() or ["unknown"])[0]


def need(tools: Sequence[str]) -> None:
    """Say what to install if a tool is missing."""
    packages = {
        CLANG: CLANG,
        "gcc": "gcc",
        "g++": "g++",
        "gcov": "gcc",
        "gcov-dump": "gcc",
        "apt-get": "apt",
        "strip": "binutils",
        "rustc": "rustc",
        "valgrind": "valgrind",
        "llvm-cov-22": "llvm-22",
        "opt-22": "llvm-22",
        "llvm-profdata-22": "llvm-22",
    }
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        wanted = " ".join(sorted({packages.get(tool, tool) for tool in missing}))
        raise BenchError(f"{', '.join(missing)}: not found; with Debian, apt-get install {wanted}")
