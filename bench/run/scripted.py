"""Profiles of workloads: a program is built with its IR kept, run as its script says, and collected.

Estimates are compared with these profiles.  A run may be short: only the order of blocks and edges by their
frequency matters, not how long anything takes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.build.builders import builder
from bench.build.config import Config
from bench.build.stamps import fingerprint, run_command
from bench.build.toolchain import TRODDEN_TOOLCHAIN
from bench.suite.model import Program, Workload
from bench.suite.sources import PackageCommand
from bench.support.directories import BENCH, WORK
from bench.support.errors import BenchError
from bench.support.hashing import contents, hashed
from bench.support.locking import locked
from bench.support.memo import Memo

DEFAULT_LEVEL = "O2"
_KEEP_IR = BENCH / "build" / "keep_ir.py"
_TIMEOUT = 300

_workloads: Memo[str] = Memo()


@dataclass(frozen=True)
class ScriptedProgram:
    """A program that has a workload, at a level of optimisation."""

    program: Program
    level: str

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.program.name

    @property
    def package(self) -> str:
        """What it is built together with: programs of one package share code."""
        source = self.program.source
        return source.package.name if isinstance(source, PackageCommand) else self.name

    @property
    def ir(self) -> Path:
        """The directory with the IR that was instrumented, see :mod:`bench.build.keep_ir`."""
        return self._home / "ir" / self.package

    def executable(self) -> Path:
        """The instrumented program, built unless the same build exists."""
        return builder(self.program.source).executable(self._config)

    def profile(self) -> Path:
        """The file with the profile of all runs of the workload, which are made unless it is current."""
        executable = self.executable()
        path = self._home / f"{self.name}.trod"
        stamp = path.with_suffix(".stamp")
        with locked(path.with_suffix(".lock")):
            state = fingerprint([[self._workload_hash()]], [executable], self._config)
            if not (path.is_file() and stamp.is_file() and stamp.read_text() == state):
                stamp.unlink(missing_ok=True)
                self._run_all(executable, path)
                stamp.write_text(state)
        return path

    def fingerprint(self) -> str:
        """A hash of everything that the profile depends on, without building anything."""
        build = builder(self.program.source).fingerprint(self._config)
        return fingerprint([[build, self._workload_hash()]], [], self._config)

    @property
    def _suffix(self) -> str:
        return "" if self.level == DEFAULT_LEVEL else f"-{self.level}"

    @property
    def _home(self) -> Path:
        return WORK / f"estimates{self._suffix}"

    @property
    def _config(self) -> Config:
        """A build by trodden that keeps the IR."""
        base = (sys.executable, "-P", str(_KEEP_IR), str(self.ir))
        toolchain = f"--trodden-toolchain={TRODDEN_TOOLCHAIN}"
        cc, cxx = (*base, "cc", toolchain), (*base, "c++", toolchain)
        name = f"estimates{self._suffix}"
        return Config(name, cc, cxx, flags=(f"-{self.level}",), trodden=True)

    @property
    def _workload(self) -> Workload:
        if self.program.workload is None:
            raise BenchError(f"{self.name}: has no workload, so estimates cannot be compared with it")
        return self.program.workload

    def _workload_hash(self) -> str:
        """A hash of the script and of the files that it reads."""

        def compute() -> str:
            with TemporaryDirectory() as directory:
                self._workload.files(Path(directory))
                return hashed(self._workload.script.read_text(), contents(Path(directory)))

        return _workloads.get((self.name,), compute)

    def _run_all(self, executable: Path, profile: Path) -> None:
        """Execute all lines of the script in a directory of its own, and collect their counts."""
        home = self._home / "runs" / self.name
        shutil.rmtree(home, ignore_errors=True)
        files, raw, tools = home / "files", home / "raw", home / "tools"
        for directory in (files, raw, tools):
            directory.mkdir(parents=True)
        self._workload.files(files)
        (tools / self.name).symlink_to(executable)
        for number, line in enumerate(self._workload.script.read_text().splitlines()):
            environment = {
                "PATH": f"{tools}:{os.environ['PATH']}",
                "LC_ALL": "C",
                "TRODDEN_FILE": str(raw / f"{number:02}.%p.raw"),
            }
            _run_line(line, files, environment)
        command = [sys.executable, "-m", "trodden", "collect", str(raw), "-o", str(profile)]
        run_command(command, home, f"{self.name}, collect")
        shutil.rmtree(home)


def _run_line(line: str, directory: Path, environment: dict[str, str]) -> None:
    """One run, which may fail as a command does, but has to end by itself."""
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"{line}: does not end") from error
    if not 0 <= done.returncode < 126:
        messages = done.stderr.decode(errors="replace").strip()
        raise BenchError(f"{line}: ended with {done.returncode}: {messages}")
