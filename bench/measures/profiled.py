"""Figures that are computed from trodden's profiles, as plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from bench.measures.code import code_of
from bench.measures.model import BuildMeasure, Json, RunMeasure
from bench.run.executables import profile
from bench.run.fingerprints import run_fingerprint
from bench.suite.model import SuiteProgram
from bench.support.hashing import hashed
from trodden.profile.model import Profile


@dataclass(frozen=True, kw_only=True)
class Profiled(RunMeasure):
    """What ``compute`` returns for the profile of a build on a case; ``what`` names it."""

    what: str
    compute: Callable[[Profile], Json] = field(compare=False)
    kind: ClassVar[str] = "profiled"

    @property
    def key(self) -> str:
        """By configuration, case and name."""
        return f"{self.kind}/{self.config}/{self.case}/{self.what}"

    def fingerprint(self, program: SuiteProgram) -> str:
        """The profile, and the code that computes the figures."""
        return hashed(code_of(self.compute.__module__), run_fingerprint(program, self.config, self.case))

    def measure(self, program: SuiteProgram) -> Json:
        """Compute."""
        return self.compute(profile(program, self.config, self.case))


@dataclass(frozen=True, kw_only=True)
class ProfiledPair(BuildMeasure):
    """What ``compute`` returns for the profiles of a build on *train* and on *ref*."""

    what: str
    compute: Callable[[Profile, Profile], Json] = field(compare=False)
    kind: ClassVar[str] = "profiled"

    @property
    def key(self) -> str:
        """By configuration and name."""
        return f"{self.kind}/{self.config}/both/{self.what}"

    def fingerprint(self, program: SuiteProgram) -> str:
        """Both profiles, and the code that computes the figures."""
        runs = (run_fingerprint(program, self.config, case) for case in ("train", "ref"))
        return hashed(code_of(self.compute.__module__), *runs)

    def measure(self, program: SuiteProgram) -> Json:
        """Compute."""
        return self.compute(profile(program, self.config, "train"), profile(program, self.config, "ref"))
