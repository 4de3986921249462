"""Rust crates, compiled by rustc or by ``trodden rustc``: a library, then the program that uses it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from bench.build.config import Config
from bench.build.stamps import complete, fingerprint, home_of, is_current, lock_of, run_command, seconds_of
from bench.build.toolchain import version_of
from bench.suite.sources import RustCrates
from bench.support.directories import DATA
from bench.support.locking import locked

_NAME = "rust"


@dataclass(frozen=True)
class Crates:
    """Builds both crates."""

    source: RustCrates

    def executable(self, config: Config) -> Path:
        """The executable, built unless the same build exists."""
        home = home_of(_NAME, config)
        with locked(lock_of(home)):
            state = self.fingerprint(config)
            if not is_current(home, state):
                shutil.rmtree(home, ignore_errors=True)
                home.mkdir(parents=True)
                what = f"{_NAME}, {config.name}"
                seconds = sum(run_command(command, home, what) for command in self._commands(config))
                complete(home, state, seconds)
        return home / _NAME

    def fingerprint(self, config: Config) -> str:
        """A hash of everything that the build depends on."""
        commands = [*self._commands(config), [version_of("rustc")]]
        return fingerprint(commands, [DATA / self.source.library, DATA / self.source.program], config)

    def seconds(self, config: Config) -> float:
        """The processor time that the build took."""
        return seconds_of(home_of(_NAME, config))

    def _commands(self, config: Config) -> list[list[str]]:
        home = home_of(_NAME, config)
        driver = [*config.driver("Rust"), *config.flags, *self.source.flags]
        library, program = str(DATA / self.source.library), str(DATA / self.source.program)
        return [
            [*driver, "--crate-type", "rlib", library, "--out-dir", str(home)],
            [*driver, "-L", str(home), program, "-o", str(home / _NAME)],
        ]
