"""Build a program in one of several ways, file by file, with the same flags each time."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.errors import BenchError
from bench.programs import HERE, WORK, Program

CLANG = "clang-22"
_TRODDEN = HERE.parent / "src"


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


def build(program: Program, way: Way) -> Built:
    """Build a program, unless the same build is there already."""
    home = WORK / "build" / program.name / way.name
    sources = program.files()
    objects = tuple(home / f"{number:02}-{source.stem}.o" for number, source in enumerate(sources))
    built = Built(home / program.name, objects)
    driver = [*way.driver(program.cxx), *way.flags]
    flags = [flag.replace("@sources", str(program.source_directory())) for flag in program.flags]
    commands = [
        [*driver, "-w", *flags, "-c", str(source), "-o", str(target)]
        for source, target in zip(sources, objects, strict=True)
    ]
    commands.append([*driver, *map(str, objects), "-o", str(built.executable), *program.libraries])
    stamp = home / "stamp"
    state = fingerprint(commands, sources, way)
    if stamp.is_file() and stamp.read_text() == state:
        return built
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    for command in commands:
        carry_out(command, home, f"{program.name}, {way.name}")
    stamp.write_text(state)
    return built


def carry_out(command: Sequence[str], directory: Path, what: str) -> None:
    """Run one command of a build, with trodden's own sources where Python finds them."""
    environment = dict(os.environ, PYTHONPATH=str(_TRODDEN))
    done = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BenchError(f"{what}: {' '.join(command)} failed:\n{done.stdout}{done.stderr}".strip())


def fingerprint(commands: Sequence[Sequence[str]], sources: Sequence[Path], way: Way) -> str:
    """Everything that a build follows from, as a hash."""
    content = hashlib.sha256(repr(commands).encode())
    content.update(version_of(way.cc[0] if not way.trodden else CLANG).encode())
    inputs = [*sources, *way.reads, *(_own_files() if way.trodden else [])]
    for path in inputs:
        content.update(path.read_bytes())
    return content.hexdigest()


@cache
def _own_files() -> tuple[Path, ...]:
    """The files of trodden itself: a build is made anew when one of them has changed."""
    files = (_TRODDEN / "trodden").rglob("*")
    return tuple(sorted(path for path in files if path.suffix in (".py", ".c", ".h")))


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
        "rustc": "rustc",
        "valgrind": "valgrind",
        "llvm-cov-22": "llvm-22",
        "opt-22": "llvm-22",
        "llvm-profdata-22": "llvm-22",
    }
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        wanted = " ".join(sorted({packages.get(tool, tool) for tool in missing}))
        raise BenchError(f"{', '.join(missing)}: not found; install {wanted} and try again")
