"""The compilers and tools of the machine: their versions, and what to install if one is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from bench.support.directories import PROJECT
from bench.support.errors import BenchError

INSTALLED_CLANG = "clang-22"
"""What it is called in all that is written."""

CLANG = INSTALLED_CLANG if shutil.which(INSTALLED_CLANG) else str(Path(__file__).with_name("embedded-clang"))
"""The machine's clang; without one, that of the same version which PyPI's ziglang carries."""

TRODDEN_TOOLCHAIN = CLANG if CLANG == INSTALLED_CLANG else "embedded"
"""The same compiler, for trodden."""

os.environ.setdefault("BENCH_PYTHON", sys.executable)
TRODDEN_SOURCES = PROJECT / "src"

_PACKAGES = {
    INSTALLED_CLANG: INSTALLED_CLANG,
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
