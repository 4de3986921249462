"""Programs for tests of the bench: scripts that are built by being written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from bench.build.compile import Way
from bench.build.fetching import Archive
from bench.suite.model import Case, SuiteProgram
from bench.support.errors import BenchError

SAID = "what it says"


@dataclass(frozen=True)
class Script:
    """A recipe that writes a script; ``broken`` ways cannot be built, and ``bodies`` say more than others."""

    directory: Path
    broken: frozenset[str] = frozenset()
    bodies: Mapping[str, str] = field(default_factory=dict, hash=False)
    fetched: Archive | None = None
    built_ways: list[str] = field(default_factory=list, hash=False)

    @property
    def language(self) -> Literal["C", "C++"]:
        return "C"

    @property
    def archive(self) -> Archive | None:
        return self.fetched

    def built(self, way: Way, jobs: int = 1) -> Path:
        self.built_ways.append(way.name)
        if way.name in self.broken:
            raise BenchError(f"{way.name} cannot be built\nfirst\nlast")
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self.directory / way.name
        path.write_text(f"#!/bin/sh\ncat in/words\n{self.bodies.get(way.name, '')}\n")
        path.chmod(0o755)
        return path

    def fingerprint(self, way: Way) -> str:
        return f"{way.name} {self.bodies.get(way.name, '')}"

    def seconds(self, way: Way) -> float:
        return 1.0


def words(directory: Path) -> None:
    (directory / "words").write_text(f"{SAID}\n")


def program(name: str, recipe: Script, said: str = SAID) -> SuiteProgram:
    """A program that is to say something."""
    case = Case(("@words",), words, hashlib.sha256(f"{said}\n".encode()).hexdigest())
    return SuiteProgram(name, "1", "says something", recipe, case, case, case)
