"""Input files of cases, generated once a process and shared by all runs."""

from __future__ import annotations

import shutil
from pathlib import Path

from bench.suite.model import CaseName, Files, SuiteProgram
from bench.support.directories import WORK
from bench.support.hashing import contents, hashed
from bench.support.locking import locked
from bench.support.memo import Memo

_generated: Memo[tuple[Path, str]] = Memo()


def inputs(program: SuiteProgram, case: CaseName) -> Path:
    """The directory with the input files of a case."""
    return _directory_and_hash(program, case)[0]


def case_fingerprint(program: SuiteProgram, case: CaseName) -> str:
    """A hash of everything that a run gets as input and must put out."""
    spec = program.case(case)
    parts = (*spec.arguments, spec.stdin, spec.sha256, *spec.outputs, str(spec.status))
    return hashed(_directory_and_hash(program, case)[1], *parts)


def _directory_and_hash(program: SuiteProgram, case: CaseName) -> tuple[Path, str]:
    def generate() -> tuple[Path, str]:
        directory = WORK / "inputs" / program.name / case
        with locked(directory.with_name(f"{case}.lock")):
            write_inputs(directory, program.case(case).files)
        return directory, contents(directory)

    return _generated.get((program.name, case), generate)


def write_inputs(directory: Path, files: Files) -> None:
    """Generate input files; a directory that has the same ones stays, since a run may be reading them."""
    fresh = directory.with_name(f"{directory.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    files(fresh)
    if directory.is_dir() and contents(directory) == contents(fresh):
        shutil.rmtree(fresh)
        return
    shutil.rmtree(directory, ignore_errors=True)
    fresh.rename(directory)
