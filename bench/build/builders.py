"""Which builder belongs to which kind of sources."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Protocol

from bench.build.config import Config
from bench.build.file_by_file import FileByFile
from bench.build.packages import Make
from bench.build.redis import MakeRedis
from bench.build.rust import Crates
from bench.suite.sources import PackageCommand, RedisSource, RustCrates, SourceFiles
from bench.support.errors import BenchError


class Builder(Protocol):
    """Builds one executable in any configuration."""

    def executable(self, config: Config) -> Path:
        """The executable, built unless the same build exists."""
        ...

    def fingerprint(self, config: Config) -> str:
        """A hash of everything that the build depends on."""
        ...

    def seconds(self, config: Config) -> float:
        """The processor time that the build took when it was made, whatever else ran at that time.

        Where one build makes several commands, it is the time of all of them.
        """
        ...


@singledispatch
def builder(source: object) -> Builder:
    """The builder of some sources."""
    raise BenchError(f"{type(source).__name__}: there is no builder for such sources")


@builder.register
def _(source: SourceFiles) -> Builder:
    return FileByFile(source)


@builder.register
def _(source: PackageCommand) -> Builder:
    return Make(source)


@builder.register
def _(source: RedisSource) -> Builder:
    return MakeRedis(source)


@builder.register
def _(source: RustCrates) -> Builder:
    return Crates(source)
