"""Runs of a program on one of its inputs: always in a fresh directory, always checked.

Every build is called by the same name with the same words in the same kind of directory, so that all of
them do the same work.  Profiles of all kinds go into that directory.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Timer

from bench.run.client_thread import Driven
from bench.run.fingerprints import inputs
from bench.run.process_memory import Waiter
from bench.suite.model import CaseName, SuiteProgram
from bench.support.directories import WORK
from bench.support.errors import BenchError

TIMED = "times"
"""The purpose of runs whose time is taken."""

_PATIENCE = 3600.0
_SHARED = Path("/dev/shm")
_LOCALE = {"LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True)
class Ran:
    """A run that did what it should: its directory, its processor time, and the time by the clock."""

    directory: Path
    seconds: float
    elapsed: float

    @property
    def raws(self) -> list[Path]:
        """What trodden has counted, a file for each process."""
        return sorted(self.directory.glob("counts.*.raw"))

    @property
    def profraws(self) -> list[Path]:
        """What clang has counted."""
        return sorted(self.directory.glob("counts.*.profraw"))

    @property
    def gcdas(self) -> list[Path]:
        """What was counted in the files that gcov reads."""
        return sorted((self.directory / "gcov").rglob("*.gcda"))


@dataclass(frozen=True)
class Run:
    """A run to be: of a build on a case, for a purpose that gives it a directory of its own."""

    program: SuiteProgram
    way: str
    case: CaseName
    purpose: str
    executable: Path

    @property
    def directory(self) -> Path:
        """Where it runs; if its time is taken in memory, where ``trodden run`` has its counts too."""
        home = WORK / "run"
        if self.purpose == TIMED and os.access(_SHARED, os.W_OK):
            home = _SHARED / f"trodden-bench-{sha256(str(WORK).encode()).hexdigest()[:12]}"
        return home / self.program.name / f"{self.way}-{self.case}-{self.purpose}"

    @property
    def what(self) -> str:
        """What to call it when something is wrong with it."""
        return f"{self.program.name}, {self.way}, {self.case}"

    def carry_out(self, under: Sequence[str] = (), waiter: Waiter | None = None) -> Ran:
        """Run, behind the words of ``under`` if there are some, and see that it did what it should."""
        waiter = waiter or Waiter()
        case, given = self.program.case(self.case), inputs(self.program, self.case)
        stdin = case.prepare(self.directory, given)
        link = self.directory / self.program.name
        link.symlink_to(self.executable)
        out = self.directory / "stdout"
        started = time.monotonic()
        with ExitStack() as stack:
            process = subprocess.Popen(
                [*waiter.before, *under, f"./{link.name}", *case.words()],
                cwd=self.directory,
                env=self._environment(),
                stdin=stack.enter_context(stdin.open("rb")),
                stdout=stack.enter_context(out.open("wb")),
                stderr=stack.enter_context((self.directory / "stderr").open("wb")),
            )
            stack.callback(_end, process)
            stopping = Timer(_PATIENCE, process.kill)
            stopping.daemon = True
            stack.callback(stopping.cancel)
            stopping.start()
            waiter.started(process.pid)
            driven = self._driven(given, process.pid)
            try:
                status, usage = waiter.ended(process.pid)
            finally:
                if driven is not None:
                    driven.ended()
            process.returncode = os.waitstatus_to_exitcode(status)
            if driven is not None:
                out = self.directory / "replies"
                out.write_bytes(driven.replies)
        elapsed = time.monotonic() - started
        self._check(process.returncode, out)
        return Ran(self.directory, usage.ru_utime + usage.ru_stime, elapsed)

    def _driven(self, given: Path, pid: int) -> Driven | None:
        """The client of a server, at work."""
        if self.program.driver is None:
            return None
        driven = Driven(self.program.driver, self.directory, given, pid)
        driven.start()
        return driven

    def _environment(self) -> Mapping[str, str]:
        """The environment in which all profiles go into the directory."""
        profiles = {
            "TRODDEN_FILE": str(self.directory / "counts.%p.raw"),
            "LLVM_PROFILE_FILE": str(self.directory / "counts.%p.profraw"),
            "GCOV_PREFIX": str(self.directory / "gcov"),
            "GCOV_PREFIX_STRIP": "0",
        }
        return {**os.environ, **_LOCALE, **profiles}

    def _check(self, status: int, out: Path) -> None:
        case = self.program.case(self.case)
        if status != case.status:
            said = (self.directory / "stderr").read_text(errors="replace").strip().splitlines()
            last = " | ".join(said[-3:])
            raise BenchError(f"{self.what}: ended with status {status}, not {case.status}: {last}")
        found = case.digest(self.directory, out)
        if found != case.sha256:
            expected = f"{found[:12]}, not {case.sha256[:12]}"
            raise BenchError(f"{self.what}: put out something else ({expected}): see {out}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leave nothing behind when something went wrong."""
    if process.returncode is None:
        process.kill()
        process.wait()
