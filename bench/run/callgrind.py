"""Run builds: their output, the instructions they execute, the time they take, the profile they leave."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.support.directories import WORK
from bench.support.errors import BenchError
from trodden.profile.model import Profile

_COLLECTED = re.compile(r"Collected : (\d+)")


@dataclass(frozen=True)
class Ran:
    """How a run ended: its status, a hash of its output, and its user and system time in seconds.

    Tables that a profile counts in are pages that the system has to find, so its time belongs to the cost.
    """

    status: int
    output: str
    user: float
    system: float = 0.0

    @property
    def seconds(self) -> float:
        """All the time that the processor spent on it."""
        return self.user + self.system


@dataclass(frozen=True)
class Runner:
    """Runs in a directory of their own, where profiles of all kinds go."""

    directory: Path

    @property
    def raw(self) -> Path:
        """Where trodden's counts go."""
        return self.directory / "counts.raw"

    @property
    def profraw(self) -> Path:
        """Where clang's counts go."""
        return self.directory / "counts.profraw"

    def run(self, command: Sequence[str], under: Sequence[str] = ()) -> Ran:
        """Run once, with nothing left over from a run before.

        A program may look at the name that it was called by, so that every build is called by the same:
        that of a link to it in the directory of the run.
        """
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        link = self.directory / Path(command[0]).name
        link.symlink_to(command[0])
        out = self.directory / "stdout"
        with out.open("wb") as stdout, (self.directory / "stderr").open("wb") as stderr:
            process = subprocess.Popen(
                [*under, f"./{link.name}", *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=self.environment(),
                cwd=self.directory,
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        output = hashlib.sha256(out.read_bytes()).hexdigest()
        return Ran(process.returncode, output, usage.ru_utime, usage.ru_stime)

    def instructions(self, command: Sequence[str]) -> tuple[int, Ran]:
        """Run under callgrind and count the instructions, those of writing a profile at the end included."""
        log = self.directory.with_suffix(".callgrind")
        ran = self.run(command, callgrind(log))
        return collected(log), ran

    def environment(self) -> Mapping[str, str]:
        """The environment in which all profiles go into the directory."""
        return dict(
            os.environ,
            TRODDEN_FILE=str(self.raw),
            LLVM_PROFILE_FILE=str(self.profraw),
            GCOV_PREFIX=str(self.directory / "gcov"),
            GCOV_PREFIX_STRIP="0",
        )


def callgrind(log: Path) -> tuple[str, ...]:
    """What to put before a command to have its instructions counted; the log is made anew."""
    log.unlink(missing_ok=True)
    return ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}")


def collected(log: Path) -> int:
    """The instructions that callgrind has counted."""
    found = _COLLECTED.search(log.read_text()) if log.is_file() else None
    if found is None:
        raise BenchError(f"callgrind did not count; see {log}")
    return int(found.group(1))


def runner(program: str, way: str) -> Runner:
    """The place to run one build of one program."""
    return Runner(WORK / "run" / program / way)


def must_agree(program: str, runs: Mapping[str, Ran]) -> None:
    """All builds of a program have to do the same thing."""
    first, reference = next(iter(runs.items()))
    for way, ran in runs.items():
        if (ran.status, ran.output) != (reference.status, reference.output):
            raise BenchError(
                f"{program}: built as {way} it ends with status {ran.status} and output {ran.output[:12]}, "
                f"as {first} with {reference.status} and {reference.output[:12]}"
            )


def remarks(program: str, profile: Profile) -> None:
    """Everything that a profile admits of itself belongs into the open here."""
    for note in profile.notes:
        print(f"{program}: note: {note}")
    for skipped in profile.skipped:
        print(f"{program}: not profiled: {skipped.name}: {skipped.reason}")
    for function in profile.functions.values():
        for violation in function.violations:
            print(f"{program}: {function.name}: {violation}")
