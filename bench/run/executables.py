"""Builds of a program by the names of ways, and runs of them."""

from __future__ import annotations

from pathlib import Path

from bench.build.compile import Way
from bench.build.configurations import GUIDED, WEIGHED, guided, known, peer
from bench.run.fingerprints import Once
from bench.run.profiles import kept_profile
from bench.run.runs import Run
from bench.suite.model import CaseName, SuiteProgram
from trodden.profile.model import Profile
from trodden.profile.store.trod import load

_executables: Once[Path] = Once()
_ready: Once[Path] = Once()
_PROFILE = "profile"


def executable(program: SuiteProgram, way: str) -> Path:
    """The executable of a build, made unless it is there already."""
    return _executables.get((program.name, way), lambda: program.recipe.built(_way(program, way)))


def ready(program: SuiteProgram, way: str) -> Path:
    """The executable of a build that has run once, as has the plain one, and put out what it should."""

    def make() -> Path:
        if way != peer(way):
            ready(program, peer(way))
        run_of(program, way, "ref", "check").carry_out()
        return executable(program, way)

    return _ready.get((program.name, way), make)


def build_seconds(program: SuiteProgram, way: str) -> float:
    """The processor time that a build took when it was made."""
    executable(program, way)
    return program.recipe.seconds(_way(program, way))


def run_of(program: SuiteProgram, way: str, case: CaseName, purpose: str) -> Run:
    """A run of a build, which is made if need be; its directory is that of the purpose."""
    return Run(program, way, case, purpose, executable(program, way))


def profile(program: SuiteProgram, way: str, case: CaseName) -> Profile:
    """What a build by trodden has counted on a case."""
    return load(profile_file(program, way, case))


def profile_file(program: SuiteProgram, way: str, case: CaseName) -> Path:
    """The file with that profile."""
    return kept_profile(run_of(program, way, case, _PROFILE))


def _way(program: SuiteProgram, name: str) -> Way:
    """The way of a name; the guided one learns from the profile of another on *train*."""
    if name == GUIDED:
        return guided(program.name, profile_file(program, WEIGHED, "train"))
    return known(name).way
