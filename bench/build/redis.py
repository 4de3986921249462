"""Redis, built by its own Makefile.

That takes one compiler for everything, Lua and the other libraries inside Redis included, so that all flags
are part of the compiler's name.
"""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from bench.build.config import Config
from bench.build.fetching import unpacked
from bench.build.stamps import complete, fingerprint, is_current, lock_of, run_command, seconds_of
from bench.suite.sources import RedisSource
from bench.support.directories import WORK
from bench.support.locking import locked

# Valgrind cannot read the debug information of newer compilers.
_NO_DEBUG = ("DEBUG=", "DEBUG_FLAGS=")


@dataclass(frozen=True)
class MakeRedis:
    """Builds one target of the Makefile."""

    source: RedisSource

    def executable(self, config: Config) -> Path:
        """The executable, built unless the same build exists."""
        home = self._home(config)
        with locked(lock_of(home)):
            state = self.fingerprint(config)
            if not is_current(home, state):
                sources = unpacked(self.source.archive, self.source.directory, WORK)
                shutil.rmtree(home, ignore_errors=True)
                shutil.copytree(sources, home / "tree")
                command = [*self._command(config), "-j1"]
                complete(home, state, run_command(command, home / "tree", f"redis, {config.name}"))
        return home / "tree" / "src" / self.source.target

    def fingerprint(self, config: Config) -> str:
        """A hash of everything that the build depends on."""
        return fingerprint([self._command(config), [self.source.archive.sha256]], [], config)

    def seconds(self, config: Config) -> float:
        """The processor time that the build took, the libraries inside Redis included."""
        return seconds_of(self._home(config))

    def _home(self, config: Config) -> Path:
        return WORK / "build" / "redis" / f"{config.name}-{self.source.target}"

    def _command(self, config: Config) -> list[str]:
        compiler = shlex.join([*config.cc, *config.flags, "-w"])
        settings = [f"CC={compiler}", "MALLOC=libc", "OPTIMIZATION=-O2", *_NO_DEBUG]
        return ["make", "-C", "src", *settings, self.source.target]
