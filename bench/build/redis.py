"""Redis, built from its own sources by its own Makefile, in one way or another."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.build.compile import Way, carry_out, fingerprint, finish, is_there, lock_of, seconds_of
from bench.build.fetching import Archive, unpacked
from bench.support.directories import WORK
from bench.support.locking import held

VERSION = "7.0.15"
SERVER = "redis-server"
LOAD = "redis-benchmark"
_ARCHIVE = Archive(
    "apt",
    "redis",
    "redis_7.0.15.orig.tar.gz",
    "4b1dc4ee6d622a09fff9c6777191209750fb5e5a725ef78ea012d6eef4c22982",
)
_DIRECTORY = "redis-7.0.15"
# Valgrind's reader of debug information gives up on what newer compilers write.
_NO_DEBUG = ("DEBUG=", "DEBUG_FLAGS=")


@dataclass(frozen=True)
class Redis:
    """One of the programs that the Makefile of Redis makes.

    It takes one compiler for everything, Lua and the other libraries inside Redis included, so that all
    flags travel with its name.
    """

    target: str = SERVER
    language: Literal["C"] = "C"
    archive: Archive = _ARCHIVE

    def built(self, way: Way, jobs: int = 1) -> Path:
        """The executable, built unless the same build is there already."""
        home = self._home(way)
        with held(lock_of(home)):
            state = self.fingerprint(way)
            if not is_there(home, state):
                sources = unpacked(_ARCHIVE, _DIRECTORY, WORK)
                shutil.rmtree(home, ignore_errors=True)
                shutil.copytree(sources, home / "tree")
                command = [*self._command(way), f"-j{jobs}"]
                finish(home, state, carry_out(command, home / "tree", f"redis, {way.name}"))
        return home / "tree" / "src" / self.target

    def fingerprint(self, way: Way) -> str:
        """Everything that the build follows from, as a hash."""
        return fingerprint([self._command(way), [_ARCHIVE.sha256]], [], way)

    def seconds(self, way: Way) -> float:
        """The processor time that the build took, with that of the libraries inside Redis."""
        return seconds_of(self._home(way))

    def _home(self, way: Way) -> Path:
        return WORK / "build" / "redis" / f"{way.name}-{self.target}"

    def _command(self, way: Way) -> list[str]:
        compiler = shlex.join([*way.cc, *way.flags, "-w"])
        settings = [f"CC={compiler}", "MALLOC=libc", "OPTIMIZATION=-O2", *_NO_DEBUG]
        return ["make", "-C", "src", *settings, self.target]


def built(way: Way, target: str = SERVER) -> Path:
    """A program of Redis, built unless the same build is there already."""
    return Redis(target).built(way, jobs=2)
