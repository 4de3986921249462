"""Builds of a program by the names of configurations, and runs of them."""

from __future__ import annotations

from pathlib import Path

from bench.build.builders import builder
from bench.build.config import Config
from bench.build.configurations import (
    GUIDED,
    baseline_of,
    config_of,
    depends_on_run,
    guided,
    with_degree,
)
from bench.figures.longer_bounds import third_of_largest
from bench.run.profiles import kept_profile
from bench.run.runs import Run
from bench.suite.model import CaseName, SuiteProgram
from bench.support.memo import Memo
from trodden.profile.model import Profile
from trodden.profile.store.trod import load

_executables: Memo[Path] = Memo()
_checked: Memo[Path] = Memo()
_PROFILE = "profile"


def executable(program: SuiteProgram, config: str) -> Path:
    """The executable of a build, built unless the same build exists."""
    return _executables.get(
        (program.name, config), lambda: builder(program.source).executable(_config(program, config))
    )


def checked_executable(program: SuiteProgram, config: str) -> Path:
    """The executable of a build that has run once with the right output, and so has its baseline."""

    def check() -> Path:
        if config != baseline_of(config):
            checked_executable(program, baseline_of(config))
        run_of(program, config, "ref", "check").execute()
        return executable(program, config)

    return _checked.get((program.name, config), check)


def build_seconds(program: SuiteProgram, config: str) -> float:
    """The processor time that a build took when it was made."""
    executable(program, config)
    return builder(program.source).seconds(_config(program, config))


def run_of(program: SuiteProgram, config: str, case: CaseName, purpose: str) -> Run:
    """A run of a build, which is built if necessary; each purpose has a directory of its own."""
    return Run(program, config, case, purpose, executable(program, config))


def profile(program: SuiteProgram, config: str, case: CaseName) -> Profile:
    """The profile of a build by trodden on a case."""
    return load(profile_file(program, config, case))


def profile_file(program: SuiteProgram, config: str, case: CaseName) -> Path:
    """The file with that profile."""
    return kept_profile(run_of(program, config, case, _PROFILE))


def _config(program: SuiteProgram, name: str) -> Config:
    """The configuration of a name, with what the profile of another one on *train* decides."""
    other = depends_on_run(name)
    if other is None:
        return config_of(name)
    if name == GUIDED:
        return guided(program.name, profile_file(program, other, "train"))
    return with_degree(name, program.name, third_of_largest(profile(program, other, "train")))
