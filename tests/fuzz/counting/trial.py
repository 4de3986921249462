"""Builds a program, runs it, and compares its counts with those that it has kept itself."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.counting.compare import Comparison, compare
from tests.fuzz.counting.configuration import Configuration
from tests.fuzz.counting.observed import observe, prepare
from tests.fuzz.counting.program import Program
from tests.native.building import PROGRAMS, TRODDEN, environment
from trodden.errors import TroddenError
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile
from trodden.profile.store.trod import load

_HERE = Path(__file__).parent
_PATIENCE = 120
"""Seconds after which a program or a build is taken to hang."""

_TOO_LONG = 99
"""The status of a program that was out of fuel for long."""

_LINKING = {"static": ("--target=x86_64-linux-musl", "-static"), "no-pie": ("-no-pie",)}
_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP)


class Unusable(Exception):
    """A program of which nothing can be compared, and the reason."""


class Broken(Exception):
    """A program that does not compile, does not end or dies, or whose counts cannot be read."""


@dataclass
class Trial:
    """One program, built and run in one way, in a folder of its own."""

    folder: Path
    program: Program
    configuration: Configuration
    commands: list[str] = field(default_factory=list)

    def run(self) -> Comparison:
        """Build, run and compare."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self._build()
        try:
            profile = self._profile()
            return compare(self.program, self.configuration, observe(self.folder), profile)
        except (TroddenError, ValueError, KeyError) as error:
            raise Broken(f"cannot be compared: {type(error).__name__}: {error}") from error

    def _build(self) -> None:
        names = [f"{stem}.{self.program.suffix}" for stem in ("first", "second")]
        for name, text in zip(names, (self.program.first, self.program.second), strict=True):
            (self.folder / name).write_text(text)
        compiler = "c++" if self.program.features.cpp else "cc"
        flags = [*self.configuration.options, "-w", f"-I{_HERE}", f"-I{PROGRAMS}", "-pthread"]
        match self.configuration.linked:
            case "shared" | "loaded" as how:
                self._must(compiler, *flags, "-fPIC", "-shared", names[1], "-o", "libsecond.so")
                loads = how == "loaded"
                found = ['-DLOADED="./libsecond.so"', "-rdynamic", "-ldl"] if loads else ["./libsecond.so"]
                self._must(compiler, *flags, names[0], *found, "-o", "program")
            case how:
                self._must(compiler, *flags, *_LINKING.get(how, ()), *names, "-o", "program")

    def _must(self, *words: str) -> None:
        done = self._execute([*TRODDEN, *words], {})
        if done.returncode != 0:
            raise Broken(f"does not compile: {done.stderr.decode(errors='replace')[-2000:]}")

    def _profile(self) -> Profile:
        raws = self.folder / "raws"
        raws.mkdir()
        own = prepare(self.folder)
        if self.configuration.under_run:
            done = self._execute([*TRODDEN, "run", "--quiet", "-o", "run.trod", "./program"], own)
            self._check(done)
            return load(self.folder / "run.trod")
        self._check(self._execute(["./program"], own | {"TRODDEN_FILE": str(raws / "%p.raw")}))
        return collect([raws])

    def _check(self, done: subprocess.CompletedProcess[bytes]) -> None:
        features = self.program.features
        if done.returncode == _TOO_LONG and features.threads:
            raise Unusable("threads took too long, and were stopped anywhere")
        if -done.returncode in _CRASHES and not features.faults and self.program.end != "fault":
            raise Broken(f"dies by signal {-done.returncode}")
        if b"trodden:" in done.stderr:
            raise Broken(f"a message of the runtime: {done.stderr.decode(errors='replace')[-500:]}")

    def _execute(
        self, words: Sequence[str], variables: Mapping[str, str]
    ) -> subprocess.CompletedProcess[bytes]:
        named = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
        self.commands.append(f"{named} {shlex.join(words)}".strip())
        try:
            return subprocess.run(
                words,
                cwd=self.folder,
                env=environment({**variables, "LD_LIBRARY_PATH": "."}),
                capture_output=True,
                check=False,
                timeout=_PATIENCE,
                stdin=subprocess.DEVNULL,
                preexec_fn=os.setsid,
            )
        except subprocess.TimeoutExpired as error:
            raise Broken(f"does not end: {shlex.join(words)}") from error
