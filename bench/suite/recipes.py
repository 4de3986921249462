"""Two kinds of recipes: sources that are compiled one by one, and packages with a Makefile of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.build.compile import Plan, Way, build, home_of, seconds_of
from bench.build.fetching import Archive
from bench.build.packages import PACKAGES, Package, built, state_of
from bench.suite.programs import PROGRAMS, Sources
from bench.support.errors import BenchError


@dataclass(frozen=True)
class Compiled:
    """A program whose files are compiled one after the other and linked."""

    sources: Sources

    @property
    def version(self) -> str:
        """The version of the sources."""
        return self.sources.version

    @property
    def language(self) -> Literal["C", "C++"]:
        """What it is written in."""
        return "C++" if self.sources.cxx else "C"

    @property
    def archive(self) -> Archive | None:
        """Where the sources come from, unless they are ours."""
        return self.sources.archive

    def built(self, way: Way, jobs: int = 1) -> Path:
        """The executable; one file after the other, so that ``jobs`` has no say."""
        return build(self.sources, way).executable

    def fingerprint(self, way: Way) -> str:
        """Everything that the build follows from, as a hash."""
        return Plan.of(self.sources, way).state

    def seconds(self, way: Way) -> float:
        """The processor time that the build took."""
        return seconds_of(home_of(self.sources.name, way))


@dataclass(frozen=True)
class Made:
    """A command of a package that is configured once and then made in one way or another."""

    package: Package
    command: str

    @property
    def version(self) -> str:
        """The version of the package."""
        return f"{self.package.version} ({self.package.name})"

    @property
    def language(self) -> Literal["C", "C++"]:
        """What it is written in."""
        return "C++" if self.package.cxx else "C"

    @property
    def archive(self) -> Archive:
        """Where the package comes from."""
        return self.package.archive

    def built(self, way: Way, jobs: int = 1) -> Path:
        """The executable, made together with the other commands of the package."""
        return built(self.package, way, jobs)[self.command]

    def fingerprint(self, way: Way) -> str:
        """Everything that the build follows from, as a hash."""
        return state_of(self.package, way)

    def seconds(self, way: Way) -> float:
        """The processor time that all commands of the package took."""
        return seconds_of(home_of(self.package.name, way))


def compiled(name: str) -> Compiled:
    """The recipe of a program that is known by its sources."""
    for program in PROGRAMS:
        if program.name == name:
            return Compiled(program)
    raise BenchError(f"no program {name} is known by its sources")


def made(command: str) -> Made:
    """The recipe of a command that comes with one of the packages."""
    for package in PACKAGES:
        if command in (Path(place).name for place in package.commands):
            return Made(package, command)
    raise BenchError(f"no package has the command {command}")
