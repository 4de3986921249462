"""Runs of a program on one of its cases: always in an empty directory, always checked.

Every build is called by the same name with the same arguments in the same kind of directory, so that all of
them do the same work.  Profiles of all kinds are written to that directory.
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

from bench.run.cases import arguments_of, digest, prepare
from bench.run.client_thread import ClientThread
from bench.run.inputs import inputs
from bench.run.process_memory import Waiter
from bench.suite.model import CaseName, SuiteProgram
from bench.support.directories import WORK
from bench.support.errors import BenchError

TIMED = "times"
"""The purpose of runs whose time is measured."""

_TIMEOUT = 3600.0
_SHARED_MEMORY = Path("/dev/shm")
_LOCALE = {"LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True)
class RunResult:
    """A run that was correct: its directory, its processor time, and its elapsed time."""

    directory: Path
    seconds: float
    elapsed: float

    @property
    def raw_files(self) -> list[Path]:
        """Trodden's counts, a file for each process."""
        return sorted(self.directory.glob("counts.*.raw"))

    @property
    def profraw_files(self) -> list[Path]:
        """Clang's counts."""
        return sorted(self.directory.glob("counts.*.profraw"))

    @property
    def gcda_files(self) -> list[Path]:
        """Counts in the format of gcov."""
        return sorted((self.directory / "gcov").rglob("*.gcda"))

    @property
    def stdout(self) -> Path:
        """What the program has printed."""
        return self.directory / "stdout"


@dataclass(frozen=True)
class Run:
    """A run of a build on a case, for a purpose that gives it a directory of its own."""

    program: SuiteProgram
    config: str
    case: CaseName
    purpose: str
    executable: Path

    @property
    def directory(self) -> Path:
        """Where it runs: if it is timed, in memory, where ``trodden run`` has its counters too."""
        home = WORK / "run"
        if self.purpose == TIMED and os.access(_SHARED_MEMORY, os.W_OK):
            home = _SHARED_MEMORY / f"trodden-bench-{sha256(str(WORK).encode()).hexdigest()[:12]}"
        return home / self.program.name / f"{self.config}-{self.case}-{self.purpose}"

    @property
    def what(self) -> str:
        """Its name in messages."""
        return f"{self.program.name}, {self.config}, {self.case}"

    def execute(self, under: Sequence[str] = (), waiter: Waiter | None = None) -> RunResult:
        """Run, as arguments of ``under`` if that is given, and check status and output."""
        waiter = waiter or Waiter()
        case, given = self.program.case(self.case), inputs(self.program, self.case)
        stdin = prepare(case, self.directory, given)
        link = self.directory / self.program.name
        link.symlink_to(self.executable)
        output = self.directory / "stdout"
        started = time.monotonic()
        with ExitStack() as stack:
            process = subprocess.Popen(
                [*waiter.before, *under, f"./{link.name}", *arguments_of(case)],
                cwd=self.directory,
                env=self._environment(),
                stdin=stack.enter_context(stdin.open("rb")),
                stdout=stack.enter_context(output.open("wb")),
                stderr=stack.enter_context((self.directory / "stderr").open("wb")),
            )
            stack.callback(_kill, process)
            timer = Timer(_TIMEOUT, process.kill)
            timer.daemon = True
            stack.callback(timer.cancel)
            timer.start()
            waiter.started(process.pid)
            client = self._client(given, process.pid)
            try:
                status, usage = waiter.wait(process.pid)
            finally:
                if client is not None:
                    client.finish()
            process.returncode = os.waitstatus_to_exitcode(status)
            if client is not None:
                output = self.directory / "replies"
                output.write_bytes(client.replies)
        elapsed = time.monotonic() - started
        self._check(process.returncode, output)
        return RunResult(self.directory, usage.ru_utime + usage.ru_stime, elapsed)

    def _client(self, given: Path, pid: int) -> ClientThread | None:
        """The client of a server, started."""
        if self.program.client is None:
            return None
        client = ClientThread(self.program.client, self.directory, given, pid)
        client.start()
        return client

    def _environment(self) -> Mapping[str, str]:
        """The environment in which all profiles are written to the directory."""
        profiles = {
            "TRODDEN_FILE": str(self.directory / "counts.%p.raw"),
            "LLVM_PROFILE_FILE": str(self.directory / "counts.%p.profraw"),
            "GCOV_PREFIX": str(self.directory / "gcov"),
            "GCOV_PREFIX_STRIP": "0",
        }
        return {**os.environ, **_LOCALE, **profiles}

    def _check(self, status: int, output: Path) -> None:
        case = self.program.case(self.case)
        if status != case.status:
            messages = (self.directory / "stderr").read_text(errors="replace").strip().splitlines()
            last = " | ".join(messages[-3:])
            raise BenchError(f"{self.what}: ended with status {status}, not {case.status}: {last}")
        found = digest(case, self.directory, output)
        if found != case.sha256:
            expected = f"{found[:12]}, not {case.sha256[:12]}"
            raise BenchError(f"{self.what}: wrong output ({expected}): see {output}")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Leave no process behind after an error."""
    if process.returncode is None:
        process.kill()
        process.wait()
