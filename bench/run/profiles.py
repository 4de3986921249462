"""trodden's profiles of runs, kept beside their fingerprints: many figures are computed from each.

What differs from run to run (processes, their times) is left out, so that two profiles of the same counts
are the same file: the guided build, which reads one as its weights, follows from counts alone.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.run.fingerprints import Once, run_fingerprint
from bench.run.runs import Run
from bench.support.directories import WORK
from bench.support.errors import BenchError
from trodden.errors import TroddenError
from trodden.profile.from_runs import collect
from trodden.profile.store.trod import save

_kept: Once[Path] = Once()


def kept_profile(run: Run) -> Path:
    """The file with the profile of a run, which is carried out unless that is there already."""
    return _kept.get((run.program.name, run.way, run.case), lambda: _keep(run))


def _keep(run: Run) -> Path:
    path = WORK / "profiles" / run.program.name / f"{run.way}-{run.case}.trod"
    stamp = path.with_suffix(".stamp")
    state = run_fingerprint(run.program, run.way, run.case)
    if path.is_file() and stamp.is_file() and stamp.read_text() == state:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    ran = run.carry_out()
    try:
        found = collect(ran.raws)
    except TroddenError as error:
        raise BenchError(f"{run.what}: no profile: {error}") from error
    for function in found.functions.values():
        if function.violations:
            raise BenchError(f"{run.what}: {function.name}: {function.violations[0]}")
    save(replace(found, processes=(), threads=()), path)
    stamp.write_text(state)
    return path
