"""Trodden's profiles of runs, kept with their fingerprints: many figures are computed from each.

What differs from run to run (processes, their times) is dropped, so that two profiles of the same counts are
the same file: the guided build, which reads one as its weights, depends on counts alone.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.run.fingerprints import run_fingerprint
from bench.run.runs import Run, RunResult
from bench.support.directories import WORK
from bench.support.errors import BenchError
from bench.support.memo import Memo
from trodden.errors import TroddenError
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile
from trodden.profile.store.trod import save

_kept: Memo[Path] = Memo()


def collected(result: RunResult, what: str) -> Profile:
    """The profile that a run has left."""
    try:
        return collect(result.raw_files)
    except TroddenError as error:
        raise BenchError(f"{what}: no profile: {error}") from error


def kept_profile(run: Run) -> Path:
    """The file with the profile of a run, which is executed unless the file is current."""
    return _kept.get((run.program.name, run.config, run.case), lambda: _keep(run))


def _keep(run: Run) -> Path:
    path = WORK / "profiles" / run.program.name / f"{run.config}-{run.case}.trod"
    stamp = path.with_suffix(".stamp")
    state = run_fingerprint(run.program, run.config, run.case)
    if path.is_file() and stamp.is_file() and stamp.read_text() == state:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    found = collected(run.execute(), run.what)
    for function in found.functions.values():
        if function.violations:
            raise BenchError(f"{run.what}: {function.name}: {function.violations[0]}")
    save(replace(found, processes=(), threads=()), path)
    stamp.write_text(state)
    return path
