"""How large a profile is: as the run leaves it, and in the form in which it is kept and passed on."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.build.configurations import known
from bench.measures.code import code_of
from bench.measures.model import Json, Measure, hashed
from bench.run.executables import run_of
from bench.run.fingerprints import run_fingerprint
from bench.suite.model import CaseName, SuiteProgram
from bench.support.errors import BenchError
from trodden.profile.from_runs import collect
from trodden.profile.store.trod import save

_PROFDATA = "llvm-profdata-22"


@dataclass(frozen=True)
class ProfileSize(Measure):
    """Bytes of the profile of a run: ``raw``, and ``final`` (.trod, .profdata; .gcda are both)."""

    way: str
    case: CaseName = "ref"

    @property
    def key(self) -> str:
        """By way and case."""
        return f"profile size/{self.way}/{self.case}"

    @property
    def ways(self) -> tuple[str, ...]:
        """The build."""
        return (self.way,)

    @property
    def tools(self) -> tuple[str, ...]:
        """What makes the final form, where that is not ours."""
        return () if known(self.way).way.trodden or self._gcov else (_PROFDATA,)

    @property
    def _gcov(self) -> bool:
        return any(flag in ("--coverage", "-fprofile-arcs") for flag in known(self.way).way.flags)

    def fingerprint(self, program: SuiteProgram) -> str:
        """The build and what it is given."""
        return hashed(code_of(__name__), run_fingerprint(program, self.way, self.case))

    def take(self, program: SuiteProgram) -> Json:
        """Run once and look at what is there then."""
        run = run_of(program, self.way, self.case, "size")
        ran = run.carry_out()
        if known(self.way).way.trodden:
            kept = ran.directory / "counts.trod"
            save(collect(ran.raws), kept)
            return {"raw": _bytes(ran.raws, run.what), "final": kept.stat().st_size}
        if self._gcov:
            size = _bytes(ran.gcdas, run.what)
            return {"raw": size, "final": size}
        merged = ran.directory / "counts.profdata"
        command = [_PROFDATA, "merge", "-o", str(merged), *map(str, ran.profraws)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"{run.what}: {_PROFDATA} failed: {done.stderr.strip()}")
        return {"raw": _bytes(ran.profraws, run.what), "final": merged.stat().st_size}


def _bytes(files: Sequence[Path], what: str) -> int:
    if not files:
        raise BenchError(f"{what}: the run has left no profile")
    return sum(path.stat().st_size for path in files)
