"""Programs for tests of the benchmark: shell scripts, which are built by being written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.build.builders import Builder, builder
from bench.build.config import Config
from bench.suite.model import Archive, Case, Language, SuiteProgram
from bench.support.errors import BenchError

OUTPUT = "what it prints"


@dataclass(frozen=True)
class Script:
    """Sources of a script; ``broken`` configurations cannot be built, and ``bodies`` add lines to others."""

    directory: Path
    broken: frozenset[str] = frozenset()
    bodies: Mapping[str, str] = field(default_factory=dict, hash=False)
    archive: Archive | None = None
    built: list[str] = field(default_factory=list, hash=False)
    language: Language = "C"
    version: str = "1"


@dataclass(frozen=True)
class ScriptBuilder:
    source: Script

    def executable(self, config: Config) -> Path:
        self.source.built.append(config.name)
        if config.name in self.source.broken:
            raise BenchError(f"{config.name} cannot be built\nfirst\nlast")
        self.source.directory.mkdir(parents=True, exist_ok=True)
        path = self.source.directory / config.name
        path.write_text(f"#!/bin/sh\ncat in/words\n{self.source.bodies.get(config.name, '')}\n")
        path.chmod(0o755)
        return path

    def fingerprint(self, config: Config) -> str:
        return f"{config.name} {self.source.bodies.get(config.name, '')}"

    def seconds(self, config: Config) -> float:
        return 1.0


@builder.register
def _(source: Script) -> Builder:
    return ScriptBuilder(source)


def words(directory: Path) -> None:
    (directory / "words").write_text(f"{OUTPUT}\n")


def program(name: str, source: Script, output: str = OUTPUT) -> SuiteProgram:
    """A program that has to print something."""
    case = Case(("@words",), words, hashlib.sha256(f"{output}\n".encode()).hexdigest())
    return SuiteProgram(name=name, about="prints words", source=source, train=case, ref=case, long=case)
