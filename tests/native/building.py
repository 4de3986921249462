"""Calling trodden's compilers and ``trodden run`` from tests, as a shell would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
TRODDEN = (sys.executable, "-m", "trodden")
SOURCE_ROOT = str(Path(__file__).parents[2] / "src")
LIMIT = 600
"""Seconds, for what hangs; a busy machine takes long.  Whatever the toolchain builds on first use has been
built before (``tests/warm_up.py``)."""


def environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """That of the tests, with the package on the path and without variables that configure it.

    On a busy machine anything may take a second, so lines about that are switched off.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRODDEN_")}
    kept |= {"PYTHONPATH": SOURCE_ROOT, "TRODDEN_QUIET": "1"}
    return kept | dict(changes or {})


def trodden(
    *words: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> subprocess.CompletedProcess[str]:
    """Run a command line of trodden to its end."""
    done = subprocess.run(
        [*TRODDEN, *map(str, words)],
        cwd=cwd,
        env=environment(env),
        input=stdin,
        capture_output=True,
        check=False,
        timeout=LIMIT,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    )


def must(*words: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command line that has to succeed without messages; return its output."""
    done = trodden(*words, cwd=cwd, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def run(program: str | Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a built program by itself."""
    return execute([str(program), *arguments], cwd)


def execute(
    command: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run any command."""
    return subprocess.run(
        command, cwd=cwd, env=environment(env), capture_output=True, text=True, check=False, timeout=LIMIT
    )
