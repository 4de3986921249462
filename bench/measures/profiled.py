"""Figures that are computed from trodden's profiles, as plain numbers."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from bench.measures.model import Json, Measure, hashed
from bench.run.executables import profile
from bench.run.fingerprints import run_fingerprint
from bench.suite.model import CaseName, SuiteProgram
from bench.support.directories import BENCH
from trodden.profile.model import Profile


@dataclass(frozen=True)
class Profiled(Measure):
    """What ``of`` answers to the profile of a build on a case; ``what`` names it."""

    way: str
    case: CaseName
    what: str
    of: Callable[[Profile], Json] = field(compare=False)

    @property
    def key(self) -> str:
        """By way, case and what it is."""
        return f"profiled/{self.way}/{self.case}/{self.what}"

    @property
    def ways(self) -> tuple[str, ...]:
        """The build."""
        return (self.way,)

    def fingerprint(self, program: SuiteProgram) -> str:
        """The profile, and the code that computes the figures from it."""
        return hashed(_code(self.of), run_fingerprint(program, self.way, self.case))

    def take(self, program: SuiteProgram) -> Json:
        """Compute."""
        return self.of(profile(program, self.way, self.case))


@dataclass(frozen=True)
class ProfiledPair(Measure):
    """What ``of`` answers to the profiles of a build on *train* and on *ref*."""

    way: str
    what: str
    of: Callable[[Profile, Profile], Json] = field(compare=False)

    @property
    def key(self) -> str:
        """By way and what it is."""
        return f"profiled/{self.way}/both/{self.what}"

    @property
    def ways(self) -> tuple[str, ...]:
        """The build."""
        return (self.way,)

    def fingerprint(self, program: SuiteProgram) -> str:
        """Both profiles, and the code that computes the figures from them."""
        runs = (run_fingerprint(program, self.way, case) for case in ("train", "ref"))
        return hashed(_code(self.of), *runs)

    def take(self, program: SuiteProgram) -> Json:
        """Compute."""
        return self.of(profile(program, self.way, "train"), profile(program, self.way, "ref"))


def _code(of: Callable[..., Any]) -> str:
    """A hash of the file that a function stands in, and of those that compute figures."""
    own = sys.modules[of.__module__].__file__
    return _contents((Path(own or ""), *sorted((BENCH / "figures").glob("*.py"))))


@cache
def _contents(files: tuple[Path, ...]) -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()
