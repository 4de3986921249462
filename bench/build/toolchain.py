"""The compilers and tools of the machine: their versions, and what to install if one is missing."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from bench.support.directories import PROJECT
from bench.support.errors import BenchError

CLANG = "clang-22"
TRODDEN_SOURCES = PROJECT / "src"

_PACKAGES = {
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


@cache
def version_of(tool: str) -> str:
    """The first line that a tool prints about itself."""
    if shutil.which(tool) is None:
        return "missing"
    done = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.strip().splitlines() or ["unknown"])[0]


def require(tools: Sequence[str]) -> None:
    """Raise an error that says what to install if a tool is missing."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        packages = " ".join(sorted({_PACKAGES.get(tool, tool) for tool in missing}))
        raise BenchError(f"{', '.join(missing)}: not found; with Debian, apt-get install {packages}")


def output_of(command: Sequence[str], directory: Path) -> str:
    """The output of a tool that must succeed."""
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise BenchError(f"{' '.join(command)} failed: {last}")
    return done.stdout


def trodden_files() -> tuple[Path, ...]:
    """The source files of trodden itself, its tables of rates included."""
    files = (TRODDEN_SOURCES / "trodden").rglob("*")
    return tuple(sorted(path for path in files if path.suffix in (".py", ".c", ".h", ".json")))
