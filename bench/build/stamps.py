"""Directories of builds: a build that is current is reused, and one that was interrupted is made again.

Every build has a directory with a lock beside it.  A stamp is written when the build is complete, with a hash
of everything that it depends on.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.build.config import Config
from bench.build.toolchain import CLANG, TRODDEN_SOURCES, trodden_files, version_of
from bench.support.directories import WORK
from bench.support.errors import BenchError

_STAMP = "stamp"
_SECONDS = "seconds"


def home_of(name: str, config: Config) -> Path:
    """The directory in which a program or package is built in a configuration."""
    return WORK / "build" / name / config.name


def lock_of(home: Path) -> Path:
    """The lock that the builder must hold."""
    return home.with_name(f"{home.name}.lock")


def is_current(home: Path, fingerprint: str) -> bool:
    """Whether there is a complete build with this fingerprint."""
    stamp = home / _STAMP
    return stamp.is_file() and stamp.read_text() == fingerprint and (home / _SECONDS).is_file()


def complete(home: Path, fingerprint: str, seconds: float) -> None:
    """Mark a build as complete, with its fingerprint and the processor time that it took."""
    (home / _SECONDS).write_text(f"{seconds:.3f}\n")
    (home / _STAMP).write_text(fingerprint)


def seconds_of(home: Path) -> float:
    """The processor time that a complete build took."""
    return float((home / _SECONDS).read_text())


def run_command(command: Sequence[str], directory: Path, what: str) -> float:
    """Run one command of a build, with trodden's sources on Python's path.

    Returns the processor time of the command and of all processes that it has waited for.
    """
    environment = dict(os.environ, PYTHONPATH=str(TRODDEN_SOURCES))
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=messages,
            stderr=messages,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            messages.seek(0)
            reason = messages.read().decode(errors="replace")
            raise BenchError(f"{what}: {' '.join(command)} failed:\n{reason}".strip())
    return usage.ru_utime + usage.ru_stime


def fingerprint(commands: Sequence[Sequence[str]], sources: Sequence[Path], config: Config) -> str:
    """A hash of everything that a build depends on."""
    content = hashlib.sha256(repr(commands).encode())
    content.update(version_of(CLANG if config.trodden else config.compiler).encode())
    inputs = [*sources, *config.reads, *(trodden_files() if config.trodden else [])]
    for path in inputs:
        content.update(path.read_bytes())
    return content.hexdigest()
