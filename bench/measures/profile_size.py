"""The size of a profile: as the run writes it, and in the form in which it is stored and passed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from bench.build.configurations import config_of
from bench.build.toolchain import output_of
from bench.measures.model import Json, RunMeasure
from bench.run.executables import run_of
from bench.run.profiles import collected
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError
from trodden.profile.store.trod import save

_PROFDATA = "llvm-profdata-22"


@dataclass(frozen=True)
class ProfileSize(RunMeasure):
    """Bytes of the profile of a run: ``raw``, and ``final`` (.trod, .profdata; .gcda are both)."""

    kind: ClassVar[str] = "profile size"

    @property
    def tools(self) -> tuple[str, ...]:
        """What makes the final form, unless that is trodden."""
        return () if config_of(self.config).trodden or self._gcov else (_PROFDATA,)

    @property
    def _gcov(self) -> bool:
        return any(flag in ("--coverage", "-fprofile-arcs") for flag in config_of(self.config).flags)

    def measure(self, program: SuiteProgram) -> Json:
        """Run once and look at the files."""
        run = run_of(program, self.config, self.case, "size")
        result = run.execute()
        if config_of(self.config).trodden:
            kept = result.directory / "counts.trod"
            save(collected(result, run.what), kept)
            return {"raw": _bytes(result.raw_files, run.what), "final": kept.stat().st_size}
        if self._gcov:
            size = _bytes(result.gcda_files, run.what)
            return {"raw": size, "final": size}
        final = result.directory / "counts.profdata"
        files = list(map(str, result.profraw_files))
        output_of([_PROFDATA, "merge", "-o", str(final), *files], result.directory)
        return {"raw": _bytes(result.profraw_files, run.what), "final": final.stat().st_size}


def _bytes(files: Sequence[Path], what: str) -> int:
    if not files:
        raise BenchError(f"{what}: the run has left no profile")
    return sum(path.stat().st_size for path in files)
